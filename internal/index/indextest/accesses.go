package indextest

import (
	"encoding/json"
	"testing"

	"strandline/internal/archive"
)

func testJournalAccesses(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "at first", got[[]archive.Access](t)(s.Accesses(t.Context(), mainID)), nil)
	journal(t, s, everyKind()...)
	journal(t, s, everyKind()...) // the same entries again
	first, second := archive.Ref{Session: mainID, Turn: 0, Step: 0}, archive.Ref{Session: mainID, Turn: 2, Step: -1}
	twice := archive.AccessFact{Refs: []archive.Ref{first, first}, How: archive.AccessUsed, Of: 7}
	journal(t, s, entry("a4", at(9), archive.JournalAccess, mainID, twice))
	equal(t, "by place, then by time", got[[]archive.Access](t)(s.Accesses(t.Context(), mainID)), []archive.Access{
		{Ref: first, Time: at(3), How: archive.AccessRestored},
		{Ref: first, Time: at(5), How: archive.AccessRestored}, // recorded in another session
		{Ref: first, Time: at(9), How: archive.AccessUsed},
		{Ref: second, Time: at(3), How: archive.AccessRestored},
		{Ref: second, Time: at(4), How: archive.AccessRecalled},
	})
	equal(t, "another session", got[[]archive.Access](t)(s.Accesses(t.Context(), otherID)), nil)
}

func testJournalFeedback(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "at first", got[archive.Feedback](t)(s.Feedback(t.Context())), archive.Feedback{})
	equal(t, "nothing is recorded", got[map[string]bool](t)(s.Recorded(t.Context(), []string{"u1", "u2"})), map[string]bool{})
	equal(t, "nothing is asked for", got[map[string]bool](t)(s.Recorded(t.Context(), nil)), map[string]bool{})
	journal(t, s, everyKind()...) // injections that were never measured do not count
	ref := archive.Ref{Session: mainID, Turn: 1, Step: 0}
	used := func(of int, refs ...archive.Ref) archive.AccessFact {
		return archive.AccessFact{Refs: refs, How: archive.AccessUsed, Of: of}
	}
	entries := []archive.JournalEntry{
		entry("u1", at(7), archive.JournalAccess, mainID, used(8, ref, ref)),
		entry("u2", at(8), archive.JournalAccess, otherID, used(4)),
		entry("u3", at(8), archive.JournalAccess, otherID, used(0)), // nothing was restored
		{ID: "u4", Time: at(9), Kind: archive.JournalAccess, Session: mainID, Data: json.RawMessage(`"no object"`)},
	}
	journal(t, s, entries...)
	journal(t, s, entries...)
	equal(t, "sum", got[archive.Feedback](t)(s.Feedback(t.Context())), archive.Feedback{Compactions: 2, Given: 12, Used: 2})
	equal(t, "recorded", got[map[string]bool](t)(s.Recorded(t.Context(), []string{"u1", "none", "u3", "a1"})),
		map[string]bool{"u1": true, "u3": true, "a1": true})
}
