package state_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"strandline/internal/state"
)

func TestReplace(t *testing.T) {
	for name, replace := range map[string]func(string, []byte) error{"not synced": state.Replace, "synced": state.ReplaceSynced} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new", "folder")
			path := filepath.Join(dir, "file")
			for _, want := range []string{"first", "", "a longer second text"} {
				if err := replace(path, []byte(want)); err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != want {
					t.Errorf("%q, %v, want %q", got, err, want)
				}
			}
			if runtime.GOOS != "windows" {
				for at, want := range map[string]fs.FileMode{path: 0o600, dir: 0o700} {
					if info, err := os.Stat(at); err != nil || info.Mode().Perm() != want {
						t.Errorf("%s: %v, %v, want mode %o", at, info.Mode(), err, want)
					}
				}
			}
			if left := names(t, dir); len(left) != 1 {
				t.Errorf("the folder holds %q, want one file", left)
			}
		})
	}
}

// A failed replacement leaves the old file and no temporary file.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "child"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := state.Replace(taken, []byte("text")); err == nil {
		t.Error("a folder that is not empty was replaced")
	}
	if left := names(t, dir); len(left) != 1 || strings.HasPrefix(left[0], state.TempPrefix) {
		t.Errorf("the folder holds %q", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var pathErr *fs.PathError
	if err := state.Replace(filepath.Join(file, "below"), nil); !errors.As(err, &pathErr) {
		t.Errorf("%v, want an error that names the path", err)
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := state.Replace(path, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is missing
		if err := state.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := state.Remove(path); err == nil {
		t.Error("a folder that is not empty was removed")
	}
}

func TestRemoveTemp(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"file", state.TempPrefix + "1", state.TempPrefix + "2"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{dir, filepath.Join(dir, "missing")} {
		if err := state.RemoveTemp(at); err != nil {
			t.Fatal(err)
		}
	}
	if left := names(t, dir); len(left) != 1 || left[0] != "file" {
		t.Errorf("the folder holds %q, want one file", left)
	}
}
