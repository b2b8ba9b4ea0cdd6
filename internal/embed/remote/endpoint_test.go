package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

// endpoint is a local server that records its requests.
type endpoint struct {
	*httptest.Server
	asked []map[string]any
	keys  []string
}

func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *endpoint {
	t.Helper()
	e := &endpoint{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request map[string]any
		if err != nil || json.Unmarshal(body, &request) != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %q (%v)", r.Method, r.URL, body, err)
		}
		e.asked, e.keys = append(e.asked, request), append(e.keys, r.Header.Get("Authorization"))
		answer(len(e.asked), w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// say returns a handler that answers with a text.
func say(text string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

func options(url string) EndpointOptions {
	return EndpointOptions{
		URL: url, Model: "m", Timeout: 5 * time.Second,
		Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") },
		Pause:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func mustNew(t *testing.T, opt EndpointOptions) *Endpoint {
	t.Helper()
	e, err := NewEndpoint(opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestProtocols(t *testing.T) {
	for _, test := range []struct{ name, path, answer, field string }{
		{"OpenAI", "/v1/embeddings", `{"object":"list","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}],"model":"m"}`, "input"},
		{"a base address", "/v1/", `{"data":[{"index":0,"embedding":[3,4]},{"index":1,"embedding":[0,2]}]}`, "input"},
		{"Ollama", "/api/embed", `{"model":"m","embeddings":[[3,4],[0,2]]}`, "input"},
	} {
		s := serve(t, say(test.answer))
		e := mustNew(t, options(s.URL+test.path))
		if e.Dim() != 0 || e.Name() != "http/m" {
			t.Errorf("%s: %s of %d before the first answer", test.name, e.Name(), e.Dim())
		}
		vs, err := e.Embed(t.Context(), []string{"my password is hunter2", "two"})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if math.Abs(float64(vs[0][0])-.6) > 1e-6 || !slices.Equal(vs[1], []float32{0, 1}) || e.Dim() != 2 {
			t.Errorf("%s: %v of %d", test.name, vs, e.Dim())
		}
		if got := fmt.Sprint(s.asked[0][test.field]); got != "[my password is [secret] two]" || s.asked[0]["model"] != "m" {
			t.Errorf("%s: asked %v", test.name, s.asked[0])
		}
		if s.keys[0] != "" {
			t.Errorf("%s: a key where there is none: %q", test.name, s.keys[0])
		}
	}
}

func TestOneTextPerRequest(t *testing.T) {
	s := serve(t, say(`{"embedding":[3,4]}`))
	opt := options(s.URL + "/api/embeddings")
	opt.Key = "k-1"
	e := mustNew(t, opt)
	vs, err := e.Embed(t.Context(), []string{"one", " ", "three"})
	if err != nil || len(vs) != 3 || vs[0] == nil || vs[1] != nil || vs[2] == nil {
		t.Errorf("%v (%v), want nothing for the blank", vs, err)
	}
	if len(s.asked) != 3 || s.asked[2]["prompt"] != "three" || s.keys[0] != "Bearer k-1" {
		t.Errorf("asked %v with %q", s.asked, s.keys)
	}
	if vs, err := e.Embed(t.Context(), nil); err != nil || len(vs) != 0 {
		t.Errorf("of nothing: %v (%v)", vs, err)
	}
}

func TestRetries(t *testing.T) {
	for _, test := range []struct {
		name   string
		status []int // of each answer; 0 breaks the connection
		asked  int
		works  bool
	}{
		{"busy, then well", []int{503, 429, 200}, 3, true},
		{"breaks off, then well", []int{0, 200}, 2, true},
		{"stays down", []int{500, 500, 500, 200}, 3, false},
		{"no such model", []int{404, 200}, 1, false},
		{"wrong key", []int{401, 200}, 1, false},
		{"elsewhere", []int{307, 200}, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
				switch status := test.status[n-1]; status {
				case 0:
					panic(http.ErrAbortHandler)
				case 200:
					_, _ = io.WriteString(w, `{"embeddings":[[1,0]]}`)
				default:
					w.Header().Set("Retry-After", "7")
					w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
					w.WriteHeader(status)
					_, _ = io.WriteString(w, "model hunter2 is not there")
				}
			})
			opt := options(s.URL)
			var pauses []time.Duration
			opt.Pause = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
			_, err := mustNew(t, opt).Embed(t.Context(), []string{"text"})
			if (err == nil) != test.works || len(s.asked) != test.asked || len(pauses) != test.asked-1 {
				t.Errorf("asked %d times, pauses %v, %v", len(s.asked), pauses, err)
			}
			if err != nil && (strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "endpoint")) {
				t.Errorf("it says %v", err)
			}
			for _, p := range pauses {
				if p > longestPause {
					t.Errorf("a pause of %v", p)
				}
			}
		})
	}
}

func TestBadAnswers(t *testing.T) {
	for name, answer := range map[string]string{
		"no JSON":         "<html>",
		"truncated":       `{"embeddings":[[1,0`,
		"nothing":         `{}`,
		"too few":         `{"embeddings":[]}`,
		"too many":        `{"embeddings":[[1,0],[1,0]]}`,
		"empty vector":    `{"embeddings":[[]]}`,
		"null":            `{"embeddings":[null]}`,
		"text":            `{"embeddings":[["a"]]}`,
		"numbered twice":  `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"numbered beyond": `{"data":[{"index":5,"embedding":[1]}]}`,
		"far too long":    `{"embeddings":[[` + strings.Repeat("1,", maxDim) + `1]]}`,
	} {
		s := serve(t, say(answer))
		if vs, err := mustNew(t, options(s.URL)).Embed(t.Context(), []string{"text"}); err == nil {
			t.Errorf("%s: %v", name, vs)
		}
	}
}

// Another model under the same name is detected by its dimension.
func TestDimensionChanges(t *testing.T) {
	s := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, []string{`{"embeddings":[[1,0]]}`, `{"embeddings":[[1,0,0]]}`}[n-1])
	})
	e := mustNew(t, options(s.URL))
	if _, err := e.Embed(t.Context(), []string{"text"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), []string{"text"}); err == nil || !strings.Contains(err.Error(), "3 components, 2 are expected") {
		t.Errorf("%v", err)
	}
}

func TestSlow(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	opt := options(s.URL)
	opt.Timeout = 30 * time.Millisecond
	if _, err := mustNew(t, opt).Embed(t.Context(), []string{"text"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mustNew(t, options(s.URL)).Embed(ctx, []string{"text"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	down := options("http://127.0.0.1:1/v1")
	if _, err := mustNew(t, down).Embed(t.Context(), []string{"text"}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("%v", err)
	}
}

func TestAddresses(t *testing.T) {
	for url, ok := range map[string]bool{
		"http://127.0.0.1:11434/api/embed": true, "http://localhost:8080/v1": true, "http://[::1]:1/v1": true, "https://api.example.org/v1": true,
		"http://api.example.org/v1": false, "http://10.0.0.7:11434": false, "http://localhost.example.org": false,
		"https://me:secret@example.org/v1": false, "file:///etc/passwd": false, "": false, "api.example.org": false, "http://": false,
	} {
		_, err := NewEndpoint(options(url))
		if (err == nil) != ok {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && (archive.ErrorCode(err) != archive.CodeInvalid || archive.ErrorHint(err) == "" || strings.Contains(err.Error(), "secret@")) {
			t.Errorf("%q: %v", url, err)
		}
	}
	opt := options("https://example.org")
	opt.Model = ""
	if _, err := NewEndpoint(opt); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("no model: %v", err)
	}
	if _, err := mustNew(t, options("https://example.org")).Embed(t.Context(), make([]string, 257)); err == nil {
		t.Error("too many texts are sent")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"embeddings":[[1,0]]}`), 1)
	f.Add([]byte(`{"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":null}]}`), 2)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if vs, err := decode(data, n); err == nil && len(vs) != n {
			t.Errorf("%d vectors, want %d", len(vs), n)
		}
	})
}
