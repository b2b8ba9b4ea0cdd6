package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// written is a write function for writeOut.
func written(text string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, werr := io.WriteString(w, text); werr != nil {
			return werr
		}
		return err
	}
}

func TestWriteOutIsAtomic(t *testing.T) {
	dir := t.TempDir()
	a := &commands{app: app.New(app.Options{Cwd: dir})}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	if err := a.writeOut("out.jsonl", written("one", nil)); err != nil || read("out.jsonl") != "one" {
		t.Fatalf("%v, %q", err, read("out.jsonl"))
	}
	broken := errors.New("the log is damaged")
	if err := a.writeOut("out.jsonl", written("tw", broken)); !errors.Is(err, broken) || read("out.jsonl") != "one" {
		t.Errorf("%v; the file holds %q", err, read("out.jsonl"))
	}
	if err := a.writeOut("new.jsonl", written("tw", broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := a.writeOut("out.jsonl", written("three", nil)); err != nil || read("out.jsonl") != "three" {
		t.Errorf("%v; the file holds %q", err, read("out.jsonl"))
	}
	err := a.writeOut(filepath.Join("no", "where"), written("x", nil))
	if archive.ErrorCode(err) != archive.CodeDenied || archive.ErrorHint(err) == "" {
		t.Errorf("got %v", err)
	}
	if err := a.writeOut(".", written("x", nil)); archive.ErrorCode(err) != archive.CodeDenied {
		t.Errorf("a folder is written to: %v", err)
	}
	list, lerr := os.ReadDir(dir)
	if lerr != nil || len(list) != 1 {
		t.Errorf("remaining files: %v, %v", list, lerr)
	}
	if info, serr := os.Stat(filepath.Join(dir, "out.jsonl")); serr != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("a transcript that others may read: %v, %v", info.Mode(), serr)
	}
}

// Output to a link replaces its target; output to a device is written to the device.
func TestWriteOutKeepsLinksAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	dir := t.TempDir()
	a := &commands{app: app.New(app.Options{Cwd: dir})}
	link := filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o600), os.Symlink("file", link)); err != nil {
		t.Fatal(err)
	}
	if err := a.writeOut("link", written("new", nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	data, rerr := os.ReadFile(filepath.Join(dir, "file"))
	if err != nil || rerr != nil || info.Mode()&os.ModeSymlink == 0 || string(data) != "new" {
		t.Errorf("%v, %q, %v, %v", info.Mode(), data, err, rerr)
	}
	if err := a.writeOut(os.DevNull, written("x", nil)); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device was replaced: %v", err)
	}
}

func TestWriteOutToStdout(t *testing.T) {
	var out strings.Builder
	a := &commands{env: Options{Stdout: &out}}
	if err := a.writeOut("", written("exact\x1b[2J\xff", nil)); err != nil || out.String() != "exact\x1b[2J\xff" {
		t.Errorf("%v, %q", err, out.String())
	}
	a.env.Stdout = failing{}
	if err := a.writeOut("", written("x", nil)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
