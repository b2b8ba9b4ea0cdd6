package capture_test

import (
	"context"
	"database/sql"
	"path/filepath"

	"strandline/internal/capture"
)

// holdIndex keeps the index in a write transaction until the returned function
// is called.
func (w *world) holdIndex() func() {
	w.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.home, "index.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
			w.t.Error(err)
		}
		if err := conn.Close(); err != nil {
			w.t.Error(err)
		}
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

func mustSource(path, session string) capture.Source {
	src, err := capture.TranscriptSource(path, session, "")
	if err != nil {
		panic(err)
	}
	return src
}
