package indextest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// search returns a query with the terms of a typed text.
func search(text string, q archive.Query) archive.Query {
	q.Terms = terms.Query(text)
	return q
}

// handles returns the full session IDs, turns and steps of hits.
func handles(hits []archive.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, archive.Handle{Session: h.Session, Turn: h.Turn, Step: h.Step}.String())
	}
	return out
}

// wantHits checks which passages a query finds, in any order.
func wantHits(t testing.TB, s Store, q archive.Query, want ...string) {
	t.Helper()
	have := handles(got[[]archive.Hit](t)(s.Search(t.Context(), q)))
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("query %+v:\nhave %q\nwant %q", q, have, want)
	}
}

// Every case stores texts, one turn each, and lists those that a query finds.
func testSearchWords(t *testing.T, open Opener) {
	texts := []string{
		0:  "call parseConfigFile first",
		1:  "the parse_config_file helper",
		2:  "see internal/store/rows_test.go:42",
		3:  "error[E0382]: borrow of moved value",
		4:  "TS2304: Cannot find name",
		5:  "ENOENT: no such file",
		6:  "Error [ERR_MODULE_NOT_FOUND]",
		7:  "SQLSTATE 23505 unique violation",
		8:  "got HTTP 404 from the proxy",
		9:  "upgraded to v1.26.8",
		10: "commit 3f9c2ab07d1e4c5b6a798081726354455463728f",
		11: "session 7f3a12cd-1111-4222-8333-000000000001 ended",
		12: "Café crème à Zürich",
		13: "日本語の検索 works",
		14: "👍 ship it 🚀",
		15: "HTTPServer and XMLHttpRequest",
		16: "github.com/go-json-experiment/json",
		17: "branches were merged",
		18: "--dangerously-skip-permissions",
		19: "port 8080 and 0x1F",
		20: "AND OR NOT NEAR",
	}
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), texts...))
	for _, test := range []struct {
		query string
		want  []int
	}{
		{"parseConfigFile", []int{0, 1, 5}}, // a match of "file" alone is the last
		{`"parseConfigFile"`, []int{0, 1}},
		{`"parse-config-file"`, []int{0, 1}},
		{"config", []int{0, 1}},
		{`"rows_test.go"`, []int{2}},
		{"rows", []int{2}},
		{"go", []int{2, 16}},
		{"store", []int{2}},
		{"E0382", []int{3}},
		{"0382", []int{3}},
		{"ts2304", []int{4}},
		{"2304", []int{4}},
		{"enoent", []int{5}},
		{`"ERR_MODULE_NOT_FOUND"`, []int{6}},
		{"module", []int{6}},
		{"23505", []int{7}},
		{"404", []int{8}},
		{"HTTP", []int{8, 15}},
		{"1.26.8", []int{9}},
		{"v1.26.8", []int{9}},
		{`"1.26"`, []int{9}},
		{"3f9c2ab", []int{10}},
		{"3f9c2ab07d1e4c5b6a798081726354455463728f", []int{10}},
		{"7f3a12cd", []int{11}},
		{"7f3a12cd-1111-4222-8333-000000000001", []int{11}},
		{"cafe", []int{12}},
		{"CRÈME", []int{12}},
		{"zurich", []int{12}},
		{"日本", []int{13}},
		{"検索", []int{13}},
		{"語", []int{13}},
		{"🚀", nil},
		{"ship", []int{14}},
		{"server", []int{15}},
		{"request", []int{15}},
		{"github.com", []int{16}},
		{"experiment", []int{16}},
		{"branch", []int{17}},
		{`"skip-permissions"`, nil}, // only the whole compound matches
		{"permission", []int{18}},
		{"0x1f", []int{19}},
		{"near", []int{20}},
		{"exper*", []int{16}},
		{"xyzzy", nil},
		{`") OR 1=1 --`, nil},
	} {
		var want []string
		for _, i := range test.want {
			want = append(want, fmt.Sprintf("%s/%d", mainID, i))
		}
		t.Run(test.query, func(t *testing.T) { wantHits(t, s, search(test.query, archive.Query{}), want...) })
	}
}

func testSearchFilters(t *testing.T, open Opener) {
	s := open(t)
	b := mainBatch()
	thought := simple(forkID, project("shore"), "a question")
	thought.Session.GitBranch = "topic"
	thought.Passages = append(thought.Passages, archive.Passage{
		Session: forkID, Step: 0, Kind: archive.KindReply, Label: archive.LabelThinking, Text: "I wonder about errEmptyInput", LineFrom: 1, LineTo: 2, Time: at(1),
	})
	apply(t, s, b, simple(otherID, project("shore"), "parser one", "parser two"), thought)
	other := func(turn int) string { return fmt.Sprintf("%s/%d", otherID, turn) }
	for _, test := range []struct {
		name  string
		words string
		q     archive.Query
		want  []string
	}{
		{"session", "parser", archive.Query{Sessions: []string{otherID}}, []string{other(0), other(1)}},
		{"unknown session", "parser", archive.Query{Sessions: []string{agentID}}, nil},
		{"two sessions", "one fails", archive.Query{Sessions: []string{otherID, mainID}}, []string{other(0), mainID + "/0"}},
		{"project", "parser", archive.Query{Projects: []string{project("shore").Key}}, []string{other(0), other(1)}},
		{"session of another project", "parser", archive.Query{Sessions: []string{otherID}, Projects: []string{project("tide").Key}}, nil},
		{"unknown project", "parser", archive.Query{Projects: []string{"dir:/nowhere"}}, nil},
		{"kind", "parser", archive.Query{Kinds: []archive.PassageKind{archive.KindReply}}, []string{mainID + "/0.1"}},
		{"reasoning", "errEmptyInput", archive.Query{Kinds: []archive.PassageKind{archive.KindThinking}}, []string{forkID + "/0.0"}},
		{"replies with the reasoning", "error wonder", archive.Query{Kinds: []archive.PassageKind{archive.KindReply}}, []string{forkID + "/0.0", mainID + "/0.1"}},
		{"reasoning or prompts", "errEmptyInput parser", archive.Query{Kinds: []archive.PassageKind{archive.KindThinking, archive.KindPrompt}},
			[]string{forkID + "/0.0", other(0), other(1), mainID + "/0", mainID + "/2"}},
		{"branch", "errEmptyInput", archive.Query{Branches: []string{"topic", "none"}}, []string{forkID + "/0.0"}},
		{"client", "errEmptyInput", archive.Query{Clients: []string{"other"}}, nil},
		{"another branch", `"errEmptyInput"`, archive.Query{Branches: []string{"main"}}, []string{mainID + "/0.0"}},
		{"failed", "test errEmptyInput parser", archive.Query{Failed: true}, []string{mainID + "/0.0"}},
		{"since", "parser", archive.Query{Since: at(6)}, []string{mainID + "/2"}},
		{"until", "parser", archive.Query{Until: at(1)}, []string{other(0)}},
		{"until is exclusive", "parser", archive.Query{Until: at(0)}, nil},
		{"dead branch", "grammar", archive.Query{}, nil},
		{"dead branch wanted", "grammar", archive.Query{Dead: true}, []string{mainID + "/1"}},
		{"path", `"parse.go"`, archive.Query{}, []string{mainID + "/0.0"}},
	} {
		t.Run(test.name, func(t *testing.T) { wantHits(t, s, search(test.words, test.q), test.want...) })
	}

	hits := got[[]archive.Hit](t)(s.Search(t.Context(), search("exited", archive.Query{})))
	if len(hits) != 1 {
		t.Fatalf("%d hits, want 1", len(hits))
	}
	equal(t, "passage of a hit", hits[0].Passage, b.Passages[1])
	equal(t, "project of a hit", hits[0].Project, b.Session.Project)
	equal(t, "title of a hit", hits[0].Title, b.Session.Title)
	thoughts := got[[]archive.Passage](t)(s.Passages(t.Context(), archive.PassageSpan{Span: archive.Span{Session: forkID}, Kinds: []archive.PassageKind{archive.KindThinking}}))
	equal(t, "reasoning in a span", thoughts, thought.Passages[1:])
	failed := got[[]archive.Passage](t)(s.Passages(t.Context(), archive.PassageSpan{Span: archive.Span{Session: mainID}, Failed: true}))
	equal(t, "failed calls in a span", failed, b.Passages[1:2])
}

func testSearchOrder(t *testing.T, open Opener) {
	s := open(t)
	filler := strings.Repeat(" and many other words that say little", 20)
	apply(t, s, simple(mainID, project("tide"),
		"deadlock in the scheduler",
		"the scheduler"+filler,
		"deadlock"+filler,
		"scheduler",
		"nothing of it",
		"scheduler",
	))
	hits := got[[]archive.Hit](t)(s.Search(t.Context(), search("scheduler deadlock", archive.Query{})))
	if len(hits) != 5 || hits[0].Turn != 0 {
		t.Fatalf("the passage with both words is not first: %q", handles(hits))
	}
	for i := 1; i < len(hits); i++ {
		if hits[i].Score > hits[i-1].Score {
			t.Errorf("scores do not fall: %v", hits)
		}
	}
	same := got[[]archive.Hit](t)(s.Search(t.Context(), search("scheduler", archive.Query{Limit: 2})))
	if have := handles(same); !slices.Equal(have, []string{mainID + "/5", mainID + "/3"}) {
		t.Errorf("of equal hits the newer is not first: %q", have)
	}
	many := open(t)
	texts := make([]string, 30)
	for i := range texts {
		texts[i] = "same words"
	}
	apply(t, many, simple(mainID, project("tide"), texts...))
	if n := len(got[[]archive.Hit](t)(many.Search(t.Context(), search("same", archive.Query{})))); n != 10 {
		t.Errorf("%d hits without a limit, want 10", n)
	}
	if n := len(got[[]archive.Hit](t)(many.Search(t.Context(), search("same", archive.Query{Limit: 25})))); n != 25 {
		t.Errorf("%d hits, want 25", n)
	}
}

// A term matches all its forms.
func testSearchForms(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), "we fixed it", "nothing", "fix it", "unrelated"))
	q := archive.Query{Terms: []archive.Term{{Text: "fix", Weight: 1, Forms: "fixed fixing"}}}
	wantHits(t, s, q, mainID+"/0", mainID+"/2")
	hits := got[[]archive.Hit](t)(s.Search(t.Context(), q))
	for _, h := range hits {
		if h.Evidence.Words <= 0 || h.Evidence.Words > 1 || h.Evidence.Session != 1 {
			t.Errorf("evidence %+v", h.Evidence)
		}
	}
	best := slices.MaxFunc(hits, func(a, b archive.Hit) int { return cmp.Compare(a.Evidence.BM25, b.Evidence.BM25) })
	for i, h := range hits {
		if share := h.Evidence.BM25 / best.Evidence.BM25; math.Abs(share-h.Evidence.Words) > 1e-9 {
			t.Errorf("%s has %.3f of the best BM25, and its words count %.3f", handles(hits)[i], share, h.Evidence.Words)
		}
	}
	both := archive.Query{Terms: []archive.Term{{Text: "it", Weight: 1, Must: true}, {Text: "fix", Weight: 1, Forms: "fixed"}}}
	wantHits(t, s, both, mainID+"/0", mainID+"/2")
}

// The BM25 score of a rare word grows with the size of the archive, unlike the score of the
// hit: callers compare it with that size.
func testSearchBM25(t *testing.T, open Opener) {
	worth := func(others int) float64 {
		s := open(t)
		turns := []string{"the needle"}
		for range others {
			turns = append(turns, "some hay")
		}
		apply(t, s, simple(mainID, project("tide"), turns...))
		hits := got[[]archive.Hit](t)(s.Search(t.Context(), search("needle", archive.Query{})))
		if len(hits) != 1 {
			t.Fatalf("%q", handles(hits))
		}
		return hits[0].Evidence.BM25
	}
	few, many := worth(3), worth(300)
	if few <= 0 || many < 2*few {
		t.Errorf("BM25 of a word with one occurrence is %.2f among 4 passages and %.2f among 301", few, many)
	}
}

// An answer is found by the words of the question before it.
func testSearchNeighbours(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), "a canary", "which colour has the bicycle", "the colour is green"))
	apply(t, s, simple(otherID, project("tide"), "which ticket", "the colour is green"))
	hits := got[[]archive.Hit](t)(s.Search(t.Context(), search("bicycle colour green", archive.Query{})))
	if len(hits) == 0 || hits[0].Session != mainID || hits[0].Turn != 2 {
		t.Errorf("the answer after the question is not first: %q", handles(hits))
	}
	if hits[0].Evidence.Before <= 0 {
		t.Errorf("evidence %+v", hits[0].Evidence)
	}
	const third = "5a7c1e22-0004-4222-8333-000000000004"
	// It is an answer only if a question precedes it.
	apply(t, s, simple(third, project("tide"), "which colour has the bicycle?", "the colour is green"))
	hits = got[[]archive.Hit](t)(s.Search(t.Context(), search("bicycle colour green", archive.Query{})))
	if hits[0].Session != third || hits[0].Turn != 1 || hits[0].Evidence.Answer <= 0 || hits[0].Evidence.Follows == 0 {
		t.Errorf("the answer to a question is not first: %q, %+v", handles(hits), hits[0].Evidence)
	}
}

func testSearchMust(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), "red green", "green blue", "blue red", "red green blue red red"))
	wantHits(t, s, search(`"red" green`, archive.Query{}), mainID+"/0", mainID+"/2", mainID+"/3")
	wantHits(t, s, search(`"red green"`, archive.Query{}), mainID+"/0", mainID+"/3")
	wantHits(t, s, search(`"red" "white"`, archive.Query{}))
	must := archive.Query{Terms: []archive.Term{{Text: "gre", Prefix: true, Must: true, Weight: 1}, {Text: "red", Weight: 1}}}
	wantHits(t, s, must, mainID+"/0", mainID+"/1", mainID+"/3")
}

func testSearchEmpty(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), "what is the matter"))
	wantHits(t, s, archive.Query{})
	wantHits(t, s, search("?!", archive.Query{}))
	wantHits(t, s, search("is the", archive.Query{}), mainID+"/0") // only stop words
	wantHits(t, open(t), search("words", archive.Query{}))
}

func testSearchReplaced(t *testing.T, open Opener) {
	s := open(t)
	b := simple(mainID, project("tide"), "before", "constant")
	apply(t, s, b)
	b.Passages[0].Text = "afterwards"
	apply(t, s, after(b, b))
	wantHits(t, s, search("before", archive.Query{}))
	wantHits(t, s, search("afterwards", archive.Query{}), mainID+"/0")
	wantHits(t, s, search("constant", archive.Query{}), mainID+"/1")
}

func testSearchCopies(t *testing.T, open Opener) {
	s := open(t)
	main := mainBatch()
	fork := simple(forkID, project("tide"), "own words about the parser")
	fork.Session.Parent, fork.Session.Relation = mainID, archive.RelationFork
	fork.Turns[0].Index, fork.Passages[0].Turn = 1, 1
	fork.Turns[0].LineFrom, fork.Passages[0].LineFrom, fork.Passages[0].LineTo = 10, 10, 11
	fork.Turns = append(fork.Turns, archive.Turn{Session: forkID, Index: 0, LineFrom: 0, LineTo: 9, Copy: &archive.Ref{Session: mainID, Turn: 0, Step: -1}})
	fork.Steps = []archive.Step{{Session: forkID, Turn: 0, Index: 0, LineFrom: 6, LineTo: 9, Copy: &archive.Ref{Session: mainID, Turn: 0, Step: 1}}}
	apply(t, s, fork, main) // the owner may be stored later

	in := func(line int) archive.Query { return archive.Query{Sessions: []string{forkID}, BeforeLine: line} }
	wantHits(t, s, search("parser empty", in(0)), forkID+"/1", mainID+"/0", mainID+"/0.1")
	wantHits(t, s, search("exited", in(0))) // the owner's, and not shared
	wantHits(t, s, search("parser empty", in(6)), mainID+"/0")
	turns := got[[]archive.Turn](t)(s.Turns(t.Context(), archive.Span{Session: forkID}))
	equal(t, "copied turn", turns[0].Copy, &archive.Ref{Session: mainID, Turn: 0, Step: -1})
	equal(t, "own turn", turns[1].Copy, nil)
	steps := got[[]archive.Step](t)(s.Steps(t.Context(), archive.Span{Session: forkID}))
	equal(t, "copied step", steps[0].Copy, &archive.Ref{Session: mainID, Turn: 0, Step: 1})
}

func testSearchAgents(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), "explore the harbour"), agentBatch("explore the harbour"))
	wantHits(t, s, search("harbour", archive.Query{}), mainID+"/0")
	wantHits(t, s, search("harbour", archive.Query{Agents: true}), mainID+"/0", agentID+"/0")
	wantHits(t, s, search("harbour", archive.Query{Sessions: []string{agentID}}), agentID+"/0")
}

func testSearchBeforeLine(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, mainBatch())
	journal(t, s, summary("s", at(50), "parser summary"))
	at := func(line int) archive.Query { return archive.Query{Sessions: []string{mainID}, BeforeLine: line} }
	wantHits(t, s, search("parser exited", at(4)))
	wantHits(t, s, search("parser exited", at(5)), mainID+"/0.0")
	wantHits(t, s, search("parser exited", at(7)), mainID+"/0.0", mainID+"/0.1")
	wantHits(t, s, search("parser summary", at(0)), mainID+"/0.1", mainID+"/2", mainID)
}

// Passages that a query names are hits without its words, if they pass its filters.
func testSearchAlso(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(mainID, project("tide"), "the scheduler hangs", "two threads wait for each other", "nothing of it"))
	apply(t, s, simple(otherID, project("shop"), "two workers wait for each other"))
	ids := map[string]int64{}
	for _, h := range got[[]archive.Hit](t)(s.Search(t.Context(), search("scheduler threads workers", archive.Query{}))) {
		ids[h.Text] = h.ID
	}
	also := []int64{ids["two threads wait for each other"], ids["two workers wait for each other"], 1 << 60}
	for _, c := range []struct {
		name, words string
		q           archive.Query
		want        []string
	}{
		{"without a word", "scheduler", archive.Query{Also: also}, []string{mainID + "/0", mainID + "/1", otherID + "/0"}},
		{"beyond the limit", "scheduler", archive.Query{Also: also, Limit: 1}, []string{mainID + "/0", mainID + "/1", otherID + "/0"}},
		{"of another project", "scheduler", archive.Query{Also: also, Projects: []string{project("tide").Key}}, []string{mainID + "/0", mainID + "/1"}},
		{"without a required word", `"scheduler"`, archive.Query{Also: also}, []string{mainID + "/0"}},
		{"found by words as well", "threads scheduler", archive.Query{Also: also[:1]}, []string{mainID + "/0", mainID + "/1"}},
	} {
		have := handles(got[[]archive.Hit](t)(s.Search(t.Context(), search(c.words, c.q))))
		slices.Sort(have)
		if slices.Sort(c.want); !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, want %q", c.name, have, c.want)
		}
	}
}
