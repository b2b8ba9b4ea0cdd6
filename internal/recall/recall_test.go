package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// newRecall returns a Recall that ranks by words only, with predictable scores.
func newRecall(s *store) *recall.Recall {
	return recall.New(s, func() time.Time { return now }, nil)
}

func mustSearch(t *testing.T, s *store, req recall.Request) recall.Result {
	t.Helper()
	res, err := newRecall(s).Search(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func handles(hits []recall.Hit) string {
	var hs []string
	for _, h := range hits {
		hs = append(hs, h.Handle)
	}
	return strings.Join(hs, " ")
}

func parsed(t *testing.T, q string) recall.Request {
	t.Helper()
	req, err := recall.Parse(q, now)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func TestSearchJSON(t *testing.T) {
	p := said(alpha, 12, 3, "the retry policy gives up after five attempts")
	p.Time = time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)
	got, err := json.Marshal(mustSearch(t, newStore(p), recall.Request{Query: "retry", Text: "retry"}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"query":"retry","took_ms":0,"hits":[{"handle":"aaaaaaaa/12.3","session":"aaaaaaaa-1111","project":"p",` +
		`"kind":"reply","time":"2026-11-19T08:00:00Z","line_from":123,"line_to":124,"score":1.1485,` +
		`"text":"the retry policy gives up after five attempts"}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	none, _ := json.Marshal(mustSearch(t, newStore(p), recall.Request{Query: "zzz", Text: "zzz"}))
	if want := `{"query":"zzz","took_ms":0,"hits":[]}`; string(none) != want {
		t.Errorf("no hits: got %s, want %s", none, want)
	}
}

func TestSearchFoldsCopies(t *testing.T) {
	tests := []struct {
		name, want string
		passages   []archive.Passage
	}{
		{"case, blanks and punctuation make no difference", "aaaaaaaa/2.0", []archive.Passage{
			said(alpha, 1, 0, "Fixed the retry policy."), said(alpha, 2, 0, "fixed  the retry\npolicy"),
		}},
		{"numbers do", "aaaaaaaa/2.0 aaaaaaaa/1.0", []archive.Passage{
			said(alpha, 1, 0, "retry got 404"), said(alpha, 2, 0, "retry got 500"),
		}},
		{"the main session represents its agent, though it is older", "aaaaaaaa/1.0", []archive.Passage{
			said(agent, 5, 0, "the retry policy is wrong"), said(alpha, 1, 0, "the retry policy is wrong"),
		}},
		{"the newest represents the others", "bbbbbbbb/9.0", []archive.Passage{
			said(alpha, 1, 0, "the retry policy"), said(beta, 9, 0, "the retry policy"), said(alpha, 3, 0, "the retry policy"),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := mustSearch(t, newStore(tt.passages...), recall.Request{Text: "retry", Agents: true})
			if got := handles(res.Hits); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			folded := len(tt.passages) - len(res.Hits)
			if got := res.Hits[0].Copies; got != folded {
				t.Errorf("the hit has %d copies, want %d", got, folded)
			}
		})
	}
}

func TestSearchSpreadsOverSteps(t *testing.T) {
	second := said(alpha, 1, 0, "retry policy, more of it")
	second.Seq = 1
	res := mustSearch(t, newStore(
		said(alpha, 1, 0, "retry policy"), second, said(alpha, 2, 0, "retry"),
	), recall.Request{Text: "retry policy"})
	if got, want := handles(res.Hits), "aaaaaaaa/1.0 aaaaaaaa/2.0 aaaaaaaa/1.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for i := 1; i < len(res.Hits); i++ {
		if res.Hits[i].Score > res.Hits[i-1].Score {
			t.Errorf("hit %d has a higher score than the previous hit", i)
		}
	}
}

func TestSearchPutsAgentsBelowTheMainSession(t *testing.T) {
	s := newStore(said(agent, 9, 0, "retry in the helper"), said(alpha, 1, 0, "retry in the main line"))
	if got, want := handles(mustSearch(t, s, recall.Request{Text: "retry", Agents: true}).Hits), "aaaaaaaa/1.0 aaaaaaaa~cccccccc/9.0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := handles(mustSearch(t, s, recall.Request{Text: "retry"}).Hits), "aaaaaaaa/1.0"; got != want {
		t.Errorf("without agents: got %s, want %s", got, want)
	}
}

func TestSearchMatchesPhrases(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "the exit status and its code"), said(alpha, 2, 0, "the Exit\n  code is 1"))
	res := mustSearch(t, s, parsed(t, `"exit code"`))
	if got := handles(res.Hits); got != "aaaaaaaa/2.0" || res.Relaxed != "" {
		t.Errorf("got %s, relaxed %q", got, res.Relaxed)
	}
	s = newStore(said(alpha, 1, 0, "the exit status and its code"))
	res = mustSearch(t, s, parsed(t, `"exit code"`))
	if got := handles(res.Hits); got != "aaaaaaaa/1.0" || res.Relaxed != recall.RelaxedPhrase {
		t.Errorf("words apart: got %s, relaxed %q", got, res.Relaxed)
	}
}

func TestSearchFallsBackToPrefixes(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "authentication failed"))
	res := mustSearch(t, s, recall.Request{Text: "authent"})
	if got := handles(res.Hits); got != "aaaaaaaa/1.0" || res.Relaxed != recall.RelaxedPrefix {
		t.Errorf("got %s, relaxed %q", got, res.Relaxed)
	}
	if res := mustSearch(t, s, recall.Request{Text: "au"}); len(res.Hits) != 0 {
		t.Errorf("two letters match as a beginning: %s", handles(res.Hits))
	}
	if res := mustSearch(t, s, recall.Request{Text: "authentication"}); res.Relaxed != "" {
		t.Errorf("an exact match was relaxed: %s", res.Relaxed)
	}
}

func TestSearchKeepsFiltersWhenItRelaxes(t *testing.T) {
	s := newStore(said(beta, 1, 0, "authentication failed"))
	for _, req := range []recall.Request{
		{Text: "authent", Kinds: []archive.PassageKind{archive.KindPrompt}},
		{Text: "authent", Since: now},
		{Text: "authent", Projects: []string{"dir:/p"}},
		{Text: "authent", Files: []string{"x.go"}},
	} {
		if res := mustSearch(t, s, req); len(res.Hits) != 0 {
			t.Errorf("%+v: a filter was given up", req)
		}
	}
}

func TestSearchReportsOtherProjects(t *testing.T) {
	s := newStore(said(beta, 1, 0, "authentication failed"))
	if res := mustSearch(t, s, recall.Request{Text: "authentication", Projects: []string{"dir:/p"}}); !res.Elsewhere || len(res.Hits) != 0 {
		t.Errorf("got %+v", res)
	}
	if res := mustSearch(t, s, recall.Request{Text: "zebra", Projects: []string{"dir:/p"}}); res.Elsewhere {
		t.Error("nothing is elsewhere either")
	}
	if res := mustSearch(t, s, recall.Request{Text: "authentication", Projects: []string{"dir:/q"}}); res.Elsewhere || res.Hits[0].Project != "dir:/q" {
		t.Errorf("got %+v", res)
	}
}

func TestSearchReportsFilteredHits(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "the parser"), said(alpha+"~cccccccc", 0, 0, "the lexer"), said(alpha, 2, 0, "the grammar"))
	s.dead = map[int]bool{2: true}
	for _, tt := range []struct {
		req               recall.Request
		hits              int
		inAgents, rewound bool
	}{
		{recall.Request{Text: "parser"}, 1, false, false},
		{recall.Request{Text: "lexer"}, 0, true, false},
		{recall.Request{Text: "lexer", Agents: true}, 1, false, false},
		{recall.Request{Text: "grammar"}, 0, false, true},
		{recall.Request{Text: "grammar", Dead: true}, 1, false, false},
		{recall.Request{Text: "zebra"}, 0, false, false},
	} {
		res := mustSearch(t, s, tt.req)
		if len(res.Hits) != tt.hits || res.InAgents != tt.inAgents || res.Rewound != tt.rewound {
			t.Errorf("%+v: %d hits, in agents %v, rewound %v", tt.req, len(res.Hits), res.InAgents, res.Rewound)
		}
	}
}

func TestSearchByFile(t *testing.T) {
	a, b := said(alpha, 1, 0, "lock the file"), said(alpha, 2, 0, "lock the file as well")
	a.Paths, b.Paths = []string{"/w/internal/store/lock.go"}, []string{"/w/cmd/lock.go"}
	s := newStore(a, b)
	tests := []struct{ q, want string }{
		{"lock file:store/lock.go", "aaaaaaaa/1.0"},
		{"lock file:LOCK.GO", "aaaaaaaa/2.0 aaaaaaaa/1.0"},
		{`lock file:store\lock.go`, "aaaaaaaa/1.0"},
		{"file:cmd/lock.go", "aaaaaaaa/2.0"},
		{"file:cmd/lock.go,store/lock.go", "aaaaaaaa/2.0 aaaaaaaa/1.0"},
		{"lock file:other.go", ""},
	}
	for _, tt := range tests {
		if got := handles(mustSearch(t, s, parsed(t, tt.q)).Hits); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.q, got, tt.want)
		}
	}
}

func TestSearchInOneSession(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "retry one"), said(alpha, 1, 2, "retry two"), said(alpha, 3, 0, "retry three"), said(beta, 1, 0, "retry four"))
	tests := []struct{ session, want string }{
		{"aaaaaaaa", "aaaaaaaa/3.0 aaaaaaaa/1.0 aaaaaaaa/1.2"},
		{"aaaaaaaa/1", "aaaaaaaa/1.0 aaaaaaaa/1.2"},
		{"aaaaaaaa/1.2", "aaaaaaaa/1.2"},
		{"bbbb", "bbbbbbbb/1.0"},
	}
	for _, tt := range tests {
		res := mustSearch(t, s, recall.Request{Text: "retry", Session: tt.session, Projects: []string{"dir:/p"}})
		if got := handles(res.Hits); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.session, got, tt.want)
		}
	}
	_, err := newRecall(s).Search(context.Background(), recall.Request{Text: "retry", Session: "ffff"})
	wantCode(t, err, archive.CodeNotFound)
	_, err = newRecall(s).Search(context.Background(), recall.Request{Text: "retry", Session: "a/b"})
	wantCode(t, err, archive.CodeInvalid)
}

func TestSearchNeedsWords(t *testing.T) {
	for _, text := range []string{"", "   ", `""`, "🙂", "?!", "kind:prompt"} {
		req := parsed(t, text)
		_, err := newRecall(newStore()).Search(context.Background(), req)
		wantCode(t, err, archive.CodeInvalid)
	}
}

func TestSearchLimitsTheStoreQuery(t *testing.T) {
	s := newStore(said(alpha, 1, 0, "word"))
	huge := strings.Repeat("word ", 100_000)
	mustSearch(t, s, recall.Request{Text: huge, Limit: 1 << 30})
	q := s.queries[0]
	if q.Limit > recall.MaxLimit*20 || len(q.Terms) > 64 {
		t.Errorf("asked for %d hits with %d terms", q.Limit, len(q.Terms))
	}
}

func TestSearchLimit(t *testing.T) {
	var ps []archive.Passage
	for i := range 30 {
		ps = append(ps, said(alpha, i, 0, "retry number "+strings.Repeat("x", i+1)))
	}
	if got := len(mustSearch(t, newStore(ps...), recall.Request{Text: "retry"}).Hits); got != recall.DefaultLimit {
		t.Errorf("default: %d hits", got)
	}
	if got := len(mustSearch(t, newStore(ps...), recall.Request{Text: "retry", Limit: 3}).Hits); got != 3 {
		t.Errorf("limit 3: %d hits", got)
	}
}

func TestSearchReturnsErrors(t *testing.T) {
	s := newStore()
	s.err = &archive.Error{Code: archive.CodeBusy, Msg: "the index is locked"}
	_, err := newRecall(s).Search(context.Background(), recall.Request{Text: "x"})
	if !errors.Is(err, s.err) {
		t.Errorf("got %v", err)
	}
}
