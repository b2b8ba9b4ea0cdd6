package sqlite_test

import (
	"path/filepath"
	"testing"

	"strandline/internal/store/sqlite"
	"strandline/internal/store/storetest"
)

// mustOpen opens an index that is closed when the test ends.
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
	storetest.Run(t, func(t testing.TB) storetest.Store { return mustOpen(t, newPath(t), sqlite.Options{}) })
}
