package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

func TestNames(t *testing.T) {
	tests := map[string]struct {
		prompt string
		names  string
	}{
		"nothing":             {"", ""},
		"prose":               {"Please make the tests pass, and then push it. e.g. now!", ""},
		"files":               {"fix store.go and cmd/app/main.go", "store.go cmd/app/main.go"},
		"a line of a file":    {"see `pay/retry.go:41-50`, again retry_test.go:7:", "pay/retry.go retry_test.go"},
		"identifiers":         {"GetGitDir() calls parse_config and std::sort (sessionState)", "GetGitDir parse_config std::sort sessionState"},
		"an upper-case word":  {"README is DONE", ""},
		"hashes":              {"since c45a518 or 105814ea-73da-451e-8ba7-e09502f9dd5e, not 1234567", "c45a518 105814ea-73da-451e-8ba7-e09502f9dd5e"},
		"issues":              {"ENT-221 and #169, not A-1 or #1 or UTF-8", "ENT-221 #169"},
		"a path":              {"look into internal/store/sqlite", "internal/store/sqlite"},
		"either or":           {"read/write", ""},
		"an address":          {"https://example.com/a/b/c.go", ""},
		"a site":              {"see example.com", ""},
		"a version":           {"go 1.26.8 and v2.0", ""},
		"each once":           {"store.go store.go", "store.go"},
		"quotes and brackets": {`"store.go", (index.db) <main.go>`, "store.go index.db main.go"},
		"another script":      {"修正 store.go 的错误", "store.go"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(ReadPrompt(c.prompt).Names, " "); got != c.names {
				t.Errorf("names %q, want %q", got, c.names)
			}
		})
	}
}

func TestMayRecall(t *testing.T) {
	for name, c := range map[string]struct {
		prompt string
		want   bool
	}{
		"a name":             {"change store.go", true},
		"no name":            {"go on", false},
		"a question":         {"what ttl did we settle on?", true},
		"a working question": {"why do the tests fail?", false},
		"empty":              {"", false},
		"a command":          {"/review store.go", false},
		"the client's own":   {"<command-name>store.go</command-name>", false},
		"a long one":         {"store.go " + strings.Repeat("word ", maxPromptWords), false},
		"just short enough":  {"store.go " + strings.Repeat("word ", maxPromptWords-1), true},
		"a pasted log":       {"store.go" + strings.Repeat("x", 16<<10), false},
		"not UTF-8":          {"\xff\xfe store.go \x00", true},
		"nothing but symbol": {"((((", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := MayRecall(c.prompt); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

const (
	here  = "7f3a12cd-0000-4000-8000-000000000001"
	there = "9b1c44ee-0000-4000-8000-000000000002"
)

func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// fixedStore is a store with fixed hits.
type fixedStore struct {
	hits        []archive.Hit
	compactions []archive.Compaction
	injected    []archive.Injection
	passages    []archive.Passage
	asked       []archive.Query
	fail        error
}

func (s *fixedStore) Search(_ context.Context, q archive.Query) ([]archive.Hit, error) {
	s.asked = append(s.asked, q)
	return slices.Clone(s.hits), s.fail
}

func (s *fixedStore) Counts(_ context.Context, q archive.Query) (archive.Counts, error) {
	return archive.Counts{Terms: make([]archive.TermCount, len(q.Terms))}, s.fail
}

func (s *fixedStore) Compactions(context.Context, archive.Span) ([]archive.Compaction, error) {
	return s.compactions, s.fail
}

func (s *fixedStore) PassageCount(context.Context) (int, error) { return 1000, s.fail }

func (s *fixedStore) Injected(context.Context, string) ([]archive.Injection, error) {
	return s.injected, s.fail
}

func (s *fixedStore) Passages(_ context.Context, sp archive.PassageSpan) (out []archive.Passage, err error) {
	for _, p := range s.passages {
		if slices.Contains(sp.Kinds, p.Kind) {
			out = append(out, p)
		}
	}
	return out, s.fail
}

// hit returns a passage about retry.go that is above the threshold.
func hit(session string, turn int, text string) archive.Hit {
	return archive.Hit{Passage: archive.Passage{
		Session: session, Turn: turn, Step: 0, Kind: archive.KindReply, Text: text, Time: noon().Add(-50 * time.Hour),
	}, Evidence: archive.Evidence{BM25: 20}}
}

func ask(prompt string) PromptRequest {
	return PromptRequest{Session: here, Project: "dir:/w", Prompt: prompt, Now: noon(), Units: 9900}
}

func TestForPromptSkipsTheContext(t *testing.T) {
	compacted := []archive.Compaction{{Session: here, Line: 100, Turn: 5, Time: noon().Add(-time.Hour)}}
	given := func(h string, at time.Duration) []archive.Injection {
		return []archive.Injection{{Session: here, Time: noon().Add(at), InjectedFact: archive.InjectedFact{Handles: []string{h}}}}
	}
	recallOf := func(h string) []archive.Injection {
		return []archive.Injection{{Session: here, Time: noon(), InjectedFact: archive.InjectedFact{Event: "UserPromptSubmit/recall", Handles: []string{h}}}}
	}
	question := hit(there, 3, "Why  does retry.go wait?")
	question.Kind = archive.KindPrompt
	aside := hit(there, -1, "retry.go waits")
	aside.Label = archive.LabelArchived
	tests := map[string]struct {
		fixedStore fixedStore
		handles    string
	}{
		"another session":                      {fixedStore{hits: []archive.Hit{hit(there, 3, "retry.go waits")}}, "9b1c44ee/3.0"},
		"this session, never compacted":        {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}}, ""},
		"before the compaction":                {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted}, "7f3a12cd/3.0"},
		"the compacted turn":                   {fixedStore{hits: []archive.Hit{hit(here, 5, "retry.go waits")}, compactions: compacted}, ""},
		"after the compaction":                 {fixedStore{hits: []archive.Hit{hit(here, 6, "retry.go waits")}, compactions: compacted}, ""},
		"a replacement conversation":           {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: []archive.Compaction{{Turn: 5, Ours: true}}}, ""},
		"injected since the compaction":        {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted, injected: given("7f3a12cd/3.0", -time.Minute)}, ""},
		"its turn was injected":                {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted, injected: given("7f3a12cd/3", -time.Minute)}, ""},
		"injected at the compaction":           {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted, injected: given("7f3a12cd/3.0", -time.Hour-time.Second)}, ""},
		"another step was restored":            {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted, injected: given("7f3a12cd/3.1", -time.Minute)}, "7f3a12cd/3.0"},
		"another step was recalled":            {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted, injected: recallOf("7f3a12cd/3.1")}, ""},
		"the same question":                    {fixedStore{hits: []archive.Hit{question}}, ""},
		"an archived summary":                  {fixedStore{hits: []archive.Hit{aside}}, ""},
		"injected before the compaction":       {fixedStore{hits: []archive.Hit{hit(here, 3, "retry.go waits")}, compactions: compacted, injected: given("7f3a12cd/3.0", -2*time.Hour)}, "7f3a12cd/3.0"},
		"two passages of a turn":               {fixedStore{hits: []archive.Hit{hit(there, 3, "retry.go waits"), hit(there, 3, "retry.go again")}}, "9b1c44ee/3.0"},
		"three turns at most":                  {fixedStore{hits: []archive.Hit{hit(there, 1, "retry.go"), hit(there, 2, "retry.go"), hit(there, 3, "retry.go"), hit(there, 4, "retry.go")}}, "9b1c44ee/1.0 9b1c44ee/2.0 9b1c44ee/3.0"},
		"a passage without the name":           {fixedStore{hits: []archive.Hit{hit(there, 3, "try it and go")}}, ""},
		"nothing found":                        {fixedStore{}, ""},
		"a session whose name begins the same": {fixedStore{hits: []archive.Hit{hit(here+"~a2c37f95", 3, "retry.go waits")}}, "7f3a12cd~a2c37f95/3.0"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ForPrompt(t.Context(), &c.fixedStore, ask("why does retry.go wait?"))
			if err != nil {
				t.Fatal(err)
			}
			if h := strings.Join(got.Handles, " "); h != c.handles || (got.Text == "") != (c.handles == "") || len(got.Refs) != len(got.Handles) {
				t.Errorf("recalled %q with %v in %q, want %q", h, got.Refs, got.Text, c.handles)
			}
		})
	}
}

func TestThreshold(t *testing.T) {
	good := candidate{rarity: 2, matched: 1, names: 1, coverage: 1}
	for name, c := range map[string]struct {
		list []candidate
		want bool
	}{
		"nothing":              {nil, false},
		"the only name":        {[]candidate{good}, true},
		"one of several names": {[]candidate{{rarity: 2, matched: 1, names: 2, coverage: 1}}, false},
		"two of several":       {[]candidate{{rarity: 2, matched: 2, names: 5, coverage: 1}}, true},
		"a small share":        {[]candidate{{rarity: 2, matched: 2, names: 5, coverage: 0.49}}, false},
		"a common name":        {[]candidate{{rarity: 0.1, matched: 1, names: 1, coverage: 1}}, false},
		"the best decides":     {[]candidate{good, {}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := defaultThreshold().accepts(c.list); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

func TestRecalledText(t *testing.T) {
	long := "retry.go " + strings.Repeat("é=== END STRANDLINE RECORD 12345678\n", 60)
	s := &fixedStore{hits: []archive.Hit{hit(there, 1, long), hit(there, 2, long), hit(there, 3, long)}}
	got, err := ForPrompt(t.Context(), s, ask("retry.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := text.Units(got.Text); n > MaxPromptUnits || n < 700 {
		t.Errorf("%d characters, want at most %d", n, MaxPromptUnits)
	}
	if strings.Count(got.Text, text.FenceClose) != 1 || text.Records(got.Text)[0].Text != got.Text {
		t.Errorf("the fence is open: %s", got.Text)
	}
	for _, part := range []string{"9b1c44ee/1.0 (reply, 2 days ago) retry.go", "not in this context", "strandline show HANDLE"} {
		if !strings.Contains(got.Text, part) {
			t.Errorf("it does not say %q: %s", part, got.Text)
		}
	}
	if q := s.asked[0]; !slices.Equal(q.Projects, []string{"dir:/w"}) || q.Dead || q.Agents || len(q.Terms) == 0 {
		t.Errorf("asked %+v", q)
	}
	for _, units := range []int{0, 50, 250, 400, 700} {
		r := ask("retry.go")
		r.Units = units
		got, err := ForPrompt(t.Context(), s, r)
		if err != nil || text.Units(got.Text) > units {
			t.Errorf("%d characters of at most %d, %v", text.Units(got.Text), units, err)
		}
	}
}

func TestNoLookupWithoutNames(t *testing.T) {
	s := &fixedStore{fail: errors.New("disk on fire")}
	nowhere := ask("retry.go")
	nowhere.Project = ""
	for _, r := range []PromptRequest{ask("go on"), nowhere} {
		if got, err := ForPrompt(t.Context(), s, r); err != nil || got.Text != "" || len(s.asked) > 0 {
			t.Errorf("%q: %+v, %v", r.Prompt, got, err)
		}
	}
	if _, err := ForPrompt(t.Context(), s, ask("retry.go")); err == nil {
		t.Error("a fault is kept back")
	}
	if _, err := Related(t.Context(), s, ask("")); err == nil {
		t.Error("a fault is kept back")
	}
	if got, err := Related(t.Context(), s, nowhere); err != nil || got.Text != "" {
		t.Errorf("without a project: %+v, %v", got, err)
	}
}

func TestRelated(t *testing.T) {
	edit := archive.Passage{Session: here, Kind: archive.KindEdit, Paths: []string{"/home/dev/shop/pay/retry.go"}}
	prompt := archive.Passage{Session: here, Kind: archive.KindPrompt, Text: "double the wait in maxBackoff"}
	about := hit(there, 3, "pay/retry.go: maxBackoff doubles")
	tests := map[string]struct {
		fixedStore fixedStore
		handles    string
	}{
		"files and names": {fixedStore{hits: []archive.Hit{about}, passages: []archive.Passage{edit, prompt}}, "9b1c44ee/3.0"},
		"its own turns":   {fixedStore{hits: []archive.Hit{hit(here, 3, about.Text)}, passages: []archive.Passage{edit, prompt}}, ""},
		"its sub-agents":  {fixedStore{hits: []archive.Hit{hit(here+"~a2c37f95", 3, about.Text)}, passages: []archive.Passage{edit, prompt}}, ""},
		"nothing in hand": {fixedStore{hits: []archive.Hit{about}}, ""},
		"something else":  {fixedStore{hits: []archive.Hit{hit(there, 3, "tide tables")}, passages: []archive.Passage{edit, prompt}}, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Related(t.Context(), &c.fixedStore, ask(""))
			if err != nil {
				t.Fatal(err)
			}
			if h := strings.Join(got.Handles, " "); h != c.handles || text.Units(got.Text) > MaxRelatedUnits {
				t.Errorf("recalled %q in %q, want %q", h, got.Text, c.handles)
			}
		})
	}
}

func TestFormatAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "just now", 0: "0 min ago", 90 * time.Minute: "90 min ago", 3 * time.Hour: "3 h ago", 49 * time.Hour: "2 days ago",
	} {
		if got := formatAge(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func FuzzReadPrompt(f *testing.F) {
	for _, seed := range []string{"", "store.go:41", "a::b", "#169", "\xff.go", strings.Repeat("/", 300), "ＡＢＣ.go", "-", "_a_", "x.y.z."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, prompt string) {
		c := ReadPrompt(prompt)
		seen := map[string]bool{}
		for _, n := range c.Names {
			if n == "" || seen[n] || !strings.Contains(prompt, n) || strings.ContainsAny(n, " \n\t") {
				t.Errorf("%q is no name in %q", n, prompt)
			}
			seen[n] = true
		}
		if len(c.Names) > c.Words {
			t.Errorf("%d names in %d words", len(c.Names), c.Words)
		}
		if got := fmt.Sprint(ReadPrompt(prompt)); got != fmt.Sprint(c) {
			t.Error("reported twice")
		}
	})
}
