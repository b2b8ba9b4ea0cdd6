package sessionlog

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestSeal(t *testing.T) {
	for _, tc := range []struct {
		name   string
		chunks [][]byte
	}{
		{"one byte", [][]byte{{'x'}}},
		{"small appends", [][]byte{jsonLines(1, 2000), jsonLines(2, 2000), []byte("unfinished")}},
		{"noise", [][]byte{noise(1, 100_000)}},
		{"longer than a frame", [][]byte{jsonLines(3, 5<<20), jsonLines(4, 5<<20)}},
		{"just over a frame", [][]byte{bytes.Repeat([]byte("x"), 4<<20+1)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx := context.Background()
			path := logPath(t)
			build(t, path, tc.chunks...)
			want := bytes.Join(tc.chunks, nil)
			before, err := ReadPosition(path)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := Seal(ctx, path)
			if err != nil || !rep.Done || rep.Raw != int64(len(want)) || rep.Blanked != 0 {
				t.Fatalf("Seal = %+v, %v", rep, err)
			}
			wantLog(t, path, want)
			if after, err := ReadPosition(path); err != nil || after != before {
				t.Errorf("position %+v became %+v, %v", before, after, err)
			}
			fi, err := os.Stat(path)
			if err != nil || fi.Size() != rep.After || fi.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
				t.Errorf("file of %d bytes, %v; report %+v, %v", fi.Size(), fi.Mode(), rep, err)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.tmp")); len(left) > 0 {
				t.Errorf("temporary files: %v", left)
			}

			sealed := readFile(t, path)
			if rep, err := Seal(ctx, path); err != nil || rep.Done || rep.Raw != int64(len(want)) {
				t.Errorf("second Seal = %+v, %v", rep, err)
			}
			if !bytes.Equal(readFile(t, path), sealed) {
				t.Error("the second Seal changed the file")
			}
			if rep, err := Verify(ctx, path); err != nil || !rep.Sealed {
				t.Errorf("Verify = %+v, %v", rep, err)
			}

			build(t, path, []byte("more\n"), jsonLines(9, 5000))
			want = append(append(want, "more\n"...), jsonLines(9, 5000)...)
			wantLog(t, path, want)
			pos, err := ReadPosition(path)
			if m := Compare(bytes.NewReader(want), int64(len(want)), pos); err != nil || m != Same {
				t.Errorf("after appending to the sealed log: %v, %v", m, err)
			}
			if rep, err := Seal(ctx, path); err != nil || !rep.Done {
				t.Errorf("Seal after appending = %+v, %v", rep, err)
			}
			wantLog(t, path, want)
		})
	}
}

func TestSealSize(t *testing.T) {
	m := &memFile{}
	l, err := openMem(m, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		add(t, l, jsonLines(uint64(i), 500))
	}
	path := logPath(t)
	writeFile(t, path, m.b)
	rep, err := Seal(context.Background(), path)
	if err != nil || rep.After*3 > rep.Before*2 {
		t.Errorf("Seal = %+v, %v", rep, err)
	}
}

func TestSealEmpty(t *testing.T) {
	path := logPath(t)
	closeLog(t, open(t, path))
	if rep, err := Seal(context.Background(), path); err != nil || rep.Done {
		t.Errorf("Seal of an empty log = %+v, %v", rep, err)
	}
	writeFile(t, path, nil)
	if _, err := Seal(context.Background(), path); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("Seal of an empty file: %v", err)
	}
}

func TestSealAfterCrash(t *testing.T) {
	path := logPath(t)
	build(t, path, []byte("a\n"), []byte("b\n"))
	writeFile(t, path+".tmp", noise(1, 9999))
	if rep, err := Seal(context.Background(), path); err != nil || !rep.Done {
		t.Fatalf("Seal = %+v, %v", rep, err)
	}
	wantLog(t, path, []byte("a\nb\n"))
}

func TestFailedSeal(t *testing.T) {
	path := logPath(t)
	sizes := build(t, path, jsonLines(1, 2000), jsonLines(2, 2000), jsonLines(3, 2000))
	before := readFile(t, path)

	if err := os.Mkdir(path+".tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Seal(context.Background(), path); err == nil {
		t.Error("sealed without a temporary file")
	}
	if err := os.RemoveAll(path + ".tmp"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readFile(t, path), before) {
		t.Error("the log was changed")
	}
	// Open truncates a damaged last append as a torn one. Seal must not, because the
	// source may be gone.
	for _, at := range []int64{sizes[0] + 20, sizes[1] + 20, sizes[2] + 20} {
		damaged := bytes.Clone(before)
		damaged[at] ^= 1
		writeFile(t, path, damaged)
		err := second(Seal(context.Background(), path))
		wantCode(t, err, archive.CodeCorrupt)
		if !bytes.Equal(readFile(t, path), damaged) {
			t.Errorf("the log with a wrong byte at %d was changed", at)
		}
	}
	if left, _ := filepath.Glob(path + ".tmp"); len(left) > 0 {
		t.Errorf("temporary files: %v", left)
	}
}

func TestBlank(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		name  string
		lines []int
		want  string
	}{
		{"none", nil, "zero\none\ntwo\n\nfour\nrest"},
		{"first", []int{0}, "    \none\ntwo\n\nfour\nrest"},
		{"in any order, twice", []int{2, 0, 2}, "    \none\n   \n\nfour\nrest"},
		{"neighbours", []int{1, 2, 3, 4}, "zero\n   \n   \n\n    \nrest"},
		{"unfinished", []int{5}, "zero\none\ntwo\n\nfour\n    "},
		{"all", []int{0, 1, 2, 3, 4, 5}, "    \n   \n   \n\n    \n    "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := logPath(t)
			build(t, path, []byte("zero\non"), []byte("e\ntwo\n\nfour\n"), []byte("rest"))
			source := readAll(t, path)
			pos, err := ReadPosition(path)
			if err != nil {
				t.Fatal(err)
			}
			l := open(t, path)
			for range 2 { // the second time changes nothing
				if err := l.Blank(ctx, tc.lines...); err != nil {
					t.Fatal(err)
				}
				if size := l.last.end(); size != int64(len(readFile(t, path))) {
					t.Errorf("file and log disagree about the size")
				}
			}
			if got := l.Position(); got != pos {
				t.Errorf("position %+v became %+v", pos, got)
			}
			add(t, l, []byte("\nnew\n"))
			source += "\nnew\n"
			tc.want += "\nnew\n"
			closeLog(t, l)
			if got := readAll(t, path); got != tc.want {
				t.Errorf("reads as %q, want %q", got, tc.want)
			}
			// The fingerprints still describe the source.
			pos, err = ReadPosition(path)
			if m := Compare(strings.NewReader(source), int64(len(source)), pos); err != nil || m != Same {
				t.Errorf("source compares as %v, %v", m, err)
			}
			rep, err := Seal(ctx, path)
			if err != nil || rep.Done != true {
				t.Fatalf("Seal = %+v, %v", rep, err)
			}
			wantLog(t, path, []byte(tc.want))
			if after, err := ReadPosition(path); err != nil || after != pos {
				t.Errorf("position %+v became %+v, %v", pos, after, err)
			}
			build(t, path, []byte("end\n"), bytes.Repeat([]byte("y"), 9000))
			source += "end\n" + strings.Repeat("y", 9000)
			wantLog(t, path, []byte(tc.want+source[len(source)-9004:]))
			pos, err = ReadPosition(path)
			if m := Compare(strings.NewReader(source), int64(len(source)), pos); err != nil || m != Same {
				t.Errorf("source compares as %v after Seal and appends, %v", m, err)
			}
		})
	}
}

func readAll(t tb, path string) string {
	t.Helper()
	r, err := OpenReader(path)
	if err != nil {
		t.Fatalf("open reader: %v", err)
	}
	defer closeLog(t, r)
	var b strings.Builder
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatalf("read: %v", err)
	}
	return b.String()
}

func TestSealDropsBlankedBytes(t *testing.T) {
	path := logPath(t)
	const secret = "correct-horse-battery-staple"
	build(t, path, []byte("a\nkey="+secret+"\nb\n"), noise(1, 6000))
	l := open(t, path)
	if err := l.Blank(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if strings.Contains(readAll(t, path), secret) {
		t.Error("a reader still gives the bytes")
	}
	rep, err := Seal(context.Background(), path)
	if err != nil || rep.Blanked != int64(len("key=")+len(secret)+1) {
		t.Fatalf("Seal = %+v, %v", rep, err)
	}
	// The content of the frames and the tombstone's flag.
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	if len(r.blanks) != 1 {
		t.Errorf("%d tombstones are left, want 1", len(r.blanks))
	}
	r.blanks = nil
	got := make([]byte, 40)
	if _, err := r.ReadAt(got, 0); err != nil || bytes.Contains(got, []byte("horse")) {
		t.Errorf("the frames hold %q, %v", got, err)
	}
}

func TestBlankMissingLine(t *testing.T) {
	path := logPath(t)
	build(t, path, []byte("a\nb\n"))
	before := readFile(t, path)
	l := open(t, path)
	defer closeLog(t, l)
	for _, n := range []int{2, 3, 1000} {
		if err := l.Blank(context.Background(), 0, n); archive.ErrorCode(err) != archive.CodeNotFound {
			t.Errorf("Blank(0, %d): %v", n, err)
		}
	}
	if err := l.Blank(context.Background(), -1); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("Blank(-1): %v", err)
	}
	if !bytes.Equal(before, readFile(t, path)) {
		t.Error("the log was changed")
	}
}

func TestTombstonesAreChecked(t *testing.T) {
	good := encodeTombstone([]span{{1, 3}, {7, 9}}, 0)
	if s, ok := decodeTombstone(good, 9); !ok || len(s) != 2 || s[1] != (span{7, 9}) {
		t.Errorf("decode = %v, %v", s, ok)
	}
	for name, b := range map[string][]byte{
		"short":        good[:10],
		"cut":          good[:len(good)-16],
		"beyond":       encodeTombstone([]span{{1, 10}}, 0),
		"backwards":    encodeTombstone([]span{{3, 1}}, 0),
		"negative":     encodeTombstone([]span{{-1, 1}}, 0),
		"another kind": appendFooter(nil, record{}),
	} {
		if _, ok := decodeTombstone(b, 9); ok {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestMergeSpans(t *testing.T) {
	got := mergeSpans([]span{{5, 6}, {1, 2}, {2, 4}, {9, 9}, {3, 4}, {20, 30}, {22, 25}})
	want := []span{{1, 4}, {5, 6}, {20, 30}}
	if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("merged to %v, want %v", got, want)
	}
	for s, in := range map[span]bool{{1, 4}: true, {2, 3}: true, {0, 2}: false, {4, 5}: false, {5, 6}: true, {25, 31}: false} {
		if covered(want, s) != in {
			t.Errorf("covered(%v) = %v", s, !in)
		}
	}
}
