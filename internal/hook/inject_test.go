package hook

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// fakeInjector calls a function and records its events.
type fakeInjector struct {
	name   string
	inject func(e Event) (Injection, error)
	events []Event
}

func fakes(list ...*fakeInjector) (out []Injector) {
	for _, a := range list {
		out = append(out, Injector{Name: a.name, Inject: func(_ context.Context, e Event) (Injection, error) {
			a.events = append(a.events, e)
			return a.inject(e)
		}})
	}
	return out
}

func fixed(name, text string) *fakeInjector {
	return &fakeInjector{name: name, inject: func(Event) (Injection, error) { return Injection{Text: text}, nil }}
}

// context returns what the client would add to the conversation.
func (s *fixture) context(t *testing.T) string {
	t.Helper()
	if s.out.Len() == 0 {
		return ""
	}
	var got struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
	}
	if err := json.Unmarshal(s.out.Bytes(), &got); err != nil {
		t.Fatalf("%v in %q", err, s.out.String())
	}
	return got.HookSpecificOutput.AdditionalContext
}

func (s *fixture) journaled(t *testing.T) []archive.JournalEntry {
	t.Helper()
	entries, _, err := s.Journal.Log.Read(t.Context(), sessionlog.JournalCursor{})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// counting returns a counter of the index's openings.
func (s *fixture) counting() *int {
	n := 0
	s.OpenIndex = func(context.Context, bool) (*Index, error) { n++; return whole(s.index), nil }
	return &n
}

func TestInjectionsKeepTheirOrder(t *testing.T) {
	s := newFixture(t)
	s.Injectors = fakes(fixed("recall", "The port is 18443."), fixed("autopilot", ""), fixed("segments", "Two segments wait."))
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "which port?"})
	s.quiet(t)
	if got, want := s.context(t), "The port is 18443.\n\nTwo segments wait."; got != want {
		t.Errorf("response %q, want %q", got, want)
	}
	var events []string
	for _, e := range s.journaled(t) {
		var fact archive.InjectedFact
		if err := json.Unmarshal(e.Data, &fact); err != nil || fact.Chars != 18 {
			t.Errorf("%s, %v", e.Data, err)
		}
		events = append(events, fact.Event)
	}
	if want := []string{"UserPromptSubmit/recall", "UserPromptSubmit/segments"}; !slices.Equal(events, want) {
		t.Errorf("journal %v, want %v", events, want)
	}
}

func TestInjectorGetsTheEvent(t *testing.T) {
	s := newFixture(t)
	quiet := fixed("quiet", "")
	s.Injectors = fakes(quiet)
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "which port?"})
	s.quiet(t)
	if s.out.Len() > 0 {
		t.Errorf("response %q", s.out.String())
	}
	e := quiet.events[0]
	if e.Name != "UserPromptSubmit" || e.Session != session || e.Cwd != "/w" || e.Prompt != "which port?" ||
		!e.Now.Equal(s.Now()) || e.Budget != maxInjected {
		t.Errorf("event %+v", e)
	}
	s.send(t, "PostToolUse", map[string]string{"agent_id": "a2c37f95"})
	if e := quiet.events[1]; e.Session != session+"~a2c37f95" {
		t.Errorf("inside a sub-agent: event %+v", e)
	}
}

// A prompt opens the index only if an injector uses it, and then once. New transcript bytes
// are logged and left to a catch-up.
func TestIndexIsOpenedOnDemand(t *testing.T) {
	for name, c := range map[string]struct {
		users, want int
		new         bool
	}{
		"no user":                 {0, 0, false},
		"one user":                {1, 1, false},
		"two users":               {2, 1, false},
		"new bytes":               {0, 0, true},
		"new bytes and two users": {2, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			opened := s.counting()
			if c.new {
				s.transcript(t, "{\"type\":\"mode\"}\n")
			}
			for range c.users {
				s.Injectors = append(s.Injectors, fakes(&fakeInjector{name: "user", inject: func(e Event) (Injection, error) {
					idx, err := e.Index(t.Context())
					if idx.Store != s.index {
						t.Errorf("got the index %v", idx)
					}
					return Injection{}, err
				}})...)
			}
			s.send(t, "UserPromptSubmit", nil)
			s.quiet(t)
			if s.Pending.Any() != c.new || len(s.detached) > 0 != c.new {
				t.Errorf("pending %t, detached %q", s.Pending.Any(), s.detached)
			}
			if *opened != c.want || s.index.closed != c.want {
				t.Errorf("opened %d times, closed %d times, want %d", *opened, s.index.closed, c.want)
			}
		})
	}
}

func TestOpeningTheIndexIsTriedOnce(t *testing.T) {
	s := newFixture(t)
	tried := 0
	s.OpenIndex = func(context.Context, bool) (*Index, error) { tried++; return nil, errors.New("locked") }
	user := &fakeInjector{name: "user", inject: func(e Event) (Injection, error) {
		_, err := e.Index(t.Context())
		return Injection{}, err
	}}
	s.Injectors = fakes(user, user, fixed("autopilot", "52 %"))
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "UserPromptSubmit", nil)
	if tried != 1 || s.context(t) != "52 %" {
		t.Errorf("tried %d times, response %q", tried, s.context(t))
	}
}

func TestInjectionsShareOneLimit(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	for name, c := range map[string]struct {
		first, second int
		want          int
		logged        string
	}{
		"exactly the limit":        {maxInjected, 1, maxInjected, ""},
		"two that fit":             {5000, maxInjected - 5002, maxInjected, ""},
		"the second is too long":   {5000, maxInjected - 5001, 5000, "does not fit the 4898 that are left"},
		"the first is too long":    {maxInjected + 1, 7, 7, "does not fit"},
		"no space for a separator": {maxInjected - 1, 1, maxInjected - 1, ""},
		"both are too long":        {maxInjected + 1, maxInjected + 1, 0, "does not fit"},
		"one after an empty one":   {0, 7, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.Injectors = fakes(fixed("recall", long(c.first)), fixed("autopilot", long(c.second)))
			s.send(t, "UserPromptSubmit", nil)
			if got := len([]rune(s.context(t))); got != c.want {
				t.Errorf("response of %d characters, want %d", got, c.want)
			}
			if got := s.logged.String(); (got == "") != (c.logged == "") || !strings.Contains(got, c.logged) {
				t.Errorf("logged %q, want %q", got, c.logged)
			}
		})
	}
}

func TestFailedInjectorIsSkipped(t *testing.T) {
	s := newFixture(t)
	s.Injectors = fakes(
		&fakeInjector{name: "broken", inject: func(Event) (Injection, error) { return Injection{Text: "half a"}, errors.New("torn state") }},
		fixed("autopilot", "52 %"),
	)
	s.send(t, "UserPromptSubmit", nil)
	if s.context(t) != "52 %" || !strings.Contains(s.logged.String(), "torn state") {
		t.Errorf("response %q, logged %q", s.context(t), s.logged.String())
	}
}

func TestInjectionIsConfirmedAndJournaled(t *testing.T) {
	s := newFixture(t)
	refs := []archive.Ref{{Session: "9b1c44ee-1", Turn: 3, Step: 1}}
	done := 0
	s.Injectors = fakes(
		&fakeInjector{name: "recall", inject: func(Event) (Injection, error) {
			return Injection{
				Text: "The port is 18443.", Handles: []string{"9b1c44ee/3.1"}, Refs: refs, How: "recalled",
				Done: func(context.Context) error { done++; return nil },
			}, nil
		}},
		&fakeInjector{name: "dropped", inject: func(Event) (Injection, error) {
			return Injection{Text: strings.Repeat("x", maxInjected), Done: func(context.Context) error { done += 100; return nil }}, nil
		}},
	)
	s.send(t, "UserPromptSubmit", nil)
	entries := s.journaled(t)
	if done != 1 || len(entries) != 2 || entries[1].Kind != archive.JournalAccess {
		t.Fatalf("confirmed %d times, journal %+v", done, entries)
	}
	var fact archive.AccessFact
	if err := json.Unmarshal(entries[1].Data, &fact); err != nil || !slices.Equal(fact.Refs, refs) || fact.How != "recalled" {
		t.Errorf("access %+v, %v", fact, err)
	}
}

func TestInjectorsRunOnlyWhereTheClientTakesContext(t *testing.T) {
	for event, want := range map[string]int{
		"UserPromptSubmit": 1, "PostToolUse": 1, "Stop": 1, "SessionStart": 1,
		"PreCompact": 0, "PostCompact": 0, "SubagentStop": 0, "StopFailure": 0, "SessionEnd": 0, "Unknown": 0,
	} {
		t.Run(event, func(t *testing.T) {
			s := newFixture(t)
			a := fixed("autopilot", "52 %")
			s.Injectors = fakes(a)
			s.send(t, event, nil)
			if len(a.events) != want || strings.Contains(s.out.String(), "52 %") != (want > 0) {
				t.Errorf("called %d times, want %d; response %q", len(a.events), want, s.out.String())
			}
		})
	}
}

// The restored context precedes all injections and reduces their budget.
func TestInjectionsFollowTheRestoredContext(t *testing.T) {
	s := newFixture(t)
	s.index.passages = []archive.Passage{{Session: session, Step: -1, Kind: archive.KindPrompt, Text: "Fix the retry of the payment client", LineTo: 1}}
	a := fixed("autopilot", "52 %")
	s.Injectors = fakes(a)
	s.transcript(t, "{\"type\":\"mode\"}\n")
	s.send(t, "SessionStart", map[string]string{"source": "compact"})
	s.quiet(t)
	block, rest, found := strings.Cut(s.context(t), "\n\n52 %")
	if !found || rest != "" || !strings.Contains(block, "Fix the retry") {
		t.Errorf("response %q", s.context(t))
	}
	if got, want := a.events[0].Budget, maxInjected-len([]rune(block))-2; got != want {
		t.Errorf("budget %d, want %d", got, want)
	}
}

func TestNoInjectionsWhileCaptureIsDisabled(t *testing.T) {
	s := newFixture(t)
	a := fixed("autopilot", "52 %")
	s.Injectors, s.Config.Capture.Enabled = fakes(a), false
	s.send(t, "UserPromptSubmit", nil)
	if len(a.events) > 0 || s.out.Len() > 0 {
		t.Errorf("called %d times, response %q", len(a.events), s.out.String())
	}
}
