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

// hitIndex is an index whose searches return fixed hits.
type hitIndex struct {
	*fakeIndex
	hits []archive.Hit
}

func (k hitIndex) Search(context.Context, archive.Query) ([]archive.Hit, error) {
	return k.hits, k.fail
}

func (k hitIndex) Counts(_ context.Context, q archive.Query) (archive.Counts, error) {
	return archive.Counts{Terms: make([]archive.TermCount, len(q.Terms))}, k.fail
}

func (k hitIndex) PassageCount(context.Context) (int, error) { return 1000, k.fail }

func (k hitIndex) Injected(context.Context, string) ([]archive.Injection, error) { return nil, k.fail }

func (s *fixture) withHit(text string) *int {
	n := 0
	s.Injectors = []Injector{Recall(
		func(dir string) archive.Project { return archive.Project{Key: "dir:" + dir} },
		func(text string) string { return strings.ReplaceAll(text, "sk-hidden", "[secret]") },
	)}
	hit := archive.Hit{Evidence: archive.Evidence{BM25: 20}, Passage: archive.Passage{
		Session: "9b1c44ee-1", Turn: 3, Step: 1, Kind: archive.KindReply, Text: text, Time: s.Now().Add(-time.Hour),
	}}
	s.OpenIndex = func(context.Context, bool) (*Index, error) {
		n++
		return whole(hitIndex{s.index, []archive.Hit{hit}}), nil
	}
	return &n
}

func TestRecallAddsPassages(t *testing.T) {
	s := newFixture(t)
	opened := s.withHit("retry.go waits 4500 ms, key sk-hidden")
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "why does retry.go wait?"})
	s.quiet(t)
	got := s.context(t)
	if !strings.Contains(got, "retry.go waits 4500 ms, key [secret]") || !strings.Contains(got, "9b1c44ee/3.1") {
		t.Errorf("response %q", got)
	}
	if *opened != 1 || s.index.closed != 1 {
		t.Errorf("opened %d times, closed %d times", *opened, s.index.closed)
	}
	entries := s.journaled(t)
	if len(entries) != 2 || entries[0].Kind != archive.JournalInjected || entries[1].Kind != archive.JournalAccess {
		t.Fatalf("journal %+v", entries)
	}
	var fact archive.InjectedFact
	if err := json.Unmarshal(entries[0].Data, &fact); err != nil || fact.Event != "UserPromptSubmit/recall" || strings.Join(fact.Handles, " ") != "9b1c44ee/3.1" {
		t.Errorf("journal %+v, %v", fact, err)
	}
}

// Recall does not open the index at a prompt without names or at other events.
func TestRecallWithoutNamesOpensNoIndex(t *testing.T) {
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
			s := newFixture(t)
			opened := s.withHit("retry.go waits")
			s.send(t, c.event, c.fields)
			s.quiet(t)
			if s.out.Len() > 0 || *opened > 0 {
				t.Errorf("response %q, opened the index %d times", s.out.String(), *opened)
			}
		})
	}
}

func TestRecallAddsOtherSessionsAfterACompaction(t *testing.T) {
	for source, want := range map[string]bool{"compact": true, "startup": false, "resume": false} {
		s := newFixture(t)
		s.withHit("pay/retry.go: maxBackoff doubles")
		s.index.passages = []archive.Passage{
			{Session: session, Kind: archive.KindEdit, Paths: []string{"/w/pay/retry.go"}, Text: "maxBackoff", LineTo: 1},
			{Session: session, Step: -1, Kind: archive.KindPrompt, Text: "double maxBackoff", LineTo: 1},
		}
		s.send(t, "SessionStart", map[string]string{"source": source})
		if got := strings.Contains(s.out.String(), "9b1c44ee/3.1"); got != want {
			t.Errorf("%s: another session's passage: %t, want %t; %s", source, got, want, s.out.String())
		}
	}
}

func TestRecallErrorIsLogged(t *testing.T) {
	s := newFixture(t)
	s.withHit("retry.go waits")
	s.OpenIndex = func(context.Context, bool) (*Index, error) { return nil, errors.New("locked") }
	s.send(t, "UserPromptSubmit", map[string]string{"prompt": "why does retry.go wait?"})
	if s.out.Len() > 0 || !strings.Contains(s.logged.String(), "locked") {
		t.Errorf("response %q, logged %q", s.out.String(), s.logged.String())
	}
}
