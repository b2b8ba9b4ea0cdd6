package mockapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// patience bounds every wait of these tests.
const patience = 10 * time.Second

// answered is the part of an answer that tests look at.
type answered struct {
	ID         string  `json:"id"`
	StopReason string  `json:"stop_reason"`
	Content    []block `json:"content"`
	Usage      usage   `json:"usage"`
}

func (a answered) text() string {
	var parts []string
	for _, b := range a.Content {
		parts = append(parts, b.Text)
	}
	return strings.Join(parts, "")
}

func (a answered) toolID(t *testing.T) string {
	t.Helper()
	for _, b := range a.Content {
		if b.Type == "tool_use" {
			return b.ID
		}
	}
	t.Fatalf("no tool call in %+v", a)
	return ""
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func result(id, content string) map[string]any {
	return map[string]any{"type": "tool_result", "tool_use_id": id, "content": content}
}

func user(blocks ...any) map[string]any { return map[string]any{"role": "user", "content": blocks} }

// response is a response that was read whole.
type response struct {
	status int
	kind   string // content type
	body   []byte
}

func post(t *testing.T, s *Server, path string, body any) response {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Claude-Code-Session-Id", "s1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	read, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response{status: res.StatusCode, kind: res.Header.Get("Content-Type"), body: read}
}

// ask sends messages and returns the answer, without a stream.
func ask(t *testing.T, s *Server, messages ...any) answered {
	t.Helper()
	res := post(t, s, "/v1/messages?beta=true", map[string]any{"model": "m", "messages": messages})
	if res.status != http.StatusOK {
		t.Fatalf("status %d", res.status)
	}
	var a answered
	if err := json.Unmarshal(res.body, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestARuleGoesOnWithTheResultsOfItsTools(t *testing.T) {
	s := Start(t)
	s.On("one", Use(Bash("echo 1")), Use(Bash("echo 2")), Say("one done"))
	s.On("two", Use(Bash("echo 3")), Say("two done"))

	one := ask(t, s, user(text("context"), text("one")))
	two := ask(t, s, map[string]any{"role": "user", "content": " two\n"})
	oneAgain := ask(t, s, user(result(one.toolID(t), "1"), text("two")))
	twoDone := ask(t, s, user(text("a summary")), user(result(two.toolID(t), "3")))
	oneDone := ask(t, s, user(result(oneAgain.toolID(t), "2")))

	if got := twoDone.text(); got != "two done" {
		t.Errorf("after the tool of the second rule: %q", got)
	}
	if got := oneDone.text(); got != "one done" {
		t.Errorf("after the second tool of the first rule: %q", got)
	}
	var prompts []string
	for _, req := range s.Requests() {
		prompts = append(prompts, req.Prompt)
	}
	if got, want := strings.Join(prompts, " "), "one two one two one"; got != want {
		t.Errorf("rules that answered: %s, want %s", got, want)
	}
}

func TestAPromptStartsItsRuleAgain(t *testing.T) {
	s := Start(t)
	s.On("one", Use(Bash("echo 1")), Say("done"))
	first, second := ask(t, s, user(text("one"))), ask(t, s, user(text("one")))
	if first.toolID(t) == second.toolID(t) || first.ID == second.ID {
		t.Errorf("two answers share an id: %+v, %+v", first, second)
	}
}

func TestAPartStartsItsRuleWhereNoPromptDoes(t *testing.T) {
	s := Start(t)
	s.On("one", Say("prompt"))
	s.OnPart("has ended", Say("part"))
	if got := ask(t, s, user(text("the agent has ended, with a report"))).text(); got != "part" {
		t.Errorf("answer %q", got)
	}
	if got := ask(t, s, user(text("the agent has ended, with a report"), text("one"))).text(); got != "prompt" {
		t.Errorf("answer %q", got)
	}
}

func TestOnlyWhatFollowsTheLastAnswerCounts(t *testing.T) {
	s := Start(t)
	s.On("one", Say("first"))
	s.On("two", Say("second"))
	assistant := map[string]any{"role": "assistant", "content": []any{text("first")}}
	system := map[string]any{"role": "system", "content": "one of these days"}
	if got := ask(t, s, user(text("one")), assistant, user(text("two")), system).text(); got != "second" {
		t.Errorf("answer %q", got)
	}
}

func TestAFailureIsServedOnce(t *testing.T) {
	s := Start(t)
	s.On("one", TooLong(), Say("done"))
	body := map[string]any{"model": "m", "messages": []any{user(text("one"))}}
	res := post(t, s, "/v1/messages", body)
	if res.status != http.StatusBadRequest || !strings.Contains(string(res.body), "prompt is too long") {
		t.Errorf("%d: %s", res.status, res.body)
	}
	if got := ask(t, s, user(text("one"))).text(); got != "done" {
		t.Errorf("second attempt: %q", got)
	}
}

func TestCompactionGetsTheSummary(t *testing.T) {
	s := Start(t)
	s.Summarize("Short.")
	s.On("one", Say("not this"))
	got := ask(t, s, user(text("one"), text("Answer with TEXT ONLY: a detailed summary, please."))).text()
	if !strings.HasSuffix(got, "<summary>Short.</summary>") {
		t.Errorf("answer %q", got)
	}
	if kind := s.Requests()[0].Kind; kind != Compaction {
		t.Errorf("kind %s", kind)
	}
}

func TestUsageIsWhatTheScriptSays(t *testing.T) {
	s := Start(t)
	s.On("one", Say("x").At(70_000))
	u := ask(t, s, user(text("one"))).Usage
	if got := u.Input + u.CacheRead + u.CacheWrite; got != 70_000 {
		t.Errorf("%d tokens in the window, want 70000", got)
	}
}

func TestCountTokens(t *testing.T) {
	s := Start(t)
	res := post(t, s, "/v1/messages/count_tokens", map[string]any{"messages": []any{user(text("one"))}})
	var count struct {
		Input int `json:"input_tokens"`
	}
	if err := json.Unmarshal(res.body, &count); err != nil || count.Input == 0 {
		t.Errorf("count %+v, %v", count, err)
	}
}

func TestStrayRequestsAreKept(t *testing.T) {
	s := New()
	defer s.Close()
	ask(t, s, user(text("nobody knows this")))
	post(t, s, "/v1/other", map[string]any{})
	post(t, s, "/v1/messages", "no request at all")
	if got := s.Stray(); len(got) != 3 || !strings.Contains(got[0], "nobody knows this") {
		t.Errorf("stray requests: %q", got)
	}
	if got := len(s.Requests()); got != 3 {
		t.Errorf("%d requests recorded, want 3", got)
	}
}

func TestRequestsAreFlattened(t *testing.T) {
	s := Start(t)
	s.On("one", Say("x"))
	post(t, s, "/v1/messages", map[string]any{
		"model":  "m",
		"system": []any{text("be good")},
		"messages": []any{
			user(text("zero")),
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "hm"},
				map[string]any{"type": "tool_use", "id": "t", "name": "Bash", "input": map[string]any{"command": "ls"}},
			}},
			user(map[string]any{"type": "tool_result", "tool_use_id": "t", "content": []any{text("a"), text("b")}}, text("one")),
		},
	})
	req := s.Requests()[0]
	if req.Session != "s1" || req.Model != "m" || req.System != "be good" {
		t.Errorf("request %+v", req)
	}
	if got, want := req.Text(), "zero\n\nhm\n\n{\"command\":\"ls\"}\n\na\nb\n\none\n\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if got := req.ToolResults(); len(got) != 1 || got[0] != "t" {
		t.Errorf("tool results %v", got)
	}
}

func TestStream(t *testing.T) {
	s := Start(t)
	s.On("one", Use(Read("/x"), Agent("look", "see")).Thinking("hm").Saying("well"))
	res := post(t, s, "/v1/messages", map[string]any{"stream": true, "messages": []any{user(text("one"))}})
	if res.kind != "text/event-stream" {
		t.Errorf("content type %q", res.kind)
	}
	var events []string
	for line := range strings.Lines(string(res.body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var ev struct {
			Type  string `json:"type"`
			Block block  `json:"content_block"`
			Delta struct {
				Type       string `json:"type"`
				StopReason string `json:"stop_reason"`
			} `json:"delta"`
		}
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		events = append(events, strings.TrimRight(ev.Type+":"+ev.Block.Type+ev.Delta.Type+ev.Delta.StopReason, ":"))
	}
	want := "message_start" +
		" content_block_start:thinking content_block_delta:thinking_delta content_block_delta:signature_delta content_block_stop" +
		" content_block_start:text content_block_delta:text_delta content_block_stop" +
		" content_block_start:tool_use content_block_delta:input_json_delta content_block_stop" +
		" content_block_start:tool_use content_block_delta:input_json_delta content_block_stop" +
		" message_delta:tool_use message_stop"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events\n got %s\nwant %s", got, want)
	}
}

func TestWaitReturnsPastAndFutureRequests(t *testing.T) {
	s := Start(t)
	s.On("one", Say("1"))
	s.On("two", Say("2"))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	is := func(prompt string) func(*Request) bool {
		return func(r *Request) bool { return r.Prompt == prompt }
	}
	found := make(chan error, 1)
	go func() {
		_, err := s.Wait(ctx, is("two"))
		found <- err
	}()
	ask(t, s, user(text("one")))
	if _, err := s.Wait(ctx, is("one")); err != nil {
		t.Error(err)
	}
	ask(t, s, user(text("two")))
	if err := <-found; err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := s.Wait(ctx, is("three")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of waiting: %v", err)
	}
}

func TestAGateHoldsTheAnswerBack(t *testing.T) {
	s := Start(t)
	gate := make(chan struct{})
	s.On("one", Say("1").After(gate))
	var before []Kind
	s.Before(func(_ context.Context, req *Request) { before = append(before, req.Kind) })
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	got := make(chan string, 1)
	go func() { got <- ask(t, s, user(text("one"))).text() }()
	if _, err := s.Wait(ctx, func(*Request) bool { return true }); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-got:
		t.Fatalf("answer %q in front of the gate", text)
	default:
	}
	close(gate)
	if text := <-got; text != "1" {
		t.Errorf("answer %q", text)
	}
	if len(before) != 1 || before[0] != Turn {
		t.Errorf("calls before the answer: %v", before)
	}
}

func TestTheClientMayLookWhetherAnybodyIsThere(t *testing.T) {
	s := Start(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, s.URL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK || len(s.Requests()) != 0 {
		t.Errorf("%s, %d requests, %v", res.Status, len(s.Requests()), err)
	}
}

func TestNoTunnelLeadsOut(t *testing.T) {
	s := New()
	defer s.Close()
	proxy, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.org/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	defer transport.CloseIdleConnections()
	if res, err := transport.RoundTrip(req); err == nil {
		t.Errorf("the server led to %s: %v", req.URL, errors.Join(errors.New(res.Status), res.Body.Close()))
	}
	if got := strings.Join(s.Stray(), " "); got != "a tunnel to example.org:443" {
		t.Errorf("stray requests: %s", got)
	}
}
