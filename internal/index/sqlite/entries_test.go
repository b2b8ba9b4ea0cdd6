package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
)

// The table of an earlier system is read whatever other columns it has.
func TestEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "transcript-archive.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"PRAGMA journal_mode = WAL",
		`CREATE TABLE transcript_entries (id TEXT PRIMARY KEY, key TEXT NOT NULL, content TEXT NOT NULL, metadata TEXT NOT NULL DEFAULT '{}', created_at INTEGER NOT NULL, chunk_index INTEGER)`,
		`INSERT INTO transcript_entries VALUES ('b', 'k:1', 'User: two', '{"sessionId": "s", "chunkIndex": 1}', 2, 1), ('a', 'k:0', 'User: one', 'no JSON', 1, 0)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	read := func() []string {
		t.Helper()
		got, err := sqlite.Entries(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := []string{
		`{"key":"k:0","content":"User: one","createdAt":1,"metadata":{},"id":"a"}`, `{"key":"k:1","content":"User: two","createdAt":2,"metadata":{"sessionId":"s","chunkIndex":1},"id":"b"}`,
	}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("while it is in use: %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if _, err := sqlite.Entries(t.Context(), filepath.Join(t.TempDir(), "none.db")); err == nil || archive.ErrorCode(err) == "" {
		t.Errorf("missing: %v", err)
	}
}
