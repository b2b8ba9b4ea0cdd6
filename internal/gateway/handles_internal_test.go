package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

func TestHandleCache(t *testing.T) {
	archived := map[string]string{"a": "1/0"}
	var lookups []string
	s := handleCache{find: func(_ context.Context, session string, ids []string) (map[string]string, error) {
		lookups = append(lookups, session+":"+strings.Join(ids, ","))
		return archived, nil
	}}
	find := func(ids ...string) string {
		t.Helper()
		found, final, err := s.lookup(t.Context(), "s", ids)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(found, final)
	}
	if got := find("a", "b"); got != "map[a:1/0] false" {
		t.Errorf("first lookup: %s", got)
	}
	archived["b"] = "1/1"
	if got := find("a", "b"); got != "map[a:1/0 b:1/1] true" {
		t.Errorf("after it was archived: %s", got)
	}
	archived = nil
	if got := find("a", "b"); got != "map[a:1/0 b:1/1] true" {
		t.Errorf("cached: %s", got)
	}
	for range maxLookups - 1 {
		if got := find("c"); got != "map[] false" {
			t.Errorf("before the last lookup: %s", got)
		}
	}
	for range 3 {
		if got := find("a", "c"); got != "map[a:1/0] true" {
			t.Errorf("after the last lookup: %s", got)
		}
	}
	if got, want := strings.Join(lookups, " "), "s:a,b s:b"+strings.Repeat(" s:c", maxLookups); got != want {
		t.Errorf("lookups %s\nwant %s", got, want)
	}
}

func TestHandleCacheIsBounded(t *testing.T) {
	s := handleCache{find: func(context.Context, string, []string) (map[string]string, error) { return nil, nil }}
	for i := range 3 * maxSessions {
		if _, _, err := s.lookup(t.Context(), fmt.Sprint(i), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if len(s.sessions) > maxSessions {
			t.Fatalf("%d sessions are cached", len(s.sessions))
		}
	}
}

func TestHandleCacheLookupError(t *testing.T) {
	fail := errors.New("broken")
	s := handleCache{find: func(context.Context, string, []string) (map[string]string, error) { return nil, fail }}
	for range 2 * maxLookups { // a failed lookup is not counted
		if _, final, err := s.lookup(t.Context(), "s", []string{"a"}); !errors.Is(err, fail) || final {
			t.Fatalf("final %t, %v", final, err)
		}
	}
}

// A request above maxBody is forwarded whole.
func TestLargeRequests(t *testing.T) {
	g := New(Options{Log: discard()})
	g.maxBody = 100
	body := strings.Repeat("x", 5000)
	r := httpRequest(t, body)
	if _, answered := g.rewrite(nil, r); answered {
		t.Fatal("answered by the gateway")
	}
	if got := readAll(t, r); got != body {
		t.Errorf("forwarded %d of %d bytes", len(got), len(body))
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func httpRequest(t *testing.T, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func readAll(t *testing.T, r *http.Request) string {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The client sends the summary of an earlier compaction and the next prompt as blocks of
// one message; the prompt stays a prompt.
func TestPromptAfterASummaryIsKept(t *testing.T) {
	r, err := parse([]byte(`{"messages":[{"role":"user","content":[
		{"type":"text","text":"<system-reminder>x</system-reminder>"},
		{"type":"text","text":"This session is being continued from a previous conversation. In short."},
		{"type":"text","text":"the real prompt"}]},
		{"role":"assistant","content":"Yes."},
		{"role":"user","content":"CRITICAL"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	c := r.conversation("s", "")
	if len(c.Messages) != 4 || !c.Messages[1].Summary || c.Messages[2].Prompt != "the real prompt" {
		t.Errorf("messages %+v", c.Messages)
	}
}
