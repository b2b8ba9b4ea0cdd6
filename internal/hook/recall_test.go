package hook

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

// known is an index that holds a passage of another session.
type known struct {
	*fakeIndex
	hits []archive.Hit
}

func (k known) Search(context.Context, archive.Query) ([]archive.Hit, error) { return k.hits, k.fail }

func (k known) PassageCount(context.Context) (int, error) { return 1000, k.fail }

func (k known) Injected(context.Context, string) ([]archive.Injection, error) { return nil, k.fail }

func (s *stage) remembers(text string) *int {
	n := 0
	s.Speakers = []Speaker{Unasked(
		func(dir string) archive.Project { return archive.Project{Key: "dir:" + dir} },
		func(text string) string { return strings.ReplaceAll(text, "sk-hidden", "[secret]") },
	)}
	hit := archive.Hit{Evidence: archive.Evidence{BM25: 20}, Passage: archive.Passage{
		Session: "9b1c44ee-1", Turn: 3, Step: 1, Kind: archive.KindReply, Text: text, Time: s.Now().Add(-time.Hour),
	}}
	s.OpenIndex = func(context.Context) (Index, error) {
		n++
		return known{s.index, []archive.Hit{hit}}, nil
	}
	return &n
}

func TestRecallSpeaksUnasked(t *testing.T) {
	s := newStage(t)
	opened := s.remembers("retry.go waits 4500 ms, key sk-hidden")
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "why does retry.go wait?"})
	s.quiet(t)
	said := s.context(t)
	if !strings.Contains(said, "retry.go waits 4500 ms, key [secret]") || !strings.Contains(said, "9b1c44ee/3.1") {
		t.Errorf("said %q", said)
	}
	if *opened != 1 || s.index.closed != 1 {
		t.Errorf("opened %d times, closed %d times", *opened, s.index.closed)
	}
	entries := s.journaled(t)
	if len(entries) != 2 || entries[0].Kind != archive.JournalInjected || entries[1].Kind != archive.JournalAccess {
		t.Fatalf("journal %+v", entries)
	}
	var told archive.InjectedFact
	if err := json.Unmarshal(entries[0].Data, &told); err != nil || told.Event != "UserPromptSubmit/recall" || strings.Join(told.Handles, " ") != "9b1c44ee/3.1" {
		t.Errorf("noted %+v, %v", told, err)
	}
}

// A prompt that names nothing costs no index, and no other event does.
func TestRecallIsSilentAtNoCost(t *testing.T) {
	for name, c := range map[string]struct {
		event  string
		fields map[string]string
	}{
		"a prompt without a name": {"UserPromptSubmit", map[string]string{"prompt": "yes, go on"}},
		"a command":               {"UserPromptSubmit", map[string]string{"prompt": "/review retry.go"}},
		"no prompt":               {"UserPromptSubmit", nil},
		"after a tool":            {"PostToolUse", map[string]string{"prompt": "retry.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			opened := s.remembers("retry.go waits")
			s.send(t, c.event, c.fields)
			s.quiet(t)
			if s.out.Len() > 0 || *opened > 0 {
				t.Errorf("said %q, opened the index %d times", s.out.String(), *opened)
			}
		})
	}
}

func TestRecallAddsOtherSessionsAfterACompaction(t *testing.T) {
	for source, want := range map[string]bool{"compact": true, "startup": false, "resume": false} {
		s := newStage(t)
		s.remembers("pay/retry.go: maxBackoff doubles")
		s.index.passages = []archive.Passage{
			{Session: session, Kind: archive.KindEdit, Paths: []string{"/w/pay/retry.go"}, Text: "maxBackoff", LineTo: 1},
			{Session: session, Step: -1, Kind: archive.KindPrompt, Text: "double maxBackoff", LineTo: 1},
		}
		s.send(t, "SessionStart", map[string]string{"source": source})
		if got := strings.Contains(s.out.String(), "9b1c44ee/3.1"); got != want {
			t.Errorf("%s: told of another session: %t, want %t; %s", source, got, want, s.out.String())
		}
	}
}

func TestRecallThatFailsIsLogged(t *testing.T) {
	s := newStage(t)
	s.remembers("retry.go waits")
	s.OpenIndex = func(context.Context) (Index, error) { return nil, errors.New("locked") }
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "why does retry.go wait?"})
	if s.out.Len() > 0 || !strings.Contains(s.logged.String(), "locked") {
		t.Errorf("said %q, logged %q", s.out.String(), s.logged.String())
	}
}
