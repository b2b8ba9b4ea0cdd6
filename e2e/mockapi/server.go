package mockapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// maxBody bounds a request body in bytes.
const maxBody = 64 << 20

// Server answers requests from its script. It is safe for concurrent use.
type Server struct {
	http *httptest.Server

	mu       sync.Mutex
	rules    map[string]*rule // by prompt
	parts    []*rule          // by a part of the text, in the order they were added
	summary  Reply
	calls    map[string]place // tool call id -> next position in the script
	held     map[string]place // session -> its position before a compaction that leaves no tool result
	requests []*Request
	stray    []string
	before   func(context.Context, *Request)
	arrived  chan struct{} // closed and replaced when a request was recorded
	serial   int
}

// place is a position in the script.
type place struct {
	rule *rule
	step int
}

// Start runs a server for the length of the test. The test fails if a request
// arrives that the script has no answer to.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := New()
	tb.Cleanup(func() {
		s.Close()
		for _, text := range s.Stray() {
			tb.Errorf("the script has no answer to this request: %s", text)
		}
	})
	return s
}

// New runs a server until Close.
func New() *Server {
	s := &Server{
		rules:   map[string]*rule{},
		summary: Say("<analysis>Nothing special.</analysis>\n<summary>We worked.</summary>"),
		calls:   map[string]place{},
		held:    map[string]place{},
		arrived: make(chan struct{}),
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends the server and the requests that it is still answering.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base address for the client. As the client's proxy for https the
// server opens no tunnel: a test fails if the client connects to the internet.
func (s *Server) URL() string { return s.http.URL }

// On adds a rule: the prompt, compared as a whole, gets the first reply, the
// results of that reply's tools the second, and so on.
func (s *Server) On(prompt string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules[prompt] = &rule{prompt: prompt, replies: replies, served: make([]bool, len(replies))}
}

// OnPart adds a rule for text that the client itself writes instead of a prompt:
// it starts at a text that holds the part, if no prompt's rule starts.
func (s *Server) OnPart(part string, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, &rule{prompt: part, replies: replies, served: make([]bool, len(replies))})
}

// Summarize sets the summary that compactions get from now on.
func (s *Server) Summarize(summary string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summary = Say("<analysis>Going through it.</analysis>\n<summary>" + summary + "</summary>")
}

// Before sets a function that runs before each answer; the answer waits for it.
// The context ends when the client hangs up.
func (s *Server) Before(f func(ctx context.Context, req *Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// Requests returns all requests in order of arrival.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.requests...)
}

// Stray describes the requests that no rule answered.
func (s *Server) Stray() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.stray...)
}

// Wait returns the first request, past or future, that match accepts.
func (s *Server) Wait(ctx context.Context, match func(*Request) bool) (*Request, error) {
	for seen := 0; ; {
		s.mu.Lock()
		requests, arrived := s.requests, s.arrived
		s.mu.Unlock()
		for ; seen < len(requests); seen++ {
			if match(requests[seen]) {
				return requests[seen], nil
			}
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a request: %w", context.Cause(ctx))
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodHead, http.MethodGet:
		w.WriteHeader(http.StatusOK) // the client looks whether anybody is there
		return
	case http.MethodConnect:
		s.record(&Request{Kind: Unknown, Path: r.Host}, "a tunnel to "+r.Host)
		w.WriteHeader(http.StatusForbidden)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return
	}
	var req *Request
	var stream bool
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, responsesPath):
		req, err = parseResponses(path, r.Header.Get("Session-Id"), body)
	case strings.HasSuffix(path, chatPath):
		req, err = parseChat(path, body)
	case gemini(path):
		req, err = parseGemini(path, body)
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, http.StatusOK, map[string]int{"totalTokens": len(body) / 4})
		return
	default:
		req, stream, err = parse(r.URL.Path, r.Header.Get("X-Claude-Code-Session-Id"), body)
	}
	if err != nil {
		s.record(&Request{Kind: Unknown, Path: r.URL.Path, Body: body}, err.Error())
		writeError(w, &apiError{status: http.StatusBadRequest, kind: "invalid_request_error", message: err.Error()})
		return
	}
	if req.Kind == Count {
		s.record(req, "")
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": len(body) / 4})
		return
	}
	ans := s.answer(req)
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before(r.Context(), req)
	}
	if gate := ans.reply.gate; gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case ans.reply.fail != nil:
		writeError(w, ans.reply.fail)
	case req.responses():
		writeResponses(w, ans, req)
	case strings.HasSuffix(req.Path, chatPath):
		writeChat(w, ans, req)
	case gemini(req.Path):
		writeGemini(w, ans, req)
	case stream:
		writeStream(w, ans)
	default:
		writeJSON(w, http.StatusOK, ans.message())
	}
}

// answer finds the reply, makes up its ids and records the request.
func (s *Server) answer(req *Request) answer {
	s.mu.Lock()
	reply, at, found := s.find(req)
	stray := ""
	if !found {
		reply = Say("(the script ends here)")
		stray = describe(req)
	}
	s.serial++
	a := answer{id: fmt.Sprintf("msg_mock%06d", s.serial), model: req.Model, reply: reply}
	for range reply.tools {
		s.serial++
		id := fmt.Sprintf("toolu_mock%06d", s.serial)
		a.toolIDs = append(a.toolIDs, id)
		s.calls[id] = place{rule: at.rule, step: at.step + 1}
	}
	if at.rule != nil {
		req.Prompt = at.rule.prompt
	}
	s.mu.Unlock()
	s.record(req, stray)
	return a
}

// find looks for the place in the script. Tool results go before prompts: what
// hooks inject beside them may well repeat a prompt.
func (s *Server) find(req *Request) (Reply, place, bool) {
	tail := req.tail()
	called, loop := s.called(tail)
	switch {
	case req.Kind == Compaction:
		if loop && !strings.HasSuffix(req.Path, "/messages") { // Claude Code compacts with the last turn's results in the request
			s.held[req.Session] = called
		}
		return s.summary, place{}, true
	case req.Kind != Turn:
		return Reply{}, place{}, false
	case loop:
		delete(s.held, req.Session)
		return takeAt(called)
	}
	if at, ok := s.held[req.Session]; ok {
		delete(s.held, req.Session)
		return takeAt(at)
	}
	for _, m := range slices.Backward(tail) {
		for _, b := range m.Blocks {
			if r, ok := s.rules[strings.TrimSpace(b.Text)]; ok {
				return takeAt(place{rule: r})
			}
		}
	}
	for _, r := range s.parts {
		if slices.ContainsFunc(tail, func(m Message) bool { return m.holds(r.prompt) }) {
			return takeAt(place{rule: r})
		}
	}
	return Reply{}, place{}, false
}

// called returns the place that follows the tool calls whose results the messages hold.
func (s *Server) called(tail []Message) (place, bool) {
	for _, m := range tail {
		for _, b := range m.Blocks {
			if at, ok := s.calls[b.ToolUseID]; ok && at.rule != nil {
				return at, true
			}
		}
	}
	return place{}, false
}

func takeAt(at place) (Reply, place, bool) {
	reply, step, ok := at.rule.take(at.step)
	return reply, place{rule: at.rule, step: step}, ok
}

// record keeps the request and, unless stray is empty, the complaint about it.
func (s *Server) record(req *Request, stray string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stray != "" {
		s.stray = append(s.stray, stray)
	}
	s.requests = append(s.requests, req)
	close(s.arrived)
	s.arrived = make(chan struct{})
}

func describe(req *Request) string {
	text := []string{req.Path}
	for _, m := range req.tail() {
		for _, b := range m.Blocks {
			text = append(text, fmt.Sprintf("[%s %s] %.200q", m.Role, b.Type, b.Text))
		}
	}
	return strings.Join(text, " ")
}

func writeError(w http.ResponseWriter, e *apiError) {
	writeJSON(w, e.status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": e.kind, "message": e.message},
	})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a disconnected client is not an error of the server
}
