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

// TestShelf asks an archive that catches up, and one that never does.
func TestShelf(t *testing.T) {
	archived := map[string]string{"a": "1/0"}
	var asked []string
	s := shelf{ask: func(_ context.Context, session string, ids []string) (map[string]string, error) {
		asked = append(asked, session+":"+strings.Join(ids, ","))
		return archived, nil
	}}
	find := func(ids ...string) string {
		t.Helper()
		found, settled, err := s.find(t.Context(), "s", ids)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(found, settled)
	}
	if got := find("a", "b"); got != "map[a:1/0] false" {
		t.Errorf("at first: %s", got)
	}
	archived["b"] = "1/1"
	if got := find("a", "b"); got != "map[a:1/0 b:1/1] true" {
		t.Errorf("when it caught up: %s", got)
	}
	archived = nil
	if got := find("a", "b"); got != "map[a:1/0 b:1/1] true" {
		t.Errorf("what was found is forgotten: %s", got)
	}
	for range maxAsked - 1 {
		if got := find("c"); got != "map[] false" {
			t.Errorf("too early: %s", got)
		}
	}
	for range 3 {
		if got := find("a", "c"); got != "map[a:1/0] true" {
			t.Errorf("what will never be there: %s", got)
		}
	}
	if got, want := strings.Join(asked, " "), "s:a,b s:b"+strings.Repeat(" s:c", maxAsked); got != want {
		t.Errorf("asked for %s\nwant %s", got, want)
	}
}

func TestShelfIsBounded(t *testing.T) {
	s := shelf{ask: func(context.Context, string, []string) (map[string]string, error) { return nil, nil }}
	for i := range 3 * maxSessions {
		if _, _, err := s.find(t.Context(), fmt.Sprint(i), []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if len(s.sessions) > maxSessions {
			t.Fatalf("%d sessions are remembered", len(s.sessions))
		}
	}
}

func TestShelfThatCannotAsk(t *testing.T) {
	fail := errors.New("broken")
	s := shelf{ask: func(context.Context, string, []string) (map[string]string, error) { return nil, fail }}
	for range 2 * maxAsked { // a fault is no answer: it does not count as having been asked
		if _, settled, err := s.find(t.Context(), "s", []string{"a"}); !errors.Is(err, fail) || settled {
			t.Fatalf("settled %t, %v", settled, err)
		}
	}
}

// A request that is too large to be looked into is passed on as a whole.
func TestLargeRequests(t *testing.T) {
	g := New(Options{Log: quiet()})
	g.most = 100
	body := strings.Repeat("x", 5000)
	r := httpRequest(t, body)
	if g.look(nil, r) {
		t.Fatal("answered here")
	}
	if got := readAll(t, r); got != body {
		t.Errorf("%d of %d bytes are passed on", len(got), len(body))
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

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
