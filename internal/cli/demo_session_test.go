package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/bench/story"
	"strandline/bench/synth"
)

// renderDemo returns the files that the stories generate.
func renderDemo(t *testing.T) story.Files {
	t.Helper()
	all := story.Files{}
	for _, s := range []struct {
		name, session string
		start         time.Time
		seed          uint64
	}{
		{"gateway", "2b90e6f1-03d8-4c7e-8a4f-6e15d27c9b30", time.Date(2026, 9, 14, 13, 20, 0, 0, time.UTC), 14},
		{"retry", demoSession, time.Date(2026, 9, 15, 8, 12, 0, 0, time.UTC), 15},
	} {
		text, err := os.ReadFile(filepath.Join("demo", "stories", s.name+".story"))
		if err != nil {
			t.Fatal(err)
		}
		files, err := story.Render(string(text), synth.Options{
			Session: s.session, Cwd: "/home/dev/tidewater", Branch: "fix/flaky-retry", Version: "2.1.329",
			Model: "claude-opus-5-5", Start: s.start, Seed: s.seed, Context: 62_200,
		})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		maps.Copy(all, files)
	}
	return all
}

func TestDemoSessionsAreCurrent(t *testing.T) {
	want := renderDemo(t)
	if *update {
		if err := os.RemoveAll("demo/session"); err != nil {
			t.Fatal(err)
		}
		for name, data := range want {
			path := filepath.Join("demo", "session", filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		t.Skip("rendered; run the test again without -update")
	}
	var total int
	have := map[string]bool{}
	err := fs.WalkDir(demoFiles, "demo/session", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, "demo/session/")
		have[name] = true
		data, err := demoFiles.ReadFile(path)
		if err != nil {
			return err
		}
		total += len(data)
		if !bytes.Equal(data, want[name]) {
			t.Errorf("%s differs from what the story generates: run make generate", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if !have[name] {
			t.Errorf("%s is not bundled: run make generate", name)
		}
	}
	if total > 200<<10 {
		t.Errorf("%d bytes are bundled, at most 200 KiB", total)
	}
	t.Logf("%d bytes are bundled", total)
}

// TestDemoSessionsAreValid checks what transcript readers rely on.
func TestDemoSessionsAreValid(t *testing.T) {
	for name, data := range renderDemo(t) {
		if !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		seen := map[string]bool{}
		usage := map[string]string{}
		calls := map[string]bool{}
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			var row struct {
				Type      string  `json:"type"`
				Subtype   string  `json:"subtype"`
				UUID      string  `json:"uuid"`
				Parent    *string `json:"parentUuid"`
				Logical   string  `json:"logicalParentUuid"`
				Timestamp string  `json:"timestamp"`
				Session   string  `json:"sessionId"`
				Message   struct {
					ID      string          `json:"id"`
					Usage   json.RawMessage `json:"usage"`
					Content json.RawMessage `json:"content"`
				} `json:"message"`
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			if row.UUID == "" {
				continue
			}
			if seen[row.UUID] {
				t.Errorf("%s:%d: uuid %s occurs twice", name, n, row.UUID)
			}
			seen[row.UUID] = true
			switch {
			case row.Parent == nil && row.Subtype == "compact_boundary":
				if !seen[row.Logical] {
					t.Errorf("%s:%d: the boundary has no logical parent", name, n)
				}
			case row.Parent == nil && len(seen) > 1, row.Parent != nil && !seen[*row.Parent]:
				t.Errorf("%s:%d: no parent", name, n)
			}
			if _, err := time.Parse(time.RFC3339, row.Timestamp); err != nil {
				t.Errorf("%s:%d: %v", name, n, err)
			}
			if row.Type == "assistant" {
				if u, ok := usage[row.Message.ID]; ok && u != string(row.Message.Usage) {
					t.Errorf("%s:%d: two usages for %s", name, n, row.Message.ID)
				}
				usage[row.Message.ID] = string(row.Message.Usage)
			}
			var blocks []struct {
				Type, ID string
				For      string `json:"tool_use_id"`
			}
			if json.Unmarshal(row.Message.Content, &blocks) == nil {
				for _, b := range blocks {
					switch b.Type {
					case "tool_use":
						calls[b.ID] = false
					case "tool_result":
						if done, ok := calls[b.For]; !ok || done {
							t.Errorf("%s:%d: a result without a call", name, n)
						}
						calls[b.For] = true
					}
				}
			}
		}
		for id, done := range calls {
			if !done {
				t.Errorf("%s: call %s has no result", name, id)
			}
		}
	}
}

// Every fact is in the session before the compaction and not in the summary.
func TestDemoFacts(t *testing.T) {
	c, err := findDemoCompaction()
	if err != nil {
		t.Fatal(err)
	}
	data, err := demoFiles.ReadFile("demo/session/" + demoSession + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(data)))
	before := strings.Join(lines[:c.line], "")
	for _, s := range demoFacts() {
		if !containsFold(before, s.words) {
			t.Errorf("%q is not in the session before line %d", s.words, c.line)
		}
		if containsFold(c.Summary.Content, s.words) {
			t.Errorf("the summary contains %q", s.words)
		}
	}
	if !strings.Contains(before, demoSecret) {
		t.Error("the session prints no secret")
	}
	if c.Tokens.PreTokens < 50_000 || c.Tokens.PostTokens > 5_000 {
		t.Errorf("the compaction goes from %d to %d tokens", c.Tokens.PreTokens, c.Tokens.PostTokens)
	}
}
