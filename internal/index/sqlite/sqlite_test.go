package sqlite_test

import (
	"path/filepath"
	"testing"

	"strandline/internal/index/indextest"
	"strandline/internal/index/sqlite"
)

// mustOpen opens an index and closes it when the test ends.
func mustOpen(t testing.TB, path string, opt sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opt)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "index.db") }

func TestStore(t *testing.T) {
	indextest.Run(t, func(t testing.TB) indextest.Store { return mustOpen(t, newPath(t), sqlite.Options{}) })
}
