package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"strandline/bench/synth"
)

// talk SESSION FILE TEXT... writes a session in which each text is a prompt.
func cmdTalk(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: talk SESSION FILE TEXT...")
	}
	var out bytes.Buffer
	s := synth.New(&out, synth.Options{
		Session: args[0], Cwd: "/home/dev/shop", Branch: "main", Version: "2.1.0", Model: "claude-opus-5-5",
		Start: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC), Seed: uint64(args[0][0]), Context: 12000,
	})
	s.Begin()
	for _, text := range args[2:] {
		s.Prompt(text)
		s.EndTurn()
		s.Wait(time.Minute)
	}
	ts.Check(s.Err())
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o700))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// endpoint starts an embedding server until the script ends, and sets ENDPOINT to
// its address. Paths:
//
//	/v1/embeddings  answers as OpenAI does, /api/embed as Ollama does
//	/slow/…         never responds, /garbage/… returns HTML, /short/… shorter vectors
//	/down/…         responds with 503
//
// Its model maps glorp and wibble to the same vector.
func cmdEndpoint(ts *testscript.TestScript, _ bool, _ []string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Model != "mock" {
			http.Error(w, "what?", http.StatusBadRequest)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/slow/"):
			<-r.Context().Done()
		case strings.HasPrefix(r.URL.Path, "/down/"):
			http.Error(w, "come back later", http.StatusServiceUnavailable)
		case strings.HasPrefix(r.URL.Path, "/garbage/"):
			_, _ = fmt.Fprint(w, "<html>Welcome to the hotel's network</html>")
		case strings.HasPrefix(r.URL.Path, "/short/"):
			_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectorsOf(asked.Input, 5)})
		case strings.HasSuffix(r.URL.Path, "/api/embed"):
			_ = json.NewEncoder(w).Encode(map[string]any{"model": "mock", "embeddings": vectorsOf(asked.Input, 8)})
		default:
			var data []map[string]any
			for i, v := range vectorsOf(asked.Input, 8) {
				data = append(data, map[string]any{"index": i, "embedding": v})
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("ENDPOINT", server.URL)
}

// vectorsOf is the model: texts with either word share an axis, others do not.
func vectorsOf(texts []string, dim int) [][]float64 {
	out := make([][]float64, len(texts))
	for i, text := range texts {
		v := make([]float64, dim)
		sum := 0
		for _, b := range []byte(text) {
			sum += int(b)
		}
		v[1+sum%(dim-1)] = 1
		if strings.Contains(text, "glorp") || strings.Contains(text, "wibble") {
			v[0] = 4
		}
		out[i] = v
	}
	return out
}
