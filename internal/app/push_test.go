package app_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/index/indextest"
	"strandline/internal/index/postgres"
	"strandline/internal/index/sqlite"
	"strandline/internal/index/terms"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// pushedBatch returns the batch with the turns of a pushedBatch from one on. A turn has a
// prompt, and a command whose result is in the next line.
func pushedBatch(id string, from, turns int) archive.Batch {
	const lines = 3
	at := func(turn int) time.Time { return start.Add(time.Duration(turn) * time.Minute) }
	b := archive.Batch{
		Session: archive.Session{
			ID: id, Client: "claude", Title: "secret title of " + id, Cwd: "/home/ann/tide", Generation: 1, Turns: turns, Lines: lines * turns,
			First: start, Last: at(turns), Project: archive.Project{Key: "git:/home/ann/tide/.git", Name: "tide", Root: "/home/ann/tide", Remote: "example.org/tide"},
		},
		From:   int64(100 * lines * from),
		Cursor: archive.Cursor{Session: id, Generation: 1, Offset: int64(100 * lines * turns), Line: lines * turns},
	}
	for turn := from; turn < turns; turn++ {
		line := lines * turn
		b.Turns = append(b.Turns, archive.Turn{Session: id, Index: turn, Title: fmt.Sprintf("secret turn %d", turn), Start: at(turn), LineFrom: line, LineTo: line + lines, Steps: 1})
		b.Steps = append(b.Steps, archive.Step{Session: id, Turn: turn, MessageID: fmt.Sprint(id, turn), Time: at(turn), LineFrom: line + 1, LineTo: line + lines})
		b.Calls = append(b.Calls, archive.Call{Session: id, Turn: turn, Command: "make secret", Name: "Bash", Kind: archive.CallCommand,
			Files: []string{"/w/secret.go"}, LineUse: line + 1, LineResult: line + 2})
		b.Files = append(b.Files, archive.FileTouch{Session: id, Turn: turn, Path: "/w/secret.go", Kind: archive.CallEdit, Line: line + 1, Time: at(turn)})
		b.Tasks = append(b.Tasks, archive.TaskEvent{Session: id, Line: line + 1, TaskID: "1", Subject: "secret task", Time: at(turn), Turn: turn})
		b.Passages = append(b.Passages,
			archive.Passage{Session: id, Turn: turn, Step: -1, Kind: archive.KindPrompt, Text: fmt.Sprintf("walrus secret prompt%d", turn), LineFrom: line, LineTo: line + 1, Time: at(turn)},
			archive.Passage{Session: id, Turn: turn, Step: 0, Kind: archive.KindCommand, Text: "make secret exited", Paths: []string{"/w/secret.go"}, LineFrom: line + 1, LineTo: line + 3, Time: at(turn)})
	}
	return b
}

type teamFixture struct {
	t      *testing.T
	local  *sqlite.Store
	dsn    string
	schema string
}

func newTeam(t *testing.T) *teamFixture {
	t.Helper()
	dsn := os.Getenv("STRANDLINE_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("no PostgreSQL: run it as scripts/postgres.sh run go test, or set STRANDLINE_TEST_POSTGRES")
	}
	w := &teamFixture{t: t, dsn: dsn, schema: fmt.Sprintf("team_%d_%s", os.Getpid(), strings.ToLower(t.Name()))}
	local, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.local = local
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
		conn, err := pgx.Connect(context.Background(), dsn)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+w.schema+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return w
}

// as opens the team's database as an author.
func (w *teamFixture) as(author string) *postgres.Store {
	w.t.Helper()
	s, err := postgres.Open(w.t.Context(), w.dsn, postgres.Options{Schema: w.schema, Author: author, Machine: "box"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	return s
}

func (w *teamFixture) apply(bs ...archive.Batch) {
	w.t.Helper()
	for _, b := range bs {
		if err := w.local.Apply(w.t.Context(), b); err != nil {
			w.t.Fatal(err)
		}
	}
}

func hideSecret(s string) string { return strings.ReplaceAll(s, "secret", "[gone]") }

func (w *teamFixture) push(remote app.Remote, change ...func(*app.Push)) (app.PushReport, error) {
	p := app.Push{Local: indexOf(w.local), Remote: remote, Redact: hideSecret, Author: "ann", Machine: "box"}
	for _, c := range change {
		c(&p)
	}
	return p.Run(w.t.Context())
}

func (w *teamFixture) mustPush(remote app.Remote, change ...func(*app.Push)) app.PushReport {
	w.t.Helper()
	r, err := w.push(remote, change...)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func dump(t *testing.T, s *postgres.Store) string {
	t.Helper()
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
	return indextest.Dump(t, s)
}

func find(t *testing.T, s *postgres.Store, words string) []archive.Hit {
	t.Helper()
	hits, err := s.Search(t.Context(), archive.Query{Terms: terms.Query(words), Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

// New rows are pushed once, redacted, under the author's name.
func TestPush(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	w.apply(pushedBatch("aaaa", 0, 3), pushedBatch("bbbb", 0, 2))
	dry := w.mustPush(remote, func(p *app.Push) { p.DryRun = true })
	if dry.Sessions != 2 || dry.Passages != 10 || len(find(t, remote, "walrus")) != 0 {
		t.Errorf("a dry run: %+v", dry)
	}
	if r := w.mustPush(remote); r.Sessions != 2 || r.Passages != 10 || r.Batches != 2 {
		t.Errorf("the first push: %+v", r)
	}
	first := dump(t, remote)
	if strings.Contains(first, "secret") || strings.Contains(first, "/home/ann/tide/.git") || !strings.Contains(first, "[gone] prompt2") {
		t.Errorf("the pushed rows are not redacted:\n%s", first)
	}
	hits := find(t, remote, "walrus")
	if len(hits) != 5 || hits[0].Author != "ann" || hits[0].Project.Key != "remote:example.org/tide" || hits[0].Project.Root != "" {
		t.Errorf("hits %+v", hits)
	}
	if r := w.mustPush(remote); r.Sessions != 0 || r.Batches != 0 || r.Unchanged != 2 {
		t.Errorf("without new rows: %+v", r)
	}
	w.apply(pushedBatch("aaaa", 3, 4))
	if r := w.mustPush(remote); r.Sessions != 1 || r.Passages != 2 || r.Unchanged != 1 {
		t.Errorf("with one new turn: %+v", r)
	}
	grown := dump(t, remote)
	if r := w.mustPush(remote, func(p *app.Push) { p.Again = true }); r.Sessions != 2 || r.Passages != 12 {
		t.Errorf("everything again: %+v", r)
	}
	if again := dump(t, remote); again != grown {
		t.Errorf("pushed at once differs from pushed in steps:\n%s\n%s", again, grown)
	}
}

// unreliable is a team's database whose calls fail before or after their work.
type unreliable struct {
	app.Remote
	calls int
	at    func(call int) (before, after error)
}

func (c *unreliable) Apply(ctx context.Context, b archive.Batch) error {
	c.calls++
	before, after := c.at(c.calls)
	if before != nil {
		return before
	}
	return errors.Join(c.Remote.Apply(ctx, b), after)
}

func (c *unreliable) Recorded(ctx context.Context, ids []string) (map[string]bool, error) {
	c.calls++
	if before, after := c.at(c.calls); before != nil || after != nil {
		return nil, errors.Join(before, after)
	}
	return c.Remote.Recorded(ctx, ids)
}

// The push after an interrupted one completes it.
func TestPushAfterInterruption(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	w.apply(pushedBatch("aaaa", 0, 3), pushedBatch("bbbb", 0, 2), pushedBatch("cccc", 0, 1))
	w.mustPush(remote)
	want := dump(t, remote)
	for call := 1; call <= 4; call++ {
		for _, done := range []bool{false, true} {
			for id := range map[string]bool{"aaaa": true, "bbbb": true, "cccc": true} {
				if _, err := remote.Remove(t.Context(), id, ""); err != nil {
					t.Fatal(err)
				}
			}
			died := errors.New("killed")
			c := &unreliable{Remote: remote, at: func(n int) (error, error) {
				switch {
				case n != call:
					return nil, nil
				case done:
					return nil, died
				}
				return died, nil
			}}
			if _, err := w.push(c); !errors.Is(err, died) {
				t.Fatalf("call %d: %v", call, err)
			}
			w.mustPush(remote)
			if have := dump(t, remote); have != want {
				t.Errorf("after an interruption at call %d, done %v:\n%s", call, done, have)
			}
		}
	}
}

// A push survives short losses of the connection, whether the server did the work
// or not.
func TestPushRetries(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	w.apply(pushedBatch("aaaa", 0, 3), pushedBatch("bbbb", 0, 2))
	lost := &archive.Error{Code: archive.CodeBusy, Msg: "the connection was lost"}
	var pauses []int
	pause := func(p *app.Push) {
		p.Pause = func(_ context.Context, n int) error { pauses = append(pauses, n); return nil }
	}
	c := &unreliable{Remote: remote, at: func(n int) (error, error) {
		switch n {
		case 1, 2:
			return lost, nil
		case 4:
			return nil, lost
		}
		return nil, nil
	}}
	if r := w.mustPush(c, pause); r.Sessions != 2 || !slices.Equal(pauses, []int{1, 2, 1}) {
		t.Errorf("%+v, pauses %v", r, pauses)
	}
	if n := len(find(t, remote, "walrus")); n != 5 {
		t.Errorf("%d passages", n)
	}
	w.apply(pushedBatch("aaaa", 3, 4))
	if _, err := w.push(&unreliable{Remote: remote, at: func(int) (error, error) { return lost, nil }}, pause); archive.ErrorCode(err) != archive.CodeBusy {
		t.Errorf("the connection stays lost: %v", err)
	}
}

// Sessions deleted here are deleted there for good.
func TestPushDeletions(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	agent := pushedBatch("aaaa~a1", 0, 1)
	agent.Session.Parent, agent.Session.Relation = "aaaa", archive.RelationAgent
	w.apply(pushedBatch("aaaa", 0, 3), agent, pushedBatch("bbbb", 0, 2))
	w.mustPush(remote)
	forget := func(p *app.Push) { p.Deleted.Sessions = []string{"aaaa"} }
	r := w.mustPush(remote, forget)
	if len(r.Deleted) != 1 || r.Deleted[0].Session != "aaaa" || r.Deleted[0].Rows < 20 || len(r.Elsewhere) != 2 {
		t.Errorf("%+v", r)
	}
	if d := dump(t, remote); strings.Contains(d, "aaaa") || strings.Count(d, "bbbb") < 10 {
		t.Errorf("remaining rows:\n%s", d)
	}
	if r := w.mustPush(remote, forget); len(r.Deleted) != 0 {
		t.Errorf("deleted twice: %+v", r)
	}
	if r := w.mustPush(remote); len(r.Elsewhere) != 2 || r.Sessions != 0 {
		t.Errorf("from a machine that still has it: %+v", r)
	}
	if err := remote.Apply(t.Context(), pushedBatch("aaaa", 0, 1)); archive.ErrorCode(err) != archive.CodeDenied {
		t.Errorf("a deleted session was accepted: %v", err)
	}
}

// A session with a deleted part is pushed again without it.
func TestPushDeletedParts(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	w.apply(pushedBatch("aaaa", 0, 3), pushedBatch("bbbb", 0, 2))
	w.mustPush(remote)
	part := func(p *app.Push) {
		p.Deleted.Parts = map[string]archive.Part{"forget:aaaa/1": {Turn: 1, Step: -1, Sessions: []string{"aaaa", "bbbb"}}}
	}
	if r := w.mustPush(remote, part); len(r.Deleted) != 2 || r.Sessions != 2 || r.Passages != 10 {
		t.Errorf("%+v", r)
	}
	if r := w.mustPush(remote, part); len(r.Deleted) != 0 || r.Sessions != 0 {
		t.Errorf("again: %+v", r)
	}
}

// Authors with clones of one remote share a project. Sessions, and projects without
// a remote, belong to one author.
func TestTwoAuthors(t *testing.T) {
	w := newTeam(t)
	ann, bob := w.as("ann"), w.as("bob")
	w.apply(pushedBatch("aaaa", 0, 3))
	w.mustPush(ann)
	other := pushedBatch("bbbb", 0, 2)
	other.Session.Project = archive.Project{Key: "git:/src/bobs/.git", Name: "bobs-tide", Root: "/src/bobs", Remote: "example.org/tide"}
	own := pushedBatch("cccc", 0, 1)
	own.Session.Project = archive.Project{Key: "dir:/tmp/notes", Name: "notes", Root: "/tmp/notes"}
	w.apply(other, own)
	as := func(p *app.Push) { p.Author = "bob" }
	_, err := w.push(bob, as)
	if archive.ErrorCode(err) != archive.CodeDenied || !strings.Contains(err.Error(), "pushed by ann") {
		t.Errorf("bob pushed ann's session: %v", err)
	}
	if _, err := bob.Remove(t.Context(), "aaaa", "aaaa"); archive.ErrorCode(err) != archive.CodeDenied {
		t.Errorf("bob deleted ann's session: %v", err)
	}
	authors := map[string]int{}
	for _, h := range find(t, ann, "walrus") {
		authors[h.Author+" "+h.Session]++
	}
	if authors["ann aaaa"] != 3 || authors["bob bbbb"] != 2 || authors["bob cccc"] != 1 || len(authors) != 3 {
		t.Errorf("passages of %v", authors)
	}
	for _, test := range []struct {
		p    archive.Project
		want string
	}{
		{other.Session.Project, "remote:example.org/tide"},
		{own.Session.Project, "dir:/tmp/notes of bob on box"},
		{archive.Project{Key: "git:/x", Remote: "/srv/git/x"}, "git:/x of bob on box"},
		{archive.Project{}, ""},
	} {
		if have := app.TeamProject(test.p, "bob", "box"); have.Key != test.want || have.Root != "" {
			t.Errorf("%+v is %+v, want %s", test.p, have, test.want)
		}
	}
}

// Both generations of a rewritten transcript are pushed.
func TestPushGenerations(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	w.apply(pushedBatch("aaaa", 0, 3))
	w.mustPush(remote)
	if err := w.local.Retire(t.Context(), "aaaa", 1); err != nil {
		t.Fatal(err)
	}
	next := pushedBatch("aaaa", 0, 1)
	next.Session.Generation, next.Cursor.Generation = 2, 2
	w.apply(next)
	if r := w.mustPush(remote); r.Sessions != 1 || r.Unchanged != 1 {
		t.Errorf("%+v", r)
	}
	hits := find(t, remote, "walrus")
	counts := map[string]int{}
	for _, h := range hits {
		counts[h.Session]++
	}
	if counts["aaaa"] != 1 || counts["aaaa@1"] != 3 {
		t.Errorf("hits of %v", counts)
	}
}

// A session of megabytes is pushed in batches; an interrupted push continues with
// the next one.
func TestPushBatches(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	b := pushedBatch("aaaa", 0, 600)
	for i := range b.Passages {
		b.Passages[i].Text += strings.Repeat(" filler", 1400)
	}
	w.apply(b)
	died := errors.New("killed")
	_, err := w.push(&unreliable{Remote: remote, at: func(n int) (error, error) {
		if n == 3 {
			return died, nil
		}
		return nil, nil
	}})
	if !errors.Is(err, died) {
		t.Fatal(err)
	}
	pushed, err := remote.Pushed(t.Context())
	if err != nil || pushed["aaaa"].Line == 0 || pushed["aaaa"].Line >= 1800 {
		t.Fatalf("after two batches: %+v, %v", pushed, err)
	}
	if r := w.mustPush(remote); r.Sessions != 1 || r.Batches < 1 || r.Passages >= 1200 {
		t.Errorf("the rest: %+v", r)
	}
	batches := dump(t, remote)
	w.mustPush(remote, func(p *app.Push) { p.Again = true })
	if n, err := remote.PassageCount(t.Context()); err != nil || n != 1200 {
		t.Errorf("%d passages, %v", n, err)
	}
	if dump(t, remote) != batches {
		t.Error("other batches give other rows")
	}
}

// Summaries from hooks and segments are pushed once, redacted.
func TestPushSummaries(t *testing.T) {
	w := newTeam(t)
	remote := w.as("ann")
	w.apply(pushedBatch("aaaa", 0, 1))
	err := w.local.ApplyJournal(t.Context(), []archive.JournalEntry{
		{ID: "h1", Time: start, Kind: archive.JournalSummary, Session: "aaaa", Data: []byte(`{"source":"PostCompact","text":"secret heron"}`)},
		{ID: "g1", Time: start, Kind: archive.JournalSegment, Session: "aaaa", Data: []byte(`{"event":"saved","segment":{"segment_id":"s","topic":"secret otter","compressed_content":"secret otter work"}}`)},
		{ID: "i1", Time: start, Kind: archive.JournalInjected, Session: "aaaa", Data: []byte(`{"event":"x"}`)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := w.mustPush(remote); r.Facts != 2 {
		t.Errorf("%+v", r)
	}
	for _, word := range []string{"heron", "otter"} {
		if hits := find(t, remote, word); len(hits) != 1 || strings.Contains(hits[0].Text, "secret") {
			t.Errorf("%s: %+v", word, hits)
		}
	}
	if d := dump(t, remote); strings.Contains(d, "secret") || strings.Contains(d, "i1") {
		t.Errorf("unexpected rows:\n%s", d)
	}
	if r := w.mustPush(remote); r.Facts != 0 {
		t.Errorf("again: %+v", r)
	}
}
