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

// TestRewrite replaces lines after random appends, seals and blanks: the lines are
// replaced, everything else keeps its offset, and the source is still recognized.
func TestRewrite(t *testing.T) {
	ctx := context.Background()
	source := []byte("one periwinkle line\ntwo\n\nfour is long enough\nunfinished marigold")
	for name, prepare := range map[string]func(path string) error{
		"as appended": func(string) error { return nil },
		"sealed":      func(path string) error { _, err := Seal(ctx, path); return err },
		"blanked": func(path string) error {
			l, err := Open(ctx, path, Header{})
			if err != nil {
				return err
			}
			if err := l.Blank(ctx, 3); err != nil {
				return err
			}
			return l.Close()
		},
		"rewritten": func(path string) error { _, err := Rewrite(ctx, path, map[int]string{0: "else"}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			path := logPath(t)
			build(t, path, source[:12], source[12:])
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			before, err := ReadPosition(path)
			if err != nil {
				t.Fatal(err)
			}
			rep, err := Rewrite(ctx, path, map[int]string{0: "{first}", 4: ""})
			if err != nil || !rep.Done || rep.Blanked == 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
			want := []byte("{first}            \ntwo\n\nfour is long enough\n                   ")
			if name == "blanked" {
				copy(want[25:], strings.Repeat(" ", 19))
			}
			wantLog(t, path, want)
			if after, err := ReadPosition(path); err != nil || after.Raw != before.Raw || after.Lines != before.Lines {
				t.Errorf("position %+v became %+v, %v", before, after, err)
			}
			if got := Compare(bytes.NewReader(source), int64(len(source)), before); got != Same {
				t.Errorf("the source is %v", got)
			}
			data := readFile(t, path)
			if bytes.Contains(data, []byte("marigold")) || bytes.Contains(data, []byte("periwinkle")) {
				t.Error("the file holds the replaced bytes")
			}
			if rep, err := Verify(ctx, path); err != nil || rep.Blanked == 0 {
				t.Errorf("%+v, %v", rep, err)
			}
			// The replacements survive another seal, and the log accepts appends.
			if _, err := Seal(ctx, path); err != nil {
				t.Fatal(err)
			}
			build(t, path, []byte(" and more\n"))
			wantLog(t, path, append(want, " and more\n"...))
			r, err := OpenReader(path)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			got := append(bytes.Clone(source), " and more\n"...)
			r.Mask(got, 0)
			whole := make([]byte, len(got))
			if _, err := r.ReadAt(whole, 0); err != nil {
				t.Fatal(err)
			}
			r.Mask(whole, 0)
			if !bytes.Equal(got, whole) {
				t.Errorf("masked\n%q and\n%q", got, whole)
			}
		})
	}
}

func TestRewriteInvalid(t *testing.T) {
	ctx := context.Background()
	path := logPath(t)
	build(t, path, []byte("short\nlonger line\n"))
	was := readFile(t, path)
	for code, lines := range map[archive.Code]map[int]string{
		archive.CodeInvalid:  {0: "longer than that"},
		archive.CodeNotFound: {7: ""},
	} {
		if _, err := Rewrite(ctx, path, lines); archive.ErrorCode(err) != code {
			t.Errorf("%v: %v", lines, err)
		}
	}
	if _, err := Rewrite(ctx, path, map[int]string{1: "a\nb"}); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("a newline: %v", err)
	}
	if !bytes.Equal(readFile(t, path), was) {
		t.Error("the log was changed")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.tmp")); len(left) > 0 {
		t.Errorf("temporary files: %v", left)
	}
	if _, err := Rewrite(ctx, filepath.Join(t.TempDir(), "none"), nil); archive.ErrorCode(err) != archive.CodeNotFound {
		t.Errorf("no log: %v", err)
	}
}

// TestRewriteAfterACrash checks that a temporary file of a crash is ignored and
// overwritten.
func TestRewriteAfterACrash(t *testing.T) {
	ctx := context.Background()
	path := logPath(t)
	build(t, path, []byte("periwinkle\nrest\n"))
	if err := os.WriteFile(path+".tmp", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantLog(t, path, []byte("periwinkle\nrest\n"))
	if _, err := Rewrite(ctx, path, map[int]string{0: ""}); err != nil {
		t.Fatal(err)
	}
	wantLog(t, path, []byte("          \nrest\n"))
}
