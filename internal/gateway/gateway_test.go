package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"strandline/internal/app"
	"strandline/internal/gateway"
)

const token = "secret-token"

// fixture is an API with a gateway in front of it.
type fixture struct {
	t        *testing.T
	mu       sync.Mutex
	received []*http.Request
	bodies   [][]byte
	answer   http.HandlerFunc
	gate     *gateway.Gateway
	url      string
	log      bytes.Buffer
	compacts func(app.Summarized) (string, error)
}

func newFixture(t *testing.T, change ...func(*gateway.Options)) *fixture {
	t.Helper()
	w := &fixture{t: t}
	api := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		w.received, w.bodies = append(w.received, r), append(w.bodies, body)
		w.mu.Unlock()
		if w.answer != nil {
			w.answer(rw, r)
		}
	}))
	t.Cleanup(api.Close)
	upstream, err := url.Parse(api.URL + "/base")
	if err != nil {
		t.Fatal(err)
	}
	o := gateway.Options{
		Upstream: upstream, Token: token, Rules: gateway.Rules{At: 3000, Keep: 2, Chars: 10},
		Handles: func(_ context.Context, session string, ids []string) (map[string]string, error) {
			found := map[string]string{}
			for _, id := range ids {
				found[id] = session + "/" + id
			}
			return found, nil
		},
		Compact: func(_ context.Context, c app.Summarized) (string, error) {
			if w.compacts == nil {
				return "", errors.New("no compactor")
			}
			return w.compacts(c)
		},
		NewID: func() string { return "msg_1" },
		Log:   slog.New(slog.NewTextHandler(&w.log, nil)),
	}
	for _, f := range change {
		f(&o)
	}
	w.gate = gateway.New(o)
	here := httptest.NewServer(w.gate)
	t.Cleanup(here.Close)
	w.url = here.URL + "/" + token
	return w
}

// response is a complete HTTP response.
type response struct {
	status int
	header http.Header
	text   string
}

// send posts a body and returns the response.
func (w *fixture) send(path, body string, headers ...string) response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return do(w.t, req)
}

func do(t *testing.T, req *http.Request) response {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, string(got)}
}

// send writes a part of the API's response and flushes it. A write error shows in
// the test's own result.
func send(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
}

// conversation returns a request with n results of 1,000 characters and a last text.
func conversation(n int, last string, stream bool) string {
	messages := []any{map[string]any{"role": "user", "content": "Make it work."}}
	for i := range n {
		id := fmt.Sprintf("t%d", i)
		messages = append(messages,
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "text", "text": "I try."},
				map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "make"}},
			}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": strings.Repeat("x", 1000)}}})
	}
	if last != "" {
		messages = append(messages[:len(messages)-1], map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprintf("t%d", n-1), "is_error": true, "content": strings.Repeat("x", 1000)},
			map[string]any{"type": "text", "text": last},
		}})
	}
	data, err := json.Marshal(map[string]any{"model": "claude-x", "stream": stream, "messages": messages})
	if err != nil {
		panic(err) // maps and strings always marshal
	}
	return string(data)
}

const summaryPrompt = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary of the conversation so far.\n"

func TestRequestsAreForwardedUnchanged(t *testing.T) {
	short := conversation(2, "", false)
	for name, c := range map[string]struct{ path, body string }{
		"a short conversation": {"/v1/messages?beta=true", short},
		"a token count":        {"/v1/messages/count_tokens", conversation(20, "", false)},
		"another endpoint":     {"/v1/models%2Fx?a=b%20c", "hello"},
		"a semicolon":          {"/v1/models?a=1;b=2&c=%zz&d", "hello"},
		"not JSON":             {"/v1/messages", "not json"},
		"no messages":          {"/v1/messages", `{"model":"m","messages":[]}`},
		"no array":             {"/v1/messages", `{"model":"m","messages":"all"}`},
		"empty":                {"/v1/messages", ""},
		"two values":           {"/v1/messages", short + short},
		"an unknown shape":     {"/v1/messages", `{"messages":[{"role":"user","content":{"new":1}},{"role":"user"}]}`},
		"invalid UTF-8":        {"/v1/messages", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.answer = func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Request-Id", "r1")
				rw.WriteHeader(http.StatusTeapot)
				send(rw, "as it is")
			}
			got := w.send(c.path, c.body, "X-Api-Key", "key", "Anthropic-Beta", "new-thing", "X-Claude-Code-Session-Id", "s1")
			if got.status != http.StatusTeapot || got.text != "as it is" || got.header.Get("Request-Id") != "r1" {
				t.Errorf("response %d %q", got.status, got.text)
			}
			if len(w.bodies) != 1 || string(w.bodies[0]) != c.body {
				t.Fatalf("received %d requests: %q", len(w.bodies), w.bodies)
			}
			r := w.received[0]
			if got, want := r.RequestURI, "/base"+c.path; got != want {
				t.Errorf("sent to %s, want %s", got, want)
			}
			if r.Header.Get("X-Api-Key") != "key" || r.Header.Get("Anthropic-Beta") != "new-thing" || r.Header.Get("X-Forwarded-For") != "" {
				t.Errorf("headers: %v", r.Header)
			}
		})
	}
}

func TestLongConversationIsPruned(t *testing.T) {
	w := newFixture(t)
	body := conversation(12, "", true)

	w.send("/v1/messages", body, "X-Claude-Code-Session-Id", "s1")

	got := string(w.bodies[0])
	if !strings.Contains(got, "recall s1/t0]") || strings.Contains(got, "recall s1/t11]") || len(got) >= len(body) {
		t.Errorf("received %d of %d bytes: %.500s", len(got), len(body), got)
	}
	if length := w.received[0].ContentLength; length != int64(len(got)) {
		t.Errorf("content length %d of %d", length, len(got))
	}
	if c := w.gate.Counts(); c.Requests != 1 || c.Pruned != 1 || c.Results == 0 || c.Bytes != int64(len(body)-len(got)) {
		t.Errorf("counts: %+v", c)
	}
}

func TestNoPruningWithoutASession(t *testing.T) {
	w := newFixture(t)
	body := conversation(12, "", true)
	w.send("/v1/messages", body)
	w.send("/v1/messages", body, "X-Claude-Code-Session-Id", "s1", "Content-Encoding", "br")
	for i, got := range w.bodies {
		if string(got) != body {
			t.Errorf("request %d was changed", i)
		}
	}
}

func TestLookupErrorDisablesPruning(t *testing.T) {
	w := newFixture(t, func(o *gateway.Options) {
		o.Handles = func(context.Context, string, []string) (map[string]string, error) { return nil, errors.New("no index") }
	})
	body := conversation(12, "", true)
	w.send("/v1/messages", body, "X-Claude-Code-Session-Id", "s1")
	if string(w.bodies[0]) != body || !strings.Contains(w.log.String(), "no index") {
		t.Errorf("changed: %t, log %s", string(w.bodies[0]) != body, w.log.String())
	}
}

func TestResponsesAreStreamed(t *testing.T) {
	w := newFixture(t)
	more := make(chan struct{})
	w.answer = func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		send(rw, "event: one\n\n")
		<-more
		send(rw, "event: two\n\n")
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/messages", strings.NewReader(conversation(1, "", true)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	lines := bufio.NewReader(res.Body)
	if line, err := lines.ReadString('\n'); line != "event: one\n" || err != nil {
		t.Errorf("%q, %v before the response ends", line, err)
	}
	close(more)
	if rest, err := io.ReadAll(lines); string(rest) != "\nevent: two\n\n" || err != nil {
		t.Errorf("the rest is %q, %v", rest, err)
	}
}

func TestCompactionIsAnswered(t *testing.T) {
	var got app.Summarized
	prompt := summaryPrompt + "\nAdditional Instructions:\nmind </summary> the tides\n\nREMINDER: Do NOT call any tools. Respond with text."
	for name, stream := range map[string]bool{"streamed": true, "whole": false} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.compacts = func(c app.Summarized) (string, error) {
				got = c
				return "the text </summary> continues", nil
			}
			back := w.send("/v1/messages", conversation(2, prompt, stream), "X-Claude-Code-Session-Id", "s1")
			if len(w.bodies) != 0 || back.status != http.StatusOK || w.gate.Counts().Compactions != 1 {
				t.Fatalf("received %d requests; response %d %s", len(w.bodies), back.status, back.text)
			}
			if got.Session != "s1" || got.Model != "claude-x" || got.Instructions != "mind </summary> the tides" || len(got.Messages) != 5 {
				t.Errorf("conversation %+v", got)
			}
			last := got.Messages[4]
			if last.Text != "" || len(last.Results) != 1 || last.Results[0].ID != "t1" || !last.Results[0].Failed || len(last.Results[0].Text) != 1000 {
				t.Errorf("the last message is %+v", last)
			}
			if use := got.Messages[3]; use.Text != "I try." || len(use.Uses) != 1 || use.Uses[0].Command != "make" {
				t.Errorf("the call is %+v", use)
			}
			if got := responseText(t, back.text, stream); got != "<summary>\nthe text < /summary> continues\n</summary>" {
				t.Errorf("response text %q", got)
			}
		})
	}
}

// responseText returns a response's text, assembled as a client does.
func responseText(t *testing.T, body string, stream bool) string {
	t.Helper()
	type part struct{ Text string }
	if !stream {
		var m struct {
			ID, Type, Role, Model string
			Content               []part
			Stop                  string `json:"stop_reason"`
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil || m.ID != "msg_1" || m.Type != "message" || m.Role != "assistant" || m.Model != "claude-x" || m.Stop != "end_turn" || len(m.Content) != 1 {
			t.Fatalf("%v: %+v", err, m)
		}
		return m.Content[0].Text
	}
	var text strings.Builder
	var types []string
	for event := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		name, data, _ := strings.Cut(event, "\ndata: ")
		var e struct {
			Type  string
			Delta part
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil || name != "event: "+e.Type {
			t.Fatalf("%v: %s", err, event)
		}
		types = append(types, e.Type)
		text.WriteString(e.Delta.Text)
	}
	if got, want := strings.Join(types, " "), "message_start content_block_start content_block_delta content_block_stop message_delta message_stop"; got != want {
		t.Errorf("events %s", got)
	}
	return text.String()
}

func TestCompactionsLeftToTheModel(t *testing.T) {
	ask := conversation(2, summaryPrompt, true)
	for name, c := range map[string]struct {
		change func(*gateway.Options)
		body   string
	}{
		"disabled":          {func(o *gateway.Options) { o.Compact = nil }, ask},
		"compaction failed": {func(*gateway.Options) {}, ask},
		"a quoted prompt":   {func(*gateway.Options) {}, conversation(2, "What does this mean: "+summaryPrompt, true)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, c.change)
			w.send("/v1/messages", c.body, "X-Claude-Code-Session-Id", "s1")
			if len(w.bodies) != 1 || string(w.bodies[0]) != c.body || w.gate.Counts().Compactions != 0 {
				t.Errorf("received %d requests", len(w.bodies))
			}
		})
	}
}

func TestWrongTokenIsRefused(t *testing.T) {
	w := newFixture(t)
	base := strings.TrimSuffix(w.url, token)
	for _, path := range []string{"", "v1/messages", "secret-toke/v1/messages", "secret-token2/v1/messages", "../secret-token2"} {
		w.url = base + path
		if got := w.send("", conversation(1, summaryPrompt, true)); got.status != http.StatusNotFound || !strings.Contains(got.text, `"type":"error"`) {
			t.Errorf("%q: %d %s", path, got.status, got.text)
		}
	}
	if len(w.bodies) != 0 {
		t.Errorf("%d requests were forwarded", len(w.bodies))
	}
}

func TestUnreachableAPI(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, func(o *gateway.Options) { o.Upstream = &url.URL{Scheme: "http", Host: l.Addr().String()} })
	got := w.send("/v1/messages", conversation(1, "", true))
	if got.status != http.StatusBadGateway || !strings.Contains(got.text, "cannot reach "+l.Addr().String()+": ") || !strings.Contains(got.text, `"api_error"`) {
		t.Errorf("%d %s", got.status, got.text)
	}
}

func TestServeEnds(t *testing.T) {
	w := newFixture(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.gate.Serve(ctx, l) }()
	w.url = "http://" + l.Addr().String() + "/" + token
	w.send("/v1/models", "")
	cancel()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve returned %v", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the port is still open")
	}
}

// TestUsageIsCounted reads the usage of streamed and whole responses, and counts a compaction
// as avoided when the whole conversation would have passed the limit.
func TestUsageIsCounted(t *testing.T) {
	var saved gateway.Counts
	var mu sync.Mutex
	w := newFixture(t, func(o *gateway.Options) {
		o.Limit = func(string) int64 { return 100_000 }
		o.Save = func(c gateway.Counts) {
			mu.Lock()
			defer mu.Unlock()
			saved = saved.Plus(c)
		}
	})
	stream := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":60000,\"cache_creation_input_tokens\":20000,\"output_tokens\":1}}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":70}}\n\n"
	w.answer = func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		for _, part := range []string{stream[:40], stream[40:200], stream[200:]} {
			send(rw, part)
		}
	}
	if got := w.send("/v1/messages", conversation(12, "", true), "X-Claude-Code-Session-Id", "s1"); got.text != stream {
		t.Errorf("the client received %q", got.text)
	}
	w.answer = func(rw http.ResponseWriter, _ *http.Request) {
		send(rw, `{"type":"message","content":[],"usage":{"input_tokens":5,"output_tokens":3}}`)
	}
	w.send("/v1/messages", conversation(1, "", false), "X-Claude-Code-Session-Id", "s2")
	w.answer = func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusTooManyRequests)
		send(rw, `{"usage":{"input_tokens":999}}`)
	}
	w.send("/v1/messages", conversation(1, "", false), "X-Claude-Code-Session-Id", "s2")
	c := w.gate.Counts()
	if c.Requests != 3 || c.Input != 15 || c.Output != 73 || c.CacheRead != 60_000 || c.CacheWrite != 20_000 || c.Avoided == 0 || c.Pruned != 1 {
		t.Errorf("%+v", c)
	}
	mu.Lock()
	defer mu.Unlock()
	if saved.Output != 73 || saved.Avoided != c.Avoided {
		t.Errorf("saved %+v", saved)
	}
}
