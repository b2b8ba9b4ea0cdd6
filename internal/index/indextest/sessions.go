package indextest

import (
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
)

// wantSessions checks which sessions a filter selects, and their order.
func wantSessions(t testing.TB, s Store, f archive.SessionFilter, want ...string) {
	t.Helper()
	var have []string
	for _, x := range got[[]archive.Session](t)(s.Sessions(t.Context(), f)) {
		have = append(have, x.ID)
	}
	if !slices.Equal(have, want) {
		t.Errorf("filter %+v:\nhave %q\nwant %q", f, have, want)
	}
}

func testSessions(t *testing.T, open Opener) {
	s := open(t)
	main, agent := mainBatch(), agentBatch("look")
	fork := simple(forkID, project("tide"), "one", "two")
	fork.Session.Parent, fork.Session.Relation = mainID, archive.RelationFork
	other := simple(otherID, project("shore"), "a", "b", "c", "d")
	apply(t, s, main, agent, fork, other) // last rows at minutes 9, 1, 2, 4

	tide, shore := project("tide").Key, project("shore").Key
	wantSessions(t, s, archive.SessionFilter{}, mainID, otherID, forkID)
	wantSessions(t, s, archive.SessionFilter{Agents: true}, mainID, otherID, forkID, agentID)
	wantSessions(t, s, archive.SessionFilter{Limit: 2}, mainID, otherID)
	wantSessions(t, s, archive.SessionFilter{Projects: []string{shore}}, otherID)
	wantSessions(t, s, archive.SessionFilter{Projects: []string{shore, tide}}, mainID, otherID, forkID)
	wantSessions(t, s, archive.SessionFilter{Projects: []string{"dir:/nowhere"}})
	wantSessions(t, s, archive.SessionFilter{Clients: []string{"other"}})
	wantSessions(t, s, archive.SessionFilter{Clients: []string{"claude", "other"}, Limit: 1}, mainID)
	wantSessions(t, s, archive.SessionFilter{Parent: mainID}, forkID)
	wantSessions(t, s, archive.SessionFilter{Parent: mainID, Agents: true}, forkID, agentID)
	wantSessions(t, s, archive.SessionFilter{Since: at(4)}, mainID, otherID)
	wantSessions(t, s, archive.SessionFilter{Since: at(4), Projects: []string{tide}, Limit: 5}, mainID)
}

func testSessionNotFound(t *testing.T, open Opener) {
	s := open(t)
	_, err := s.Session(t.Context(), mainID)
	wantCode(t, err, archive.CodeNotFound)
	if archive.ErrorHint(err) == "" {
		t.Error("no hint")
	}
}

func testResolve(t *testing.T, open Opener) {
	s := open(t)
	const generation1 = otherID + "@1"
	apply(t, s, mainBatch(), agentBatch("look"), simple(forkID, project("tide"), "x"),
		simple(otherID, project("tide"), "new"), simple(generation1, project("tide"), "old"))
	for _, test := range []struct {
		prefix, want string
		code         archive.Code
	}{
		{prefix: mainID, want: mainID},
		{prefix: "7f3a12cd", want: mainID},
		{prefix: "7f3a", want: mainID},
		{prefix: "7f3b", want: forkID},
		{prefix: "7f3", code: archive.CodeAmbiguous},
		{prefix: "7", code: archive.CodeAmbiguous},
		{prefix: "7f3a12cd~a2c3", want: agentID},
		{prefix: "7f~a2", want: agentID},
		{prefix: agentID, want: agentID},
		{prefix: "7f3a12cd~ffff", code: archive.CodeNotFound},
		{prefix: "91c0", want: otherID},
		{prefix: "91c0@1", want: generation1},
		{prefix: "91c0@2", code: archive.CodeNotFound},
		{prefix: "00000000", code: archive.CodeNotFound},
		{prefix: "7F3A", code: archive.CodeNotFound},
		{prefix: "", code: archive.CodeInvalid},
		{prefix: "a%b", code: archive.CodeInvalid},
		{prefix: "../x", code: archive.CodeInvalid},
	} {
		id, err := s.Resolve(t.Context(), test.prefix)
		if id != test.want || archive.ErrorCode(err) != test.code {
			t.Errorf("Resolve(%q) = %q, %v; want %q, code %q", test.prefix, id, err, test.want, test.code)
		}
	}
	_, err := s.Resolve(t.Context(), "7f3")
	if hint := archive.ErrorHint(err); !strings.Contains(hint, archive.ShortID(mainID)) || !strings.Contains(hint, archive.ShortID(forkID)) {
		t.Errorf("the hint of an ambiguous prefix lists no candidates: %q", hint)
	}
}

func testRetire(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, mainBatch(), agentBatch("look"))
	if err := s.Retire(t.Context(), mainID, 1); err != nil {
		t.Fatal(err)
	}
	old := mainID + "@1"
	_, err := s.Session(t.Context(), mainID)
	wantCode(t, err, archive.CodeNotFound)
	equal(t, "cursor of the new generation", got[archive.Cursor](t)(s.Cursor(t.Context(), mainID)), archive.Cursor{})
	if n := len(got[[]archive.Turn](t)(s.Turns(t.Context(), archive.Span{Session: old}))); n != 3 {
		t.Errorf("the old generation has %d turns, want 3", n)
	}
	if owner := got[map[uint64]archive.Ref](t)(s.Known(t.Context(), []uint64{1}))[1]; owner.Session != old {
		t.Errorf("an identity belongs to %q, want %q", owner.Session, old)
	}

	apply(t, s, simple(mainID, project("tide"), "a new beginning"))
	wantHits(t, s, search("parser", archive.Query{Sessions: []string{old}}), old+"/0.1", old+"/2")
	wantHits(t, s, search("beginning", archive.Query{}), mainID+"/0")
	if x := got[archive.Session](t)(s.Session(t.Context(), agentID)); x.Parent != mainID {
		t.Errorf("a sub-agent's parent is %q, want %q", x.Parent, mainID)
	}
}

func testRetireTwice(t *testing.T, open Opener) {
	s := open(t)
	if err := s.Retire(t.Context(), mainID, 1); err != nil {
		t.Errorf("an unknown session: %v", err)
	}
	wantCode(t, s.Retire(t.Context(), "../x", 1), archive.CodeInvalid)
	apply(t, s, mainBatch())
	if err := s.Retire(t.Context(), mainID, 1); err != nil {
		t.Fatal(err)
	}
	apply(t, s, simple(mainID, project("tide"), "second"))
	before := Dump(t, s)
	if err := s.Retire(t.Context(), mainID, 1); err != nil {
		t.Fatal(err)
	}
	if after := Dump(t, s); after != before {
		t.Errorf("retiring again changed rows:\n%s", diff(after, before))
	}
}

func testRetireSummaries(t *testing.T, open Opener) {
	entries := []archive.JournalEntry{summary("s1", at(50), "pending words")}
	run := func(journalFirst bool) string {
		s := open(t)
		apply(t, s, mainBatch())
		if journalFirst {
			journal(t, s, entries...)
		}
		if err := s.Retire(t.Context(), mainID, 1); err != nil {
			t.Fatal(err)
		}
		apply(t, s, simple(mainID, project("tide"), "second"))
		if !journalFirst {
			journal(t, s, entries...)
		}
		wantHits(t, s, search("pending", archive.Query{}), mainID)
		return Dump(t, s)
	}
	if live, replayed := run(true), run(false); live != replayed {
		t.Errorf("rows depend on when the journal was read:\n%s", diff(live, replayed))
	}
}

func testTotals(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "empty archive", got[archive.Totals](t)(s.Totals(t.Context())), archive.Totals{})
	main, agent, other := mainBatch(), agentBatch("look"), simple(otherID, project("shore"), "a", "b")
	apply(t, s, main, agent, other)
	equal(t, "totals", got[archive.Totals](t)(s.Totals(t.Context())), archive.Totals{
		Sessions: 2, Agents: 1, Turns: 6, Steps: 3, Calls: 3, Passages: 9, Compactions: 1, Projects: 2,
		Bytes: 12_345 + 100 + 200, Usage: main.Session.Usage, CostUSD: 0.25, First: at(0), Last: at(9),
	})
	equal(t, "passages", got[int](t)(s.PassageCount(t.Context())), got[archive.Totals](t)(s.Totals(t.Context())).Passages)
}

func testActivity(t *testing.T, open Opener) {
	s := open(t)
	activity, calls := got[[]archive.Activity](t), got[[]archive.ToolCalls](t)
	equal(t, "empty archive", activity(s.Activity(t.Context(), archive.SessionFilter{})), nil)
	main := mainBatch()
	long := archive.Usage{Input: 5, Output: 6, CacheRead: archive.LongPrompt}
	main.Steps[2].Usage = long
	fork := simple(forkID, project("shore"), "a", "b")
	fork.Turns[0].Copy = &archive.Ref{Session: mainID, Turn: 0, Step: -1}
	fork.Turns[1].Start = at(20)
	fork.Steps = []archive.Step{{Session: forkID, Turn: 0, Model: "model-x", Time: at(1), Copy: &archive.Ref{Session: mainID}}}
	fork.Compactions = main.Compactions[:1:1]
	fork.Compactions[0].Session = forkID
	apply(t, s, main, fork)
	slot := at(0).Truncate(archive.ActivitySlot)
	of := func(session string, x archive.Activity) archive.Activity {
		x.Session, x.Time = session, slot
		return x
	}
	forkTurn := of(forkID, archive.Activity{Turns: 1})
	forkTurn.Time = slot.Add(archive.ActivitySlot)
	equal(t, "of all sessions, copies once", activity(s.Activity(t.Context(), archive.SessionFilter{})), []archive.Activity{
		of(mainID, archive.Activity{Compactions: 1}), of(mainID, archive.Activity{Turns: 3}),
		of(mainID, archive.Activity{Model: "model-x", Steps: 1, Usage: main.Steps[0].Usage}),
		of(mainID, archive.Activity{Model: "model-y", Long: true, Steps: 1, Usage: long}), forkTurn,
	})
	equal(t, "of one project", len(activity(s.Activity(t.Context(), archive.SessionFilter{Projects: []string{project("shore").Key}}))), 2)
	all := []archive.ToolCalls{{Name: "Bash", Calls: 1}, {Name: "Bash", Failed: true, Error: "FAIL strandline/config", Calls: 1}, {Name: "Edit", Calls: 1}}
	equal(t, "tool calls", calls(s.ToolCalls(t.Context(), archive.SessionFilter{IDs: []string{mainID}})), all)
	equal(t, "later tool calls", calls(s.ToolCalls(t.Context(), archive.SessionFilter{Since: at(5)})), all[:1])
	equal(t, "of other sessions", calls(s.ToolCalls(t.Context(), archive.SessionFilter{IDs: []string{forkID}})), nil)
}

func testIntegrity(t *testing.T, open Opener) {
	s := open(t)
	if err := s.Integrity(t.Context()); err != nil {
		t.Errorf("empty: %v", err)
	}
	b := mainBatch()
	apply(t, s, b)
	b.Passages[0].Text = "changed"
	apply(t, s, after(b, b))
	if err := s.Integrity(t.Context()); err != nil {
		t.Errorf("after changes: %v", err)
	}
}
