//go:build unix

package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
)

// glimpse is the result of a process that reads an index read-only.
type glimpse struct {
	Sessions int
	Err      string
	Hint     string
}

// nobody is the ID of a user without rights. Root can write anywhere, so a reader that is
// started by root runs as nobody.
const nobody = 65534

func readAsNobody(index string) error {
	if os.Geteuid() == 0 {
		if err := syscall.Setgid(nobody); err != nil {
			return err
		}
		if err := syscall.Setuid(nobody); err != nil {
			return err
		}
	}
	var g glimpse
	s, err := sqlite.Open(context.Background(), index, sqlite.Options{ReadOnly: true})
	if err == nil {
		var total archive.Totals
		total, err = s.Totals(context.Background())
		g.Sessions = total.Sessions
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		g.Err, g.Hint = err.Error(), archive.ErrorHint(err)
	}
	return json.NewEncoder(os.Stdout).Encode(g)
}

// seen reads an index in a read-only folder as an unprivileged user.
func seen(t *testing.T, index, tmp string) glimpse {
	t.Helper()
	dir := filepath.Dir(index)
	// All users may traverse the parent folders.
	for up := filepath.Dir(dir); strings.HasPrefix(up, os.TempDir()) && up != os.TempDir(); up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	cmd := process(t, "nobody", index, "")
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var g glimpse
	if err := json.Unmarshal(out, &g); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return g
}

// readableByAll makes the files of a folder readable by all users and writable by none.
func readableByAll(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chmod(filepath.Join(dir, e.Name()), 0o444); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadInReadOnlyFolder(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want int
	}{
		{"closed", func(t *testing.T, path string) { fill(t, path) }, 1},
		{"its writer died before the WAL was taken in", func(t *testing.T, path string) {
			live := newPath(t)
			s := mustOpen(t, live, sqlite.Options{})
			for i := range 3 {
				if err := s.Apply(t.Context(), oneTurn(fmt.Sprintf("7f3a12cd-0001-4222-8333-00000000000%d", i), "words")); err != nil {
					t.Fatal(err)
				}
			}
			for _, suffix := range []string{"", "-wal"} { // as in a backup of a running system
				data, err := os.ReadFile(live + suffix)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}, 3},
		{"of an older version", func(t *testing.T, path string) {
			if err := sqlite.CreateVersion1(path); err != nil {
				t.Fatal(err)
			}
		}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path, tmp := newPath(t), t.TempDir()
			tt.make(t, path)
			readableByAll(t, filepath.Dir(path))
			if err := os.Chmod(tmp, 0o777); err != nil {
				t.Fatal(err)
			}
			before := names(t, filepath.Dir(path))
			if got := seen(t, path, tmp); got.Err != "" || got.Sessions != tt.want {
				t.Errorf("%+v, want %d sessions", got, tt.want)
			}
			if after := names(t, filepath.Dir(path)); after != before {
				t.Errorf("files before: %s, after: %s", before, after)
			}
			if left := names(t, tmp); left != "" {
				t.Errorf("a copy was not deleted: %s", left)
			}
		})
	}
}

func TestErrorsOfReadOnlyFolders(t *testing.T) {
	closed := newPath(t)
	fill(t, closed)
	if err := os.Chmod(closed, 0o000); err != nil {
		t.Fatal(err)
	}
	if got := seen(t, closed, t.TempDir()); !strings.Contains(got.Err, "cannot open the index") || !strings.Contains(got.Hint, "permissions") {
		t.Errorf("a file without permissions: %+v", got)
	}
	older := newPath(t)
	if err := sqlite.CreateVersion1(older); err != nil {
		t.Fatal(err)
	}
	readableByAll(t, filepath.Dir(older))
	full := t.TempDir() // a copy cannot be written
	if err := os.Chmod(full, 0o555); err != nil {
		t.Fatal(err)
	}
	if got := seen(t, older, full); !strings.Contains(got.Err, "cannot be read in a read-only folder") || !strings.Contains(got.Hint, "STRANDLINE_HOME") {
		t.Errorf("without a copy: %+v", got)
	}
}

// Opening an index of an older version read-only migrates it.
func TestReadOnlyMigratesAnOlderIndex(t *testing.T) {
	path := newPath(t)
	if err := sqlite.CreateVersion1(path); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path, sqlite.Options{ReadOnly: true})
	if _, err := s.Totals(t.Context()); err != nil {
		t.Error(err)
	}
	var version int
	if err := raw(t, path).QueryRow("PRAGMA user_version").Scan(&version); err != nil || version != sqlite.Version() {
		t.Errorf("version %d (%v), want %d", version, err, sqlite.Version())
	}
}

func fill(t *testing.T, path string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), oneTurn(sessionID, "words")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if path != "." {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}
