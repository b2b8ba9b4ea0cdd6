package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index/postgres"
	"strandline/internal/index/terms"
)

func wantCode(t *testing.T, what string, err error, want archive.Code) {
	t.Helper()
	if c := archive.ErrorCode(err); c != want || archive.ErrorHint(err) == "" {
		t.Errorf("%s: code %q, want %q; hint %q (%v)", what, c, want, archive.ErrorHint(err), err)
	}
}

// An invalid address is reported without a server, and without the password.
func TestInvalidAddresses(t *testing.T) {
	for _, test := range []struct {
		name, dsn string
		code      archive.Code
	}{
		{"no address", "://", archive.CodeInvalid},
		{"no port", "postgres://me:geheim@localhost:port/x", archive.CodeInvalid},
		{"no server", "host=" + t.TempDir() + " user=me password=geheim dbname=x connect_timeout=2", archive.CodeNotFound},
		{"no server at a port", "postgres://me:geheim@127.0.0.1:1/x?connect_timeout=2&sslmode=disable", archive.CodeNotFound},
	} {
		_, err := postgres.Open(t.Context(), test.dsn, postgres.Options{})
		wantCode(t, test.name, err, test.code)
		if strings.Contains(fmt.Sprintf("%v %+v", err, err), "geheim") {
			t.Errorf("%s: the error contains the password: %v", test.name, err)
		}
	}
}

func TestOpenForReading(t *testing.T) {
	dsn := server(t)
	schema := newSchema(t, dsn)
	_, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema, ReadOnly: true})
	wantCode(t, "before there is one", err, archive.CodeNotFound)
	mustOpen(t, dsn, postgres.Options{Schema: schema})
	s := mustOpen(t, dsn, postgres.Options{Schema: schema, ReadOnly: true})
	if err := s.Apply(t.Context(), session("a", "words")); archive.ErrorCode(err) != archive.CodeDenied {
		t.Errorf("a read-only store accepted a batch: %v", err)
	}
	_, err = postgres.Open(t.Context(), dsn+" dbname=not_there", postgres.Options{})
	wantCode(t, "no such database", err, archive.CodeNotFound)
}

// Tables of a newer version are not changed.
func TestTablesOfANewerVersion(t *testing.T) {
	dsn := server(t)
	schema := newSchema(t, dsn)
	mustOpen(t, dsn, postgres.Options{Schema: schema})
	do(t, dsn, "INSERT INTO "+pgx.Identifier{schema, "strandline_version"}.Sanitize()+" (version) VALUES (99)")
	_, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema})
	wantCode(t, "version 99", err, archive.CodeInvalid)
}

// Several processes may create the tables at the same time.
func TestConcurrentOpen(t *testing.T) {
	dsn := server(t)
	schema := newSchema(t, dsn)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema, Conns: 1})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// do runs a statement on another connection.
func do(t *testing.T, dsn, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// session returns a batch of one session with a turn for each text.
func session(id string, texts ...string) archive.Batch {
	b := archive.Batch{
		Session: archive.Session{ID: id, Client: "claude", Project: archive.Project{Key: "dir:/w"}, Turns: len(texts), Generation: 1},
		Cursor:  archive.Cursor{Session: id, Generation: 1, Offset: int64(len(texts)), Line: len(texts)},
	}
	for i, text := range texts {
		b.Turns = append(b.Turns, archive.Turn{Session: id, Index: i, Title: text, LineFrom: i, LineTo: i + 1})
		b.Passages = append(b.Passages, archive.Passage{Session: id, Turn: i, Step: -1, Kind: archive.KindPrompt, Text: text, LineFrom: i, LineTo: i + 1})
	}
	return b
}

// Concurrent pushes of different sessions succeed. Of concurrent pushes of one session, one
// succeeds.
func TestConcurrentPush(t *testing.T) {
	dsn := server(t)
	s := mustOpen(t, dsn, postgres.Options{Schema: newSchema(t, dsn), Conns: 8})
	var all sync.WaitGroup
	for who := range 8 {
		all.Go(func() {
			for n := range 6 {
				b := session(fmt.Sprintf("own-%d-%d", who, n), "the same words", fmt.Sprintf("and number%d", who))
				b.Keys = []archive.Identity{{Key: uint64(n), Ref: archive.Ref{Session: b.Session.ID}}}
				shared := session(fmt.Sprintf("shared-%d", n), "the same words of all")
				if err := s.ApplyAll(t.Context(), []archive.Batch{b, shared}); err != nil {
					t.Errorf("%s: %v", b.Session.ID, err)
				}
			}
		})
	}
	all.Wait()
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
	if n, err := s.PassageCount(t.Context()); err != nil || n != 8*6*2+6 {
		t.Errorf("%d passages, %v; want %d", n, err, 8*6*2+6)
	}
	counts, err := s.WordCounts(t.Context(), []string{"same", "number3"})
	if err != nil || counts[0] != 8*6+6 || counts[1] != 6 {
		t.Errorf("counts %v, %v", counts, err)
	}
}

// Transcripts may hold bytes that the database does not accept.
func TestInvalidTexts(t *testing.T) {
	dsn := server(t)
	s := mustOpen(t, dsn, postgres.Options{Schema: newSchema(t, dsn)})
	b := session("odd", "walrus\x00tusk", "heron \xff\xfe wing")
	b.Session.Title, b.Session.Cwd, b.Turns[0].Title = "a\x00b", "/w/\xff", "\x00"
	b.Calls = []archive.Call{{Session: "odd", Command: "printf '\x00'", Error: "\xff", Files: []string{"a\x00b"}}}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyJournal(t.Context(), []archive.JournalEntry{{ID: "x\x00", Kind: "odd", Session: "odd", Data: []byte("\"\x00\"")}}, nil); err != nil {
		t.Error(err)
	}
	for _, word := range []string{"tusk", "heron", "wing", "x\x00y"} {
		hits, err := s.Search(t.Context(), archive.Query{Terms: []archive.Term{{Text: word, Weight: 1}}})
		if want := word != "x\x00y"; err != nil || (len(hits) == 1) != want {
			t.Errorf("%q: %d hits, %v", word, len(hits), err)
		}
	}
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
}

// Waiting for a lock ends with the context.
func TestWaitingEndsWithItsContext(t *testing.T) {
	dsn := server(t)
	schema := newSchema(t, dsn)
	s := mustOpen(t, dsn, postgres.Options{Schema: schema})
	if err := s.Apply(t.Context(), session("held", "words")); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE "+pgx.Identifier{schema, "sessions"}.Sanitize()+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	next := session("held", "words", "more")
	next.From = 1
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Apply(ctx, next); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while locked: %v", err)
	}
	short := mustOpen(t, dsn, postgres.Options{Schema: schema, Timeout: 30 * time.Millisecond})
	if err := short.Apply(t.Context(), next); archive.ErrorCode(err) != archive.CodeBusy {
		t.Errorf("locked for longer than the timeout: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), next); err != nil {
		t.Errorf("after the lock is released: %v", err)
	}
}

// A connection that the server closes fails once. The next call succeeds.
func TestLostConnection(t *testing.T) {
	dsn, name := server(t), fmt.Sprintf("lost_%d", os.Getpid())
	schema := newSchema(t, dsn)
	s := mustOpen(t, dsn+" application_name="+name, postgres.Options{Schema: schema, Conns: 1})
	if err := s.Apply(t.Context(), session("a", "walrus")); err != nil {
		t.Fatal(err)
	}
	do(t, dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", name)
	q := archive.Query{Terms: terms.Query("walrus")}
	var hits []archive.Hit
	var err error
	for range 3 {
		if hits, err = s.Search(t.Context(), q); err == nil {
			break
		}
		wantCode(t, "a lost connection", err, archive.CodeBusy)
	}
	if err != nil || len(hits) != 1 {
		t.Errorf("afterwards: %d hits, %v", len(hits), err)
	}
}
