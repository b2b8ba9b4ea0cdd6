package sessionlog

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

func TestAppendRoundTrip(t *testing.T) {
	for _, tc := range []struct {
		name   string
		chunks [][]byte
	}{
		{"nothing", nil},
		{"one byte", [][]byte{{'x'}}},
		{"one newline", [][]byte{{'\n'}}},
		{"half lines", [][]byte{[]byte("a\nb"), []byte("c"), []byte("\n"), []byte("d")}},
		{"empty appends", [][]byte{{}, []byte("a\n"), {}, nil, []byte("b\n")}},
		{"zeros", [][]byte{make([]byte, 5000)}},
		{"invalid UTF-8", [][]byte{{0xff, 0xfe, '\n', 0x80}}},
		{"what does not compress", [][]byte{noise(1, 70_000), noise(2, 300)}},
		{"around the tail window", [][]byte{noise(3, 4095), {1}, {2}, noise(4, 4096), noise(5, 4097)}},
		{"around the longest single frame", [][]byte{jsonLines(1, 64<<10)[:64<<10], jsonLines(2, 64<<10+1)[:64<<10+1]}},
		{"several frames", [][]byte{jsonLines(3, 3<<20), []byte("tail")}},
		{"several writes", [][]byte{bytes.Repeat(jsonLines(4, 1<<20), 34)}},
		{"a line of 12 MB", [][]byte{append(bytes.Repeat([]byte("0123456789ab"), 1<<20), '\n'), []byte("next\n")}},
		{"a log in a log", [][]byte{aLog(t), aLog(t)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := logPath(t)
			build(t, path, tc.chunks...)
			wantLog(t, path, bytes.Join(tc.chunks, nil))
		})
	}
}

// aLog returns the file of a log with valid footers.
func aLog(t *testing.T) []byte {
	path := filepath.Join(t.TempDir(), "inner.jsonl.zst")
	build(t, path, noise(1, 150), noise(2, 150))
	return readFile(t, path)
}

func TestPosition(t *testing.T) {
	path := logPath(t)
	l := open(t, path)
	if got := l.Position(); got != (Position{}) {
		t.Fatalf("new log at %+v", got)
	}
	var all []byte
	for i, n := range []int{10, 4000, 86, 1, 5000, 200_000, 3} {
		p := jsonLines(uint64(i), n)[:n]
		add(t, l, p)
		all = append(all, p...)
		got := l.Position()
		if got.Inode != someSource || got.Raw != int64(len(all)) || got.TailLen != min(len(all), 4096) || got.HeadLen != got.TailLen {
			t.Fatalf("after %d bytes: %+v", len(all), got)
		}
		if m := Compare(bytes.NewReader(all), int64(len(all)), got); m != Same {
			t.Fatalf("after %d bytes the source compares as %v", len(all), m)
		}
		if on, err := ReadPosition(path); err != nil || on != got {
			t.Fatalf("ReadPosition = %+v, %v, want %+v", on, err, got)
		}
	}
	closeLog(t, l)
	l = open(t, path)
	defer closeLog(t, l)
	if m := Compare(bytes.NewReader(all), int64(len(all)), l.Position()); m != Same || l.repaired != 0 {
		t.Fatalf("reopened: %v, %d repaired", m, l.repaired)
	}
}

func TestHeaderWrittenOnce(t *testing.T) {
	path := logPath(t)
	closeLog(t, open(t, path))
	other := someHeader
	other.Session = "another"
	l, err := Open(context.Background(), path, other)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, l)
	want := someHeader
	want.Format = Version
	if got := l.Header(); got != want {
		t.Errorf("header %+v, want %+v", got, want)
	}
	r, err := OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, r)
	if got := r.Header(); got != want {
		t.Errorf("reader's header %+v, want %+v", got, want)
	}
}

func TestLongHeader(t *testing.T) {
	h := someHeader
	h.Cwd = strings.Repeat("/deep", 2000)
	l, err := Open(context.Background(), logPath(t), h)
	if err != nil {
		t.Fatal(err)
	}
	add(t, l, []byte("a\n"))
	closeLog(t, l)
	r, err := OpenReader(l.path)
	if err != nil || r.Header().Cwd != h.Cwd {
		t.Fatalf("long header: %v", err)
	}
	closeLog(t, r)
	h.Cwd = strings.Repeat("x", maxHeaderLen)
	_, err = Open(context.Background(), logPath(t), h)
	if archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("header beyond all measure: %v", err)
	}
}

func TestFileModes(t *testing.T) {
	path := logPath(t)
	build(t, path, []byte("secret\n"))
	for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700} {
		if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != want && os.PathSeparator == '/' {
			t.Errorf("%s has mode %v, want %v (%v)", filepath.Base(p), fi.Mode().Perm(), want, err)
		}
	}
}

func TestOnlyOneWriter(t *testing.T) {
	path := logPath(t)
	l := open(t, path)
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error)
	go func() {
		_, err := Open(ctx, path, someHeader)
		waiting <- err
	}()
	cancel()
	wantCode(t, <-waiting, archive.CodeBusy)

	past, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	_, err := Seal(past, path)
	wantCode(t, err, archive.CodeBusy)

	go func() {
		l2, err := Open(context.Background(), path, someHeader)
		if err == nil {
			err = l2.Close()
		}
		waiting <- err
	}()
	add(t, l, []byte("a\n"))
	closeLog(t, l)
	if err := <-waiting; err != nil {
		t.Fatalf("the second writer after the first: %v", err)
	}
}

func TestClosedLog(t *testing.T) {
	l := open(t, logPath(t))
	closeLog(t, l)
	closeLog(t, l)
	if err := l.Append(context.Background(), []byte("x"), someSource); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("append to a closed log: %v", err)
	}
}

func TestCancelledAppend(t *testing.T) {
	path := logPath(t)
	l := open(t, path)
	add(t, l, []byte("a\n"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Append(ctx, []byte("b\n"), someSource); err == nil {
		t.Error("appended with a cancelled context")
	}
	add(t, l, []byte("c\n"))
	closeLog(t, l)
	wantLog(t, path, []byte("a\nc\n"))
}

func TestInvalidLogs(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	newer := headerFrame([]byte("{}"))
	newer[11] = Version + 1
	lost := aLog(t)
	clear(lost[:40])
	for _, tc := range []struct {
		name    string
		content []byte // nil: a folder
		code    archive.Code
	}{
		{"folder", nil, archive.CodeInvalid},
		{"text", []byte("this is somebody's text file\n"), archive.CodeCorrupt},
		{"plain zstd", readPlainFrame(), archive.CodeCorrupt},
		{"newer", newer, archive.CodeInvalid},
		{"lost header", lost, archive.CodeCorrupt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(dir, tc.name)
			if tc.content == nil {
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			} else {
				writeFile(t, path, tc.content)
			}
			_, err := Open(ctx, path, someHeader)
			wantCode(t, err, tc.code)
			_, err = Seal(ctx, path)
			if err == nil {
				t.Error("sealed")
			}
			read := map[string]error{
				"OpenReader":   second(OpenReader(path)),
				"ReadPosition": second(ReadPosition(path)),
				"Verify":       second(Verify(ctx, path)),
			}
			if tc.name == "lost header" { // its records are readable
				read = map[string]error{"Verify": read["Verify"]}
			}
			for what, err := range read {
				if archive.ErrorCode(err) != tc.code {
					t.Errorf("%s: %v", what, err)
				}
			}
			if tc.content != nil && !bytes.Equal(readFile(t, path), tc.content) {
				t.Error("the file was changed")
			}
		})
	}
}

func second[T any](_ T, err error) error { return err }

func readPlainFrame() []byte {
	return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x24, 2, 0x11, 0, 0, 'h', 'i', 0, 0, 0, 0}
}

func TestMissingLog(t *testing.T) {
	path := logPath(t)
	for what, err := range map[string]error{
		"OpenReader":   second(OpenReader(path)),
		"ReadPosition": second(ReadPosition(path)),
		"Verify":       second(Verify(context.Background(), path)),
		"Seal":         second(Seal(context.Background(), path)),
	} {
		if archive.ErrorCode(err) != archive.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("reading made a folder")
	}
}

func TestUnwritableFolder(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "file"), []byte("x"))
	_, err := Open(context.Background(), filepath.Join(dir, "file", "s.jsonl.zst"), someHeader)
	wantCode(t, err, archive.CodeInvalid)

	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(locked, "probe"), nil, 0o600); err == nil {
		t.Skip("this user (root?) or system writes into read-only folders")
	}
	_, err = Open(context.Background(), filepath.Join(locked, "s.jsonl.zst"), someHeader)
	wantCode(t, err, archive.CodeDenied)
}
