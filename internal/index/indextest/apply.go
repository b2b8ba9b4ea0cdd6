package indextest

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
)

func testRoundTrip(t *testing.T, open Opener) {
	s, b := open(t), mainBatch()
	apply(t, s, b)
	ctx, span := t.Context(), archive.Span{Session: mainID}

	equal(t, "session", got[archive.Session](t)(s.Session(ctx, mainID)), b.Session)
	equal(t, "turns", got[[]archive.Turn](t)(s.Turns(ctx, span)), b.Turns)
	equal(t, "steps", got[[]archive.Step](t)(s.Steps(ctx, span)), b.Steps)
	equal(t, "calls", got[[]archive.Call](t)(s.Calls(ctx, archive.CallSpan{Span: span})), b.Calls)
	equal(t, "passages", got[[]archive.Passage](t)(s.Passages(ctx, archive.PassageSpan{Span: span})), b.Passages)
	equal(t, "files", got[[]archive.FileTouch](t)(s.Files(ctx, span)), b.Files)
	equal(t, "tasks", got[[]archive.TaskEvent](t)(s.Tasks(ctx, span)), b.Tasks)
	equal(t, "compactions", got[[]archive.Compaction](t)(s.Compactions(ctx, span)), b.Compactions)
	equal(t, "cursor", got[archive.Cursor](t)(s.Cursor(ctx, mainID)), b.Cursor)
	at := b.Cursor
	at.State = nil
	equal(t, "positions", got[map[string]archive.Cursor](t)(s.Positions(ctx)), map[string]archive.Cursor{mainID: at})
}

func equal[T any](t testing.TB, what string, have, want T) {
	t.Helper()
	if !reflect.DeepEqual(have, want) {
		t.Errorf("%s:\nhave %+v\nwant %+v", what, have, want)
	}
}

func testReplace(t *testing.T, open Opener) {
	s, b := open(t), mainBatch()
	apply(t, s, b)
	b.Session.Title, b.Session.Project = "Another title", project("moved")
	b.Turns[0].Steps, b.Steps[0].Stop, b.Calls[2].LineResult, b.Calls[2].Exit = 5, "max_tokens", 35, nil
	b.Passages[0].Text, b.Passages[1].LineTo, b.Passages[2].Kind = "other words", 9, archive.KindOutput
	b.Tasks[0].Status, b.Files[0].Kind, b.Compactions[0].SummaryLine = "deleted", archive.CallRead, -1
	b.Cursor.Line, b.Cursor.State = 41, []byte{}
	b = after(b, b)
	apply(t, s, b)

	fresh := open(t)
	b.From = 0
	apply(t, fresh, b)
	if have, want := Dump(t, s), Dump(t, fresh); have != want {
		t.Errorf("a replaced session differs from a new one:\n%s", diff(have, want))
	}
}

// diff returns the lines that are in only one of two texts.
func diff(have, want string) string {
	in := func(text string) map[string]bool {
		m := map[string]bool{}
		for l := range strings.Lines(text) {
			m[l] = true
		}
		return m
	}
	var b strings.Builder
	h, w := in(have), in(want)
	for l := range strings.Lines(have) {
		if !w[l] {
			b.WriteString("- " + l)
		}
	}
	for l := range strings.Lines(want) {
		if !h[l] {
			b.WriteString("+ " + l)
		}
	}
	return b.String()
}

// growing returns consecutive batches of a session. Some rows belong to a turn of an
// earlier batch.
func growing() []archive.Batch {
	full := mainBatch()
	cut := func(from, to int, lines int) archive.Batch {
		b := archive.Batch{Session: full.Session, Cursor: full.Cursor}
		b.Session.Lines, b.Cursor.Line = lines, lines
		b.Turns = append(b.Turns, full.Turns[from:to]...)
		for _, p := range full.Passages {
			if p.Turn >= from && p.Turn < to {
				b.Passages = append(b.Passages, p)
			}
		}
		return b
	}
	first, second, third := cut(0, 1, 6), cut(0, 2, 20), cut(2, 3, 40)
	first.Turns[0].Steps, first.Turns[0].LineTo = 1, 6
	first.Passages = first.Passages[:2]
	first.Passages[1].Text = "go test ./... is running"
	second.Turns[1].Dead = false
	third.DeadTurns = []int{1}
	first.Keys, third.Keys = full.Keys[:1], full.Keys
	third.Steps, third.Calls, third.Files, third.Tasks, third.Compactions = full.Steps, full.Calls, full.Files, full.Tasks, full.Compactions
	first.Cursor.Offset = 100
	second = after(first, second)
	return []archive.Batch{first, second, after(second, third)}
}

// After a crash the reader may continue from any earlier cursor, while other sessions are
// written.
func testIdempotence(t *testing.T, open Opener) {
	batches := growing()
	other := simple(otherID, project("tide"), "unrelated words", "more of them")
	once := open(t)
	apply(t, once, append(batches, other)...)
	want := Dump(t, once)

	rapid.Check(t, func(r *rapid.T) {
		s := open(t)
		apply(t, s, other)
		for next := 0; next < len(batches); {
			back := rapid.IntRange(0, next).Draw(r, "from")
			together := rapid.Bool().Draw(r, "together")
			var bs []archive.Batch
			for i := back; i <= next; i++ {
				bs = append(bs, batches[i])
			}
			if together {
				if err := s.ApplyAll(t.Context(), append(bs, other)); err != nil {
					r.Fatal(err)
				}
			} else {
				apply(t, s, bs...)
			}
			next++
		}
		if have := Dump(t, s); have != want {
			r.Fatalf("rows differ:\n%s", diff(have, want))
		}
	})
}

func testAtomic(t *testing.T, open Opener) {
	s := open(t)
	bad := mainBatch()
	bad.Session.ID = "../../etc"
	err := s.ApplyAll(t.Context(), []archive.Batch{simple(otherID, project("tide"), "words"), bad})
	wantCode(t, err, archive.CodeInvalid)
	if d := Dump(t, s); d != "" {
		t.Errorf("a refused batch left rows:\n%s", d)
	}
}

// If two processes read one transcript, the second fails with ErrStale, unless its batch
// was applied already.
func testStale(t *testing.T, open Opener) {
	s, bs := open(t), growing()
	ctx := t.Context()
	if err := s.Apply(ctx, bs[1]); !errors.Is(err, archive.ErrStale) {
		t.Errorf("a batch before its predecessor: %v, want ErrStale", err)
	}
	apply(t, s, bs[:2]...)
	want := Dump(t, s)
	apply(t, s, bs[0], bs[1])
	overlapping := bs[2]
	overlapping.From = bs[0].Cursor.Offset
	if err := s.Apply(ctx, overlapping); !errors.Is(err, archive.ErrStale) {
		t.Errorf("a batch from an earlier cursor: %v, want ErrStale", err)
	}
	other := bs[2]
	other.Cursor.Generation = 2
	if err := s.Apply(ctx, other); !errors.Is(err, archive.ErrStale) {
		t.Errorf("a batch of another generation: %v, want ErrStale", err)
	}
	if err := s.ApplyAll(ctx, []archive.Batch{simple(otherID, project("tide"), "x"), overlapping}); !errors.Is(err, archive.ErrStale) {
		t.Errorf("together with another session: %v, want ErrStale", err)
	}
	if have := Dump(t, s); have != want {
		t.Errorf("refused batches changed rows:\n%s", diff(have, want))
	}
	apply(t, s, bs[2])
}

func testDeadTurns(t *testing.T, open Opener) {
	s := open(t)
	bs := growing()
	apply(t, s, bs...)
	apply(t, s, after(bs[2], bs[1])) // in this batch the turn was live
	turns := got[[]archive.Turn](t)(s.Turns(t.Context(), archive.Span{Session: mainID}))
	if !turns[1].Dead {
		t.Error("a dead turn is live again")
	}
}

func testBadSession(t *testing.T, open Opener) {
	s := open(t)
	for _, id := range []string{"", "..", "../x", "a/b", "a~", "~b", "a@", "a@x", "a b", strings.Repeat("x", 129)} {
		err := s.Apply(t.Context(), archive.Batch{Session: archive.Session{ID: id}})
		if archive.ErrorCode(err) != archive.CodeInvalid {
			t.Errorf("session id %q: %v, want code invalid", id, err)
		}
	}
}

func testCanceled(t *testing.T, open Opener) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Apply(ctx, mainBatch()); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply: %v, want context canceled", err)
	}
	if d := Dump(t, s); d != "" {
		t.Errorf("a cancelled batch left rows:\n%s", d)
	}
	apply(t, s, mainBatch()) // the store is usable afterwards
}

func testIdentities(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, mainBatch())
	fork := simple(forkID, project("tide"), "copied")
	fork.Keys = []archive.Identity{
		{Key: 1, Ref: archive.Ref{Session: forkID, Turn: 0, Step: -1}},
		{Key: 77, Ref: archive.Ref{Session: forkID, Turn: 0, Step: 2}},
		{Key: 88, Ref: archive.Ref{Session: otherID, Turn: 4, Step: 5}}, // of an unknown session
	}
	apply(t, s, fork)
	known := got[map[uint64]archive.Ref](t)(s.Known(t.Context(), []uint64{1, 1<<63 + 5, 77, 88, 99}))
	equal(t, "owners", known, map[uint64]archive.Ref{
		1:         {Session: mainID, Turn: 0, Step: -1},
		1<<63 + 5: {Session: mainID, Turn: 0, Step: 0},
		77:        {Session: forkID, Turn: 0, Step: 2},
		88:        {Session: otherID, Turn: 4, Step: 5},
	})
	wantSessions(t, s, archive.SessionFilter{}, mainID, forkID)
}

func testManyIdentities(t *testing.T, open Opener) {
	s := open(t)
	b := simple(mainID, project("tide"), "words")
	var keys []uint64
	for i := range 3000 {
		k := uint64(i) * 0x9E3779B97F4A7C15
		keys = append(keys, k)
		b.Keys = append(b.Keys, archive.Identity{Key: k, Ref: archive.Ref{Session: mainID, Turn: i}})
	}
	apply(t, s, b)
	known := got[map[uint64]archive.Ref](t)(s.Known(t.Context(), keys))
	if len(known) != len(keys) {
		t.Fatalf("%d of %d keys are known", len(known), len(keys))
	}
	for i, k := range keys {
		if known[k].Turn != i {
			t.Fatalf("key %d belongs to turn %d, want %d", k, known[k].Turn, i)
		}
	}
	if known := got[map[uint64]archive.Ref](t)(s.Known(t.Context(), nil)); len(known) != 0 {
		t.Errorf("no keys gave %v", known)
	}
}

func testCursorUnknown(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "cursor", got[archive.Cursor](t)(s.Cursor(t.Context(), mainID)), archive.Cursor{})
}
