package indextest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
)

func entry(id string, at time.Time, kind archive.JournalKind, session string, data any) archive.JournalEntry {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err) // a bug of the suite
	}
	return archive.JournalEntry{Version: 1, ID: id, Time: at, Kind: kind, Session: session, Data: raw}
}

// summary returns a hook's summary of a compaction of the main session.
func summary(id string, at time.Time, text string) archive.JournalEntry {
	return entry(id, at, archive.JournalSummary, mainID, archive.SummaryFact{Source: "PostCompact", Text: text})
}

func journal(t testing.TB, s Store, entries ...archive.JournalEntry) {
	t.Helper()
	if err := s.ApplyJournal(t.Context(), entries, nil); err != nil {
		t.Fatalf("ApplyJournal: %v", err)
	}
}

// A hook's summary is stored until the transcript holds one of the same time or later.
func testJournalSummary(t *testing.T, open Opener) {
	s := open(t)
	b := mainBatch() // its compaction is of minute 7
	without := b
	without.Compactions = nil
	apply(t, s, without)
	journal(t, s, summary("early", at(6), "first summary"), summary("same", at(7), "second summary"), summary("late", at(8), "third summary"))
	journal(t, s, summary("early", at(6), "first summary"))
	pending := func() (ids []string) {
		for _, h := range got[[]archive.HookSummary](t)(s.HookSummaries(t.Context(), mainID)) {
			ids = append(ids, h.ID)
		}
		return ids
	}
	equal(t, "before the compaction", pending(), []string{"early", "same", "late"})
	wantHits(t, s, search("summary", archive.Query{}), mainID, mainID, mainID)

	unanswered := after(b, b)
	unanswered.Compactions = slices.Clone(b.Compactions)
	unanswered.Compactions[0].SummaryLine = -1
	apply(t, s, unanswered)
	b = after(unanswered, b)
	equal(t, "compaction without a summary line", pending(), []string{"early", "same", "late"})

	apply(t, s, b)
	equal(t, "after the compaction", pending(), []string{"late"})
	wantHits(t, s, search("summary", archive.Query{}), mainID)
	journal(t, s, summary("early", at(6), "first summary"))
	equal(t, "reported again", pending(), []string{"late"})

	hooks := got[[]archive.HookSummary](t)(s.HookSummaries(t.Context(), mainID))
	equal(t, "fields", hooks[0], archive.HookSummary{ID: "late", Session: mainID, Time: at(8), Source: "PostCompact", Text: "third summary"})
	hit := got[[]archive.Hit](t)(s.Search(t.Context(), search("third", archive.Query{})))[0]
	if hit.Label != "hook" || hit.Kind != archive.KindSummary || hit.LineFrom != -1 || !hit.Time.Equal(at(8)) {
		t.Errorf("passage of a summary: %+v", hit.Passage)
	}
}

func testJournalLongSummary(t *testing.T, open Opener) {
	s := open(t)
	text := strings.Repeat("a line of the summary, äöü\n", 500) + "needle at the end"
	journal(t, s, summary("long", at(6), text)) // of an unknown session
	wantSessions(t, s, archive.SessionFilter{})
	ps := got[[]archive.Passage](t)(s.Passages(t.Context(), archive.PassageSpan{Span: archive.Span{Session: mainID}}))
	var b strings.Builder
	for _, p := range ps {
		if len(p.Text) > archive.MaxPassage {
			t.Errorf("a passage has %d bytes", len(p.Text))
		}
		b.WriteString(p.Text)
	}
	if len(ps) < 3 || b.String() != text {
		t.Errorf("%d passages do not contain the text", len(ps))
	}
	wantHits(t, s, search("needle", archive.Query{}), mainID)
	apply(t, s, mainBatch())
	wantHits(t, s, search("needle", archive.Query{}))
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
}

// everyKind returns a journal with several related entries of each kind.
func everyKind() []archive.JournalEntry {
	refs := []archive.Ref{{Session: mainID, Turn: 0, Step: 0}, {Session: mainID, Turn: 2, Step: -1}}
	return []archive.JournalEntry{
		summary("s1", at(6), "told early"),
		summary("s2", at(8), "told late"),
		entry("a1", at(3), archive.JournalAccess, mainID, archive.AccessFact{Refs: refs, How: "restored"}),
		entry("a2", at(5), archive.JournalAccess, otherID, archive.AccessFact{Refs: refs[:1], How: "restored"}),
		entry("a3", at(4), archive.JournalAccess, mainID, archive.AccessFact{Refs: refs[1:], How: "recalled"}),
		entry("i1", at(3), archive.JournalInjected, mainID, archive.InjectedFact{Event: "SessionStart/compact", Chars: 9000}),
		entry("m1", at(1), archive.JournalMerge, "", archive.MergeFact{From: "dir:/a", Into: "dir:/b"}),
		entry("m2", at(2), archive.JournalMerge, "", archive.MergeFact{From: "dir:/a", Into: project("tide").Key}),
		entry("m3", at(2), archive.JournalMerge, "", archive.MergeFact{From: "dir:/b", Into: "dir:/c"}),
		segment("g1", at(2), archive.SegmentQueued, "seg-1", ""),
		segment("g2", at(3), archive.SegmentSummarised, "seg-1", "walrus first"),
		segment("g3", at(4), archive.SegmentSaved, "seg-1", "walrus second"),
		segment("g4", at(3), archive.SegmentSummarised, "seg-2", "heron"),
		segment("g5", at(5), archive.SegmentArchived, "seg-2", ""),
		entry("t1", at(2), archive.JournalTask, mainID, archive.TaskFact{Event: "TaskCreated", TaskID: "1", Subject: "Write"}),
	}
}

func testJournalOrder(t *testing.T, open Opener) {
	entries, b := everyKind(), mainBatch()
	plain := open(t)
	apply(t, plain, b)
	journal(t, plain, entries...)
	want := Dump(t, plain)
	rapid.Check(t, func(r *rapid.T) {
		s := open(t)
		// Each entry one to three times, and the session at any position.
		var order []int
		for i := range entries {
			for range rapid.IntRange(1, 3).Draw(r, "times") {
				order = append(order, i)
			}
		}
		order = rapid.Permutation(order).Draw(r, "order")
		when := rapid.IntRange(0, len(order)).Draw(r, "session")
		for k, i := range order {
			if k == when {
				apply(t, s, b)
			}
			journal(t, s, entries[i])
		}
		if when == len(order) {
			apply(t, s, b)
		}
		if have := Dump(t, s); have != want {
			r.Fatalf("rows differ:\n%s", diff(have, want))
		}
	})
}

func testJournalOdd(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, mainBatch())
	journal(t, s,
		archive.JournalEntry{ID: "o1", Kind: archive.JournalSummary, Session: mainID, Data: json.RawMessage(`"no object"`)},
		archive.JournalEntry{ID: "o2", Kind: archive.JournalSummary, Session: "../x", Data: json.RawMessage(`{"text":"odd"}`)},
		archive.JournalEntry{ID: "o3", Kind: archive.JournalMerge, Data: json.RawMessage(`{"from":"","into":"x"}`)},
		archive.JournalEntry{ID: "o4", Kind: archive.JournalAccess, Data: json.RawMessage(`{`)},
		archive.JournalEntry{ID: "o5", Kind: "of the future", Data: nil},
		summary("o6", zero, ""),
	)
	wantHits(t, s, search("odd", archive.Query{}))
	if err := s.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
}

func testJournalInjected(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "at first", got[[]archive.Injection](t)(s.Injected(t.Context(), mainID)), nil)
	restored := archive.InjectedFact{Event: "SessionStart/compact", Chars: 9000, Handles: []string{"7f3a12cd/1.2", "7f3a12cd/0"}, Nonce: "k3"}
	steer := archive.InjectedFact{Event: "PreCompact/auto", Chars: 4000}
	journal(t, s, everyKind()...) // with an injection of minute 3
	journal(t, s,
		entry("late", at(9), archive.JournalInjected, mainID, restored),
		entry("other", at(4), archive.JournalInjected, otherID, restored),
		entry("same time", at(5), archive.JournalInjected, mainID, steer),
		entry("later of the same time", at(5), archive.JournalInjected, mainID, steer),
		archive.JournalEntry{ID: "odd", Time: at(6), Kind: archive.JournalInjected, Session: mainID, Data: json.RawMessage(`"no object"`)},
	)
	journal(t, s, entry("late", at(9), archive.JournalInjected, mainID, restored))
	equal(t, "in order of time, then of identity", got[[]archive.Injection](t)(s.Injected(t.Context(), mainID)), []archive.Injection{
		{ID: "i1", Session: mainID, Time: at(3), InjectedFact: archive.InjectedFact{Event: "SessionStart/compact", Chars: 9000}},
		{ID: "later of the same time", Session: mainID, Time: at(5), InjectedFact: steer},
		{ID: "same time", Session: mainID, Time: at(5), InjectedFact: steer},
		{ID: "late", Session: mainID, Time: at(9), InjectedFact: restored},
	})
	equal(t, "an older generation", got[[]archive.Injection](t)(s.Injected(t.Context(), mainID+"@1")), nil)
}

func testJournalFacts(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "at first", got[[]archive.JournalEntry](t)(s.Facts(t.Context(), mainID, archive.JournalTask)), nil)
	journal(t, s, everyKind()...)
	late := entry("t0", at(9), archive.JournalTask, mainID, archive.TaskFact{Event: "TaskCompleted", TaskID: "1"})
	early := entry("t9", at(1), archive.JournalTask, otherID, archive.TaskFact{Event: "TaskCreated", TaskID: "2"})
	journal(t, s, late, early)
	first := entry("t1", at(2), archive.JournalTask, mainID, archive.TaskFact{Event: "TaskCreated", TaskID: "1", Subject: "Write"})
	equal(t, "of a session", got[[]archive.JournalEntry](t)(s.Facts(t.Context(), mainID, archive.JournalTask)), []archive.JournalEntry{first, late})
	equal(t, "of all", got[[]archive.JournalEntry](t)(s.Facts(t.Context(), "", archive.JournalTask)), []archive.JournalEntry{early, first, late})
	equal(t, "under an older generation's name", got[[]archive.JournalEntry](t)(s.Facts(t.Context(), otherID+"@1", archive.JournalTask)), []archive.JournalEntry{early})
}

// segment returns an event of a segment of the main session.
func segment(id string, when time.Time, event archive.SegmentEvent, seg, content string) archive.JournalEntry {
	return entry(id, when, archive.JournalSegment, mainID, archive.SegmentFact{Event: event, Segment: archive.Segment{
		ID: seg, Session: mainID, Topic: "otter " + seg, StartTurn: 1, EndTurn: 2, Content: content, CompressedAt: when, KeyFiles: []string{"/w/tide.go"},
	}})
}

// A search finds the newest summary of a segment until the segment is archived. The session
// may be stored before or after.
func testJournalSegments(t *testing.T, open Opener) {
	for _, sessionFirst := range []bool{true, false} {
		s := open(t)
		if sessionFirst {
			apply(t, s, mainBatch())
		}
		find := func(words string) (labels []string) {
			for _, h := range got[[]archive.Hit](t)(s.Search(t.Context(), search(words, archive.Query{Kinds: []archive.PassageKind{archive.KindSummary}}))) {
				labels = append(labels, h.Session+" "+h.Label)
			}
			return labels
		}
		journal(t, s, segment("g1", at(2), archive.SegmentQueued, "seg-1", ""))
		equal(t, "queued", find("otter"), nil)
		journal(t, s, segment("g2", at(3), archive.SegmentSummarised, "seg-1", "walrus"))
		equal(t, "summarised", find("walrus"), []string{mainID + " segment"})
		journal(t, s, segment("late", at(4), archive.SegmentSummarised, "seg-1", "too late"), segment("g3", at(5), archive.SegmentSaved, "seg-1", "heron"))
		equal(t, "the older version", find("walrus"), nil)
		equal(t, "the newer version", find("heron"), []string{mainID + " segment"})
		if !sessionFirst {
			apply(t, s, mainBatch())
			equal(t, "with its session", find("heron"), []string{mainID + " segment"})
		}
		if err := s.Retire(t.Context(), mainID, 1); err != nil {
			t.Fatal(err)
		}
		equal(t, "stays with the name", find("heron"), []string{mainID + " segment"})
		journal(t, s, segment("g4", at(6), archive.SegmentArchived, "seg-1", ""))
		equal(t, "archived", find("heron"), []string{mainID + " archived segment"})
		journal(t, s, segment("g5", at(7), archive.SegmentSaved, "seg-1", "puffin"))
		equal(t, "saved again, the older version", find("heron"), nil)
		equal(t, "saved again, still archived", find("puffin"), []string{mainID + " archived segment"})
		if err := s.Integrity(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func testJournalMerge(t *testing.T, open Opener) {
	s := open(t)
	moved := project("moved")
	apply(t, s, simple(mainID, project("tide"), "the parser"), simple(otherID, moved, "the parser"))
	journal(t, s, entry("m1", at(1), archive.JournalMerge, "", archive.MergeFact{From: project("tide").Key, Into: moved.Key}))

	for _, key := range []string{project("tide").Key, moved.Key} {
		wantSessions(t, s, archive.SessionFilter{Projects: []string{key}}, otherID, mainID)
		wantHits(t, s, search("parser", archive.Query{Projects: []string{key}}), mainID+"/0", otherID+"/0")
	}
	equal(t, "project of a session", got[archive.Session](t)(s.Session(t.Context(), mainID)).Project, moved)
	equal(t, "projects", got[[]archive.ProjectSummary](t)(s.Projects(t.Context())), []archive.ProjectSummary{{
		Project: moved, Aliases: []string{project("tide").Key}, Sessions: 2, Turns: 2, Bytes: 200, First: at(0), Last: at(1),
	}})
	if n := got[archive.Totals](t)(s.Totals(t.Context())).Projects; n != 1 {
		t.Errorf("%d projects, want 1", n)
	}

	// A cycle of merges must end, at any of its keys.
	journal(t, s, entry("m2", at(2), archive.JournalMerge, "", archive.MergeFact{From: moved.Key, Into: project("tide").Key}))
	if n := len(got[[]archive.ProjectSummary](t)(s.Projects(t.Context()))); n != 1 {
		t.Errorf("%d projects after a cycle of merges, want 1", n)
	}
}

// A folder and the repository that was made in it later are one project.
func testFolderBecomesRepository(t *testing.T, open Opener) {
	s := open(t)
	folder := archive.Project{Key: archive.FolderKey("/src/tide"), Name: "tide", Root: "/src/tide"}
	repository := archive.Project{Key: archive.RepositoryKey("/src/tide/.git"), Name: "tide", Root: "/src/tide"}
	nearby := archive.Project{Key: archive.FolderKey("/src/tide2"), Name: "tide2", Root: "/src/tide2"}
	apply(t, s, simple(mainID, folder, "the parser"), simple("cccccccc-0000-4000-8000-000000000001", nearby, "the parser"))
	wantHits(t, s, search("parser", archive.Query{Projects: []string{repository.Key}}), mainID+"/0") // before its first session

	apply(t, s, simple(otherID, repository, "the parser"))
	for _, key := range []string{folder.Key, repository.Key} {
		wantHits(t, s, search("parser", archive.Query{Projects: []string{key}}), mainID+"/0", otherID+"/0")
	}
	equal(t, "project of the first session", got[archive.Session](t)(s.Session(t.Context(), mainID)).Project, repository)
	if n := len(got[[]archive.ProjectSummary](t)(s.Projects(t.Context()))); n != 2 {
		t.Errorf("%d projects, want 2", n)
	}

	// A merge by the user comes first: then the folder is not part of its repository.
	journal(t, s, entry("m1", at(1), archive.JournalMerge, "", archive.MergeFact{From: folder.Key, Into: nearby.Key}))
	wantHits(t, s, search("parser", archive.Query{Projects: []string{repository.Key}}), otherID+"/0")
}

func testJournalCursor(t *testing.T, open Opener) {
	s := open(t)
	equal(t, "at first", got[[]byte](t)(s.JournalCursor(t.Context())), nil)
	if err := s.ApplyJournal(t.Context(), nil, []byte("x\x001")); err != nil {
		t.Fatal(err)
	}
	journal(t, s, summary("s", at(1), "text")) // no cursor given
	equal(t, "kept", got[[]byte](t)(s.JournalCursor(t.Context())), []byte("x\x001"))
}
