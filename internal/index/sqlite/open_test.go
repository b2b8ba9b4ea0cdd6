package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
)

const sessionID = "7f3a12cd-0001-4222-8333-000000000001"

// oneTurn returns a session with a single prompt.
func oneTurn(id, text string) archive.Batch {
	return archive.Batch{
		Session: archive.Session{ID: id, Client: "claude", Last: time.Unix(1_700_000_000, 0), Generation: 1},
		Turns:   []archive.Turn{{Session: id, Title: "a title", Start: time.Unix(1_700_000_000, 0), LineTo: 1}},
		Passages: []archive.Passage{
			{Session: id, Step: -1, Kind: archive.KindPrompt, Text: text, LineTo: 1},
			{Session: id, Step: 0, Kind: archive.KindReply, Text: "a reply", LineFrom: 1, LineTo: 2},
		},
		Cursor: archive.Cursor{Session: id, Generation: 1, Offset: 10, Line: 1},
	}
}

// raw opens the file by another SQLite connection.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := rawDB(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func rawDB(path string) (*sql.DB, error) { return sql.Open("sqlite", path) }

func wantCode(t *testing.T, err error, want archive.Code, hint string) {
	t.Helper()
	if archive.ErrorCode(err) != want || !strings.Contains(archive.ErrorHint(err), hint) {
		t.Errorf("error %v with code %q and hint %q, want code %q and a hint with %q",
			err, archive.ErrorCode(err), archive.ErrorHint(err), want, hint)
	}
}

func TestOpenCreatesPrivateFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "with space # ? %41.db")
	s := mustOpen(t, path, sqlite.Options{})
	if err := s.Apply(t.Context(), oneTurn(sessionID, "words")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "with space # ? %41.db") {
			t.Errorf("unexpected file %q", e.Name())
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", e.Name(), mode)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	write := func(content string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	newer := func(t *testing.T, path string) {
		if _, err := raw(t, path).Exec("PRAGMA user_version=99"); err != nil {
			t.Fatal(err)
		}
	}
	negative := func(t *testing.T, path string) {
		if _, err := raw(t, path).Exec("PRAGMA user_version=-5"); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		opt     sqlite.Options
		code    archive.Code
		hint    string
	}{
		{"no database", write(strings.Repeat("this is no database ", 200)), sqlite.Options{}, archive.CodeCorrupt, "strandline reindex"},
		{"newer version", newer, sqlite.Options{}, archive.CodeInvalid, "strandline reindex"},
		{"newer version, reading", newer, sqlite.Options{ReadOnly: true}, archive.CodeInvalid, "newer strandline"},
		{"damaged version", negative, sqlite.Options{}, archive.CodeCorrupt, "strandline reindex"},
		{"damaged version, reading", negative, sqlite.Options{ReadOnly: true}, archive.CodeCorrupt, "strandline reindex"},
		{"a folder", func(t *testing.T, path string) { _ = os.Mkdir(path, 0o700) }, sqlite.Options{}, archive.CodeCorrupt, "reindex"},
		{"missing, reading", func(*testing.T, string) {}, sqlite.Options{ReadOnly: true}, archive.CodeNotFound, "strandline import"},
		{"empty, reading", write(""), sqlite.Options{ReadOnly: true}, archive.CodeNotFound, "strandline import"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := newPath(t)
			test.prepare(t, path)
			s, err := sqlite.Open(t.Context(), path, test.opt)
			if err == nil {
				s.Close()
			}
			wantCode(t, err, test.code, test.hint)
		})
	}
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "no", "folder", "x.db"), sqlite.Options{})
	wantCode(t, err, archive.CodeDenied, "permissions")
}

func TestOpenTakesEmptyFile(t *testing.T) {
	path := newPath(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, path, sqlite.Options{}).Integrity(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReadOnly(t *testing.T) {
	path := newPath(t)
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
	ro := mustOpen(t, path, sqlite.Options{ReadOnly: true})
	wantCode(t, ro.Apply(t.Context(), oneTurn(sessionID, "other")), archive.CodeDenied, "")
	if _, err := ro.Session(t.Context(), sessionID); err != nil {
		t.Error(err)
	}
	if err := ro.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	path := newPath(t)
	for range 3 { // the second and third open an existing file
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{Bulk: true})
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
	var version, settings int
	db := raw(t, path)
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	if version != sqlite.Version() {
		t.Errorf("user_version %d, want %d", version, sqlite.Version())
	}
	if err := db.QueryRow("SELECT count(*) FROM turns").Scan(&settings); err != nil || settings != 1 {
		t.Errorf("%d turns (%v), want 1", settings, err)
	}
}

// Integrity finds an overwritten page, and the hint says that the logs are not affected.
func TestCorruptPage(t *testing.T) {
	path := newPath(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if err := s.Apply(t.Context(), oneTurn(writerID(fmt.Sprint(i)), strings.Repeat("words of a text ", 100+i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 2 * 4096; i < len(content); i++ { // the first page holds the schema's root
		content[i] = 0xA5
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		if _, err = s.Sessions(t.Context(), archive.SessionFilter{}); err == nil {
			err = s.Integrity(t.Context())
		}
		s.Close()
	}
	wantCode(t, err, archive.CodeCorrupt, "strandline reindex")
}

// Integrity finds a difference between the index and its full-text table.
func TestIntegrityComparesTables(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, sqlite.Options{})
	if err := s.Apply(t.Context(), oneTurn(sessionID, "words")); err != nil {
		t.Fatal(err)
	}
	if _, err := raw(t, path).Exec("DELETE FROM passages WHERE step = -1"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, s.Integrity(t.Context()), archive.CodeCorrupt, "strandline reindex")
}

func TestView(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, sqlite.Options{})
	b := oneTurn(sessionID, "a prompt, äöü")
	b.Calls = []archive.Call{{Session: sessionID, Name: "Bash"}, {Session: sessionID, Seq: 1, Name: "Edit"}}
	b.Files = []archive.FileTouch{{Session: sessionID, Seq: 1, Path: "x.go"}}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	const content = "User: a prompt, äöü\n\nAssistant: a reply"
	for column, want := range map[string]string{
		"key": "transcript:" + sessionID + ":0:2023-11-14T22:13:20.000Z", "content": content, "type": "episodic", "namespace": "transcript-archive",
		"json_extract(tags, '$[2]')": sessionID, "json_extract(metadata, '$.toolNames[1]')": "Edit", "json_extract(metadata, '$.filePaths[0]')": "x.go",
		"json_extract(metadata, '$.trigger')": "proactive", "access_level": "private", "created_at": "1700000000000", "updated_at": "1700000000000",
		"version": "1", "access_count": "0", "last_accessed_at": "1700000000000", "confidence": "0.1", "length(content_hash)": "32",
		"session_id": sessionID, "chunk_index": "0", "summary": "a title | Tools: Bash,Edit | Files: x.go | a reply", "count(*)": "1", "dead": "0",
	} {
		var have string
		if err := db.QueryRow("SELECT " + column + " FROM transcript_entries").Scan(&have); err != nil || have != want {
			t.Errorf("%s: %q (%v), want %q", column, have, err, want)
		}
	}
	if _, err := db.Exec("DELETE FROM transcript_entries"); err == nil {
		t.Error("rows of the view can be deleted")
	}
}

func TestContextOfWaiting(t *testing.T) {
	s := mustOpen(t, newPath(t), sqlite.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, archive.Query{Terms: []archive.Term{{Text: "x", Weight: 1}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v, want context canceled", err)
	}
}

func TestUseAfterClose(t *testing.T) {
	s, err := sqlite.Open(t.Context(), newPath(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), oneTurn(sessionID, "words")); err == nil {
		t.Error("Apply after Close succeeded")
	}
	if err := s.Close(); err == nil {
		t.Error("a second Close succeeded")
	}
}

// A search for a common word considers the newest passages first. If a filter excludes all
// of them, it considers older ones as well.
func TestSearchConsidersOlderPassages(t *testing.T) {
	s := mustOpen(t, newPath(t), sqlite.Options{Bulk: true})
	b := oneTurn(sessionID, "common")
	b.Passages = b.Passages[:1]
	for i := range 21_000 {
		b.Passages = append(b.Passages, archive.Passage{
			Session: sessionID, Step: 1, Seq: i, Kind: archive.KindOutput, Text: "common", LineFrom: i + 1, LineTo: i + 2,
		})
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, q := range []archive.Query{
		{Kinds: []archive.PassageKind{archive.KindPrompt}},
		{Sessions: []string{sessionID}, BeforeLine: 1},
	} {
		q.Terms = []archive.Term{{Text: "common", Weight: 1}}
		hits, err := s.Search(t.Context(), q)
		if err != nil || len(hits) != 1 || hits[0].Kind != archive.KindPrompt {
			t.Errorf("%+v: %d hits (%v), want the prompt", q, len(hits), err)
		}
	}
}

// ending is a context that ends after a number of looks at it.
type ending struct {
	context.Context
	left int
}

// Err implements context.Context.
func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A batch with many passages looks at the deadline between them, and leaves no rows.
func TestApplyEndsWithinABatch(t *testing.T) {
	s := mustOpen(t, newPath(t), sqlite.Options{})
	b := archive.Batch{Session: archive.Session{ID: "s", Client: "claude"}, Cursor: archive.Cursor{Session: "s", Generation: 1, Offset: 9}}
	for i := range 200 {
		b.Passages = append(b.Passages, archive.Passage{Session: "s", Step: -1, Seq: i, Kind: archive.KindPrompt, Text: "words"})
	}
	ctx := &ending{t.Context(), 50}
	if err := s.Apply(ctx, b); !errors.Is(err, context.DeadlineExceeded) || ctx.left < -5 {
		t.Errorf("Apply: %v, after %d more looks", err, -ctx.left)
	}
	if n, err := s.PassageCount(t.Context()); n != 0 || err != nil {
		t.Errorf("%d passages are left, %v", n, err)
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Error(err)
	}
}
