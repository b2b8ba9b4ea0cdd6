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

// actor is a speaker that does what the test says.
type actor struct {
	name  string
	speak func(m Moment) (Speech, error)
	heard []Moment
}

func (a *actor) Name() string { return a.name }

func (a *actor) Speak(_ context.Context, m Moment) (Speech, error) {
	a.heard = append(a.heard, m)
	return a.speak(m)
}

func says(name, text string) *actor {
	return &actor{name: name, speak: func(Moment) (Speech, error) { return Speech{Text: text}, nil }}
}

// context is what the client would add to the conversation.
func (s *stage) context(t *testing.T) string {
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

func (s *stage) journaled(t *testing.T) []archive.JournalEntry {
	t.Helper()
	entries, _, err := s.Journal.Log.Read(t.Context(), sessionlog.JournalCursor{})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// counting counts how often the index is opened.
func (s *stage) counting() *int {
	n := 0
	s.OpenIndex = func(context.Context) (Index, error) { n++; return s.index, nil }
	return &n
}

func TestSpeakersSpeakInTheirOrder(t *testing.T) {
	s := newStage(t)
	s.Speakers = []Speaker{says("recall", "The port is 18443."), says("autopilot", ""), says("segments", "Two segments wait.")}
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "which port?"})
	s.quiet(t)
	if got, want := s.context(t), "The port is 18443.\n\nTwo segments wait."; got != want {
		t.Errorf("said %q, want %q", got, want)
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

func TestASpeakerHearsTheMoment(t *testing.T) {
	s := newStage(t)
	quiet := says("quiet", "")
	s.Speakers = []Speaker{quiet}
	s.transcript(t, "{\"a\":1}\n")
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "which port?"})
	s.quiet(t)
	if s.out.Len() > 0 {
		t.Errorf("said %q", s.out.String())
	}
	m := quiet.heard[0]
	if m.Event != "UserPromptSubmit" || m.Session != session || m.Cwd != "/w" || m.Prompt != "which port?" ||
		!m.Now.Equal(s.Now()) || m.Room != maxInjected || m.Added != 8 || m.Behind {
		t.Errorf("heard %+v", m)
	}
	s.send(t, "PostToolUse", map[string]string{"agent_id": "a2c37f95"})
	if m := quiet.heard[1]; m.Session != session+"~a2c37f95" || m.Added != 0 {
		t.Errorf("inside a sub-agent heard %+v", m)
	}
}

// A prompt that brings nothing new costs no database unless a speaker asks for
// it, and then it costs one.
func TestTheIndexIsOpenedForWhoAsks(t *testing.T) {
	for name, c := range map[string]struct {
		askers, want int
		new          bool
	}{
		"nobody asks":                  {0, 0, false},
		"one asks":                     {1, 1, false},
		"two ask":                      {2, 1, false},
		"there was something new":      {0, 1, true},
		"something new and two askers": {2, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			opened := s.counting()
			if c.new {
				s.transcript(t, "{\"a\":1}\n")
			}
			for range c.askers {
				s.Speakers = append(s.Speakers, &actor{name: "asker", speak: func(m Moment) (Speech, error) {
					idx, err := m.Index(t.Context())
					if idx != s.index {
						t.Errorf("got the index %v", idx)
					}
					return Speech{}, err
				}})
			}
			s.send(t, "UserPromptSubmit", nil)
			s.quiet(t)
			if *opened != c.want || s.index.closed != c.want {
				t.Errorf("opened %d times, closed %d times, want %d", *opened, s.index.closed, c.want)
			}
		})
	}
}

func TestAnIndexThatCannotBeOpenedIsTriedOnce(t *testing.T) {
	s := newStage(t)
	tried := 0
	s.OpenIndex = func(context.Context) (Index, error) { tried++; return nil, errors.New("locked") }
	asker := &actor{name: "asker", speak: func(m Moment) (Speech, error) {
		_, err := m.Index(t.Context())
		return Speech{}, err
	}}
	s.Speakers = []Speaker{asker, asker, says("autopilot", "52 %")}
	s.transcript(t, "{\"a\":1}\n")
	s.send(t, "UserPromptSubmit", nil)
	if tried != 1 || s.context(t) != "52 %" || !asker.heard[0].Behind {
		t.Errorf("tried %d times, said %q, heard %+v", tried, s.context(t), asker.heard[0])
	}
}

func TestAllShareOneCap(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n) }
	for name, c := range map[string]struct {
		first, second int
		want          int
		logged        string
	}{
		"all of it at once":          {maxInjected, 1, maxInjected, ""},
		"one after the other":        {5000, maxInjected - 5002, maxInjected, ""},
		"the second is too long":     {5000, maxInjected - 5001, 5000, "does not fit the 4898 that are left"},
		"the first is too long":      {maxInjected + 1, 7, 7, "does not fit"},
		"no room for a separator":    {maxInjected - 1, 1, maxInjected - 1, ""},
		"both are too long":          {maxInjected + 1, maxInjected + 1, 0, "does not fit"},
		"a short one after a silent": {0, 7, 7, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.Speakers = []Speaker{says("recall", long(c.first)), says("autopilot", long(c.second))}
			s.send(t, "UserPromptSubmit", nil)
			if got := len([]rune(s.context(t))); got != c.want {
				t.Errorf("said %d characters, want %d", got, c.want)
			}
			if got := s.logged.String(); (got == "") != (c.logged == "") || !strings.Contains(got, c.logged) {
				t.Errorf("logged %q, want %q", got, c.logged)
			}
		})
	}
}

func TestASpeakerThatFailsIsPassedOver(t *testing.T) {
	s := newStage(t)
	s.Speakers = []Speaker{
		&actor{name: "broken", speak: func(Moment) (Speech, error) { return Speech{Text: "half a"}, errors.New("torn state") }},
		says("autopilot", "52 %"),
	}
	s.send(t, "UserPromptSubmit", nil)
	if s.context(t) != "52 %" || !strings.Contains(s.logged.String(), "torn state") {
		t.Errorf("said %q, logged %q", s.context(t), s.logged.String())
	}
}

func TestWhatWasSaidIsConfirmedAndCounted(t *testing.T) {
	s := newStage(t)
	refs := []archive.Ref{{Session: "9b1c44ee-1", Turn: 3, Step: 1}}
	told := 0
	s.Speakers = []Speaker{
		&actor{name: "recall", speak: func(Moment) (Speech, error) {
			return Speech{
				Text: "The port is 18443.", Handles: []string{"9b1c44ee/3.1"}, Refs: refs, How: "recalled",
				Said: func(context.Context) error { told++; return nil },
			}, nil
		}},
		&actor{name: "unheard", speak: func(Moment) (Speech, error) {
			return Speech{Text: strings.Repeat("x", maxInjected), Said: func(context.Context) error { told += 100; return nil }}, nil
		}},
	}
	s.send(t, "UserPromptSubmit", nil)
	entries := s.journaled(t)
	if told != 1 || len(entries) != 2 || entries[1].Kind != archive.JournalAccess {
		t.Fatalf("told %d, journal %+v", told, entries)
	}
	var fact archive.AccessFact
	if err := json.Unmarshal(entries[1].Data, &fact); err != nil || !slices.Equal(fact.Refs, refs) || fact.How != "recalled" {
		t.Errorf("access %+v, %v", fact, err)
	}
}

func TestSpeakersAreAskedWhereTheClientTakesAnAddition(t *testing.T) {
	for event, want := range map[string]int{
		"UserPromptSubmit": 1, "PostToolUse": 1, "Stop": 1, "SessionStart": 1,
		"PreCompact": 0, "PostCompact": 0, "SubagentStop": 0, "StopFailure": 0, "SessionEnd": 0, "Unheard": 0,
	} {
		t.Run(event, func(t *testing.T) {
			s := newStage(t)
			a := says("autopilot", "52 %")
			s.Speakers = []Speaker{a}
			s.send(t, event, nil)
			if len(a.heard) != want || strings.Contains(s.out.String(), "52 %") != (want > 0) {
				t.Errorf("asked %d times, want %d; said %q", len(a.heard), want, s.out.String())
			}
		})
	}
}

// The block after a compaction stands first; who speaks behind it has what room
// it leaves.
func TestSpeakersFollowTheRestoredBlock(t *testing.T) {
	s := newStage(t)
	s.index.passages = []archive.Passage{{Session: session, Step: -1, Kind: archive.KindPrompt, Text: "Fix the retry of the payment client", LineTo: 1}}
	a := says("autopilot", "52 %")
	s.Speakers = []Speaker{a}
	s.transcript(t, "{\"a\":1}\n")
	s.send(t, "SessionStart", map[string]string{"source": "compact"})
	s.quiet(t)
	block, rest, found := strings.Cut(s.context(t), "\n\n52 %")
	if !found || rest != "" || !strings.Contains(block, "Fix the retry") {
		t.Errorf("said %q", s.context(t))
	}
	if got, want := a.heard[0].Room, maxInjected-len([]rune(block))-2; got != want {
		t.Errorf("room for %d characters, want %d", got, want)
	}
}

func TestNobodySpeaksWhileNothingIsRecorded(t *testing.T) {
	s := newStage(t)
	a := says("autopilot", "52 %")
	s.Speakers, s.Config.Capture.Enabled = []Speaker{a}, false
	s.send(t, "UserPromptSubmit", nil)
	if len(a.heard) > 0 || s.out.Len() > 0 {
		t.Errorf("asked %d times, said %q", len(a.heard), s.out.String())
	}
}
