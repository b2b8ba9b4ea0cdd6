package indextest

import (
	"slices"
	"testing"

	"strandline/internal/archive"
)

func testSpans(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(otherID, project("tide"), "t0"), simple(mainID, project("tide"), "t0", "t1", "t2", "t3", "t4"))
	for _, test := range []struct {
		name string
		span archive.Span
		want []int
	}{
		{"all", archive.Span{}, []int{0, 1, 2, 3, 4}},
		{"before a line", archive.Span{BeforeLine: 3}, []int{0, 1, 2}},
		{"turns", archive.Span{TurnFrom: 1, TurnTo: 3}, []int{1, 2}},
		{"from without to does not limit", archive.Span{TurnFrom: 2}, []int{0, 1, 2, 3, 4}},
		{"both", archive.Span{TurnFrom: 1, TurnTo: 9, BeforeLine: 3}, []int{1, 2}},
		{"limit", archive.Span{Limit: 2}, []int{0, 1}},
		{"newest", archive.Span{Newest: true}, []int{4, 3, 2, 1, 0}},
		{"newest with limit", archive.Span{Newest: true, Limit: 2, BeforeLine: 4}, []int{3, 2}},
	} {
		test.span.Session = mainID
		var turns, passages []int
		for _, x := range got[[]archive.Turn](t)(s.Turns(t.Context(), test.span)) {
			turns = append(turns, x.Index)
		}
		for _, x := range got[[]archive.Passage](t)(s.Passages(t.Context(), archive.PassageSpan{Span: test.span})) {
			passages = append(passages, x.Turn)
		}
		if !slices.Equal(turns, test.want) || !slices.Equal(passages, test.want) {
			t.Errorf("%s: turns %v, passages %v, want %v", test.name, turns, passages, test.want)
		}
	}
}

func testRewound(t *testing.T, open Opener) {
	s, b := open(t), simple(mainID, project("tide"), "t0", "t1", "t2", "t3", "t4")
	for _, i := range []int{1, 2, 4} {
		b.Turns[i].Dead = true
	}
	apply(t, s, simple(otherID, project("tide"), "t0"), b)
	for _, test := range []struct {
		name string
		span archive.Span
		want []int
	}{
		{"a dead turn at the end has no live turn after it", archive.Span{}, []int{1, 2}},
		{"newest first", archive.Span{Newest: true}, []int{2, 1}},
		{"limit", archive.Span{Newest: true, Limit: 1}, []int{2}},
		{"before the live turn they were alive", archive.Span{BeforeLine: 3}, nil},
		{"turns", archive.Span{TurnFrom: 2, TurnTo: 9}, []int{2}},
		{"turns without the live one", archive.Span{TurnTo: 3}, nil},
	} {
		test.span.Session = mainID
		equal(t, test.name, got[[]int](t)(s.Rewound(t.Context(), test.span)), test.want)
	}
}

// A kind that is unknown to this version can be selected.
func testPassageKinds(t *testing.T, open Opener) {
	s, b := open(t), simple(mainID, project("tide"), "t0", "t1", "t2", "t3")
	kinds := []archive.PassageKind{archive.KindPrompt, archive.KindReply, "picture", archive.KindOutput}
	for i, k := range kinds {
		b.Passages[i].Kind = k
	}
	apply(t, s, b)
	for _, test := range []struct {
		kinds []archive.PassageKind
		want  []int
	}{
		{nil, []int{0, 1, 2, 3}},
		{kinds[:1], []int{0}},
		{[]archive.PassageKind{archive.KindReply, archive.KindOutput, archive.KindSummary}, []int{1, 3}},
		{kinds[2:3], []int{2}},
		{[]archive.PassageKind{"sound"}, nil},
		{kinds[1:3], []int{1, 2}},
	} {
		var turns []int
		for _, x := range got[[]archive.Passage](t)(s.Passages(t.Context(), archive.PassageSpan{Span: archive.Span{Session: mainID}, Kinds: test.kinds})) {
			turns = append(turns, x.Turn)
		}
		equal(t, "passages of kinds", turns, test.want)
	}
}

func testPendingCalls(t *testing.T, open Opener) {
	s, b := open(t), mainBatch()
	apply(t, s, b)
	calls := func(sp archive.CallSpan) []archive.Call {
		sp.Session = mainID
		return got[[]archive.Call](t)(s.Calls(t.Context(), sp))
	}
	pending := b.Calls[0]
	pending.LineResult, pending.Exit, pending.Failed, pending.Error, pending.Duration = -1, nil, false, "", 0

	equal(t, "before the use", calls(archive.CallSpan{Span: archive.Span{BeforeLine: 2}}), nil)
	equal(t, "before the result", calls(archive.CallSpan{Span: archive.Span{BeforeLine: 3}}), []archive.Call{pending})
	equal(t, "on the result's line", calls(archive.CallSpan{Span: archive.Span{BeforeLine: 4}})[:1], []archive.Call{pending})
	equal(t, "after the result", calls(archive.CallSpan{Span: archive.Span{BeforeLine: 5}})[:1], b.Calls[:1])
	equal(t, "failed", calls(archive.CallSpan{Failed: true}), b.Calls[:1])
	equal(t, "failed, but later", calls(archive.CallSpan{Failed: true, Span: archive.Span{BeforeLine: 4}}), nil)
	equal(t, "kinds", calls(archive.CallSpan{Kinds: []archive.CallKind{archive.CallEdit, archive.CallWeb}}), b.Calls[1:2])
	equal(t, "newest", calls(archive.CallSpan{Span: archive.Span{Newest: true, Limit: 1}}), b.Calls[2:])
}

// A passage with a command and its outcome is not returned as of a line before the outcome.
func testPassagesAtLine(t *testing.T, open Opener) {
	s, b := open(t), mainBatch()
	apply(t, s, b)
	journal(t, s, summary("s", at(50), "pending"))
	passages := func(before int, kinds ...archive.PassageKind) []archive.Passage {
		return got[[]archive.Passage](t)(s.Passages(t.Context(),
			archive.PassageSpan{Span: archive.Span{Session: mainID, BeforeLine: before}, Kinds: kinds}))
	}
	equal(t, "before the command ended", passages(4), b.Passages[:1])
	equal(t, "after it", passages(5), b.Passages[:2])
	equal(t, "kinds", passages(0, archive.KindReply, archive.KindEdit), b.Passages[2:4])
	if n := len(passages(0)); n != len(b.Passages)+1 {
		t.Errorf("%d passages without a line, want those of the transcript and of the hook", n)
	}
}

func testCompactionsAtLine(t *testing.T, open Opener) {
	s, b := open(t), mainBatch()
	apply(t, s, b)
	at := func(line int) []archive.Compaction {
		return got[[]archive.Compaction](t)(s.Compactions(t.Context(), archive.Span{Session: mainID, BeforeLine: line}))
	}
	pending := b.Compactions[0]
	pending.SummaryLine = -1
	equal(t, "on the boundary", at(25), nil)
	equal(t, "before the summary", at(26), []archive.Compaction{pending})
	equal(t, "after the summary", at(27), b.Compactions)
}

func testUnknownSpan(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(otherID, project("tide"), "words"))
	span := archive.Span{Session: mainID}
	n := len(got[[]archive.Turn](t)(s.Turns(t.Context(), span))) +
		len(got[[]archive.Step](t)(s.Steps(t.Context(), span))) +
		len(got[[]archive.Call](t)(s.Calls(t.Context(), archive.CallSpan{Span: span}))) +
		len(got[[]archive.Passage](t)(s.Passages(t.Context(), archive.PassageSpan{Span: span}))) +
		len(got[[]archive.FileTouch](t)(s.Files(t.Context(), span))) +
		len(got[[]archive.TaskEvent](t)(s.Tasks(t.Context(), span))) +
		len(got[[]archive.Compaction](t)(s.Compactions(t.Context(), span))) +
		len(got[[]archive.HookSummary](t)(s.HookSummaries(t.Context(), mainID)))
	if n != 0 {
		t.Errorf("%d rows of an unknown session", n)
	}
}
