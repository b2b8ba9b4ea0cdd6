package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
)

// TestLongPath checks that the error for a path that SQLite cannot open names the cause.
func TestLongPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 200), strings.Repeat("y", 200), strings.Repeat("z", 200), "index.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if archive.ErrorCode(err) != archive.CodeDenied || !strings.Contains(archive.ErrorHint(err), "shorter") {
		t.Errorf("%v, hint %q", err, archive.ErrorHint(err))
	}
}
