package client_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"strandline/internal/client"
	"strandline/internal/client/clienttest"
	"strandline/internal/transcript"
)

// counts are what both this file's small parser and the reader count in a transcript.
type counts struct{ Prompts, Responses, Calls, Results, Compactions, Input, Output, CacheRead int }

// TestFixtures compares what the reader yields with an independent count of each sample of
// a client in the folder STRANDLINE_CLIENT_FIXTURES.
func TestFixtures(t *testing.T) {
	folder := os.Getenv("STRANDLINE_CLIENT_FIXTURES")
	if folder == "" {
		t.Skip("STRANDLINE_CLIENT_FIXTURES is not set")
	}
	files := 0
	for pattern, count := range map[string]struct {
		client string
		rows   func(c *counts, row map[string]any)
	}{
		"pi/*.jsonl": {"pi", countPi}, "agentsview/pi/*.jsonl": {"pi", countPi}, "deja-vu/registry/pi/*.jsonl": {"pi", countPi},
		"deja-vu/registry/omp/*.jsonl": {"pi", countPi}, "deja-vu/registry/copilot/*/events.jsonl": {"copilot", countCopilot},
		"deja-vu/registry/qwen/projects/*/chats/*.jsonl": {"qwen", countQwen}, "deja-vu/registry/gemini/session.jsonl": {"gemini", countGemini},
		"agentsview/gemini/*.json": {"gemini", countGemini}, "cline/session/session.messages.json": {"cline", countCline},
		"deja-vu/registry/kimi/sessions/*/*/agents/*/wire.jsonl":                       {"kimi", countKimi},
		"kimi-code/apps/vis/server/test/fixtures/sessions/*/agents/*/wire.jsonl":       {"kimi", countKimi},
		"deja-vu/registry/cursor/projects/*/agent-transcripts/*.jsonl":                 {"cursor", countCursor},
		"deja-vu/registry/roo/tasks/*/api_conversation_history.json":                   {"roo", countCline},
		"deja-vu/registry/cline/legacy/tasks/*/api_conversation_history.json":          {"roo", countCline}, // the same form
		"deja-vu/registry/antigravity/brain/*/.system_generated/logs/transcript.jsonl": {"antigravity", countAntigravity},
		"agentsview/grok-build/*/*/*/chat_history.jsonl":                               {"grok", countGrok},
		"deja-vu/registry/cline/modern/sessions/*/*.messages.json":                     {"cline", countCline},
	} {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			files++
			compare(t, path, transcript.Named(client.All(), count.client), count.rows)
		}
	}
	t.Logf("%d files", files)
}

func compare(t *testing.T, path string, of transcript.Client, count func(*counts, map[string]any)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want counts
	if filepath.Ext(path) == ".json" {
		var whole struct{ Messages []map[string]any }
		if json.Unmarshal(data, &whole.Messages) != nil && json.Unmarshal(data, &whole) != nil {
			t.Fatal("neither a session nor a list")
		}
		for _, m := range whole.Messages {
			count(&want, m)
		}
		f, err := of.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		if _, err := lines.ReadFrom(f); err != nil {
			t.Fatal(err)
		}
		data = lines.Bytes()
	} else {
		for line := range bytes.Lines(data) {
			var row map[string]any
			if json.Unmarshal(line, &row) == nil {
				count(&want, row)
			}
		}
	}
	rows := clienttest.Read(t, of.New, append(bytes.TrimRight(data, "\n"), '\n'))
	got := counts{Responses: len(rows.Steps), Calls: rows.Session.Calls, Compactions: rows.Session.Compacts}
	for _, turn := range rows.Turns {
		if turn.Title != "" {
			got.Prompts++
		}
	}
	for _, c := range rows.Calls {
		if c.LineResult >= 0 {
			got.Results++
		}
	}
	u := rows.Session.Usage
	got.Input, got.Output, got.CacheRead = int(u.Input), int(u.Output), int(u.CacheRead)
	if got != want {
		t.Errorf("%s: %+v, counted %+v", path, got, want)
	}
	t.Logf("%s: %+v", filepath.Base(path), got)
}

// dig returns a nested value, nil if it is missing.
func dig(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

func number(v any) int { f, _ := v.(float64); return int(f) }

func each(v any, fn func(map[string]any)) {
	list, _ := v.([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			fn(m)
		}
	}
}

func countPi(c *counts, row map[string]any) {
	if row["type"] == "compaction" {
		c.Compactions++
	}
	message := dig(row, "message")
	switch dig(message, "role") {
	case "user":
		c.Prompts++
	case "toolResult":
		c.Results++
	case "assistant":
		c.Responses++
		each(dig(message, "content"), func(b map[string]any) {
			if b["type"] == "toolCall" {
				c.Calls++
			}
		})
		c.Input += number(dig(message, "usage", "input"))
		c.Output += number(dig(message, "usage", "output"))
		c.CacheRead += number(dig(message, "usage", "cacheRead"))
	}
}

func countCopilot(c *counts, row map[string]any) {
	switch row["type"] {
	case "user.message":
		c.Prompts++
	case "assistant.message":
		c.Responses++
	case "tool.execution_start":
		c.Calls++
	case "tool.execution_complete":
		c.Results++
	}
}

func countQwen(c *counts, row map[string]any) {
	switch row["type"] {
	case "user":
		c.Prompts++
	case "assistant":
		c.Responses++
	}
}

func countGemini(c *counts, row map[string]any) {
	switch row["type"] {
	case "user":
		c.Prompts++
	case "gemini":
		c.Responses++
		cached := number(dig(row, "tokens", "cached"))
		c.Input += number(dig(row, "tokens", "input")) - cached
		c.Output += number(dig(row, "tokens", "output")) + number(dig(row, "tokens", "thoughts"))
		c.CacheRead += cached
		each(row["toolCalls"], func(call map[string]any) {
			c.Calls++
			if call["status"] == "success" {
				c.Results++
			}
		})
	}
}

func countKimi(c *counts, row map[string]any) {
	switch dig(row, "message", "role") {
	case "user":
		c.Prompts++
	case "assistant":
		c.Responses++
	}
	switch dig(row, "event", "type") {
	case "step.begin":
		c.Responses++
	case "step.end":
		c.Input += number(dig(row, "event", "usage", "inputOther"))
		c.Output += number(dig(row, "event", "usage", "output"))
	}
	if row["type"] == "context.apply_compaction" {
		c.Compactions++
	}
}

func countCursor(c *counts, row map[string]any) {
	switch row["role"] {
	case "user":
		c.Prompts++
	case "assistant":
		c.Responses++
	}
}

func countCline(c *counts, row map[string]any) {
	results := false
	each(row["content"], func(b map[string]any) {
		switch b["type"] {
		case "tool_use":
			c.Calls++
		case "tool_result":
			results = true
			c.Results++
		}
	})
	switch {
	case row["role"] == "assistant":
		c.Responses++
	case !results:
		c.Prompts++
	}
	read := number(dig(row, "metrics", "cacheReadTokens"))
	c.Input += max(number(dig(row, "metrics", "inputTokens"))-read-number(dig(row, "metrics", "cacheWriteTokens")), 0)
	c.Output += number(dig(row, "metrics", "outputTokens"))
	c.CacheRead += read
}

func countAntigravity(c *counts, row map[string]any) {
	switch row["source"] {
	case "USER_EXPLICIT":
		c.Prompts++
	case "MODEL":
		c.Responses++
	}
}

func countGrok(c *counts, row map[string]any) {
	kind := row["type"]
	if kind == nil {
		kind = row["role"]
	}
	switch kind {
	case "user":
		if why := row["synthetic_reason"]; why == nil || why == "interjection" {
			c.Prompts++
		}
	case "tool_result", "tool":
		c.Results++
	case "backend_tool_call":
		c.Calls++
		c.Responses++
	case "assistant", "reasoning":
		c.Responses++
		each(row["tool_calls"], func(map[string]any) { c.Calls++ })
	}
}

// TestClients checks the registry: names are unique, and the path at which a transcript is
// restored is one that the client's File knows.
func TestClients(t *testing.T) {
	names := map[string]bool{}
	for _, c := range client.All() {
		if c.Title == "" || c.Roots == nil || c.File == nil || names[c.Name] {
			t.Errorf("%s is incomplete, or listed twice", c.Name)
		}
		names[c.Name] = true
		if roots := c.Roots(func(string) string { return "" }, "/home/ada"); len(roots) == 0 || !filepath.IsAbs(roots[0]) {
			t.Errorf("%s: folders %v", c.Name, roots)
		}
	}
	for path, want := range map[string]map[string]string{
		"/home/ada/.pi/agent/sessions/--home-ada-shop--/2026-09-01T08-00-00-000Z_0198a7c2.jsonl":                         {"pi": "0198a7c2"},
		"/home/ada/.qwen/projects/-home-ada-shop/chats/5b1c.jsonl":                                                       {"qwen": "5b1c"},
		"/home/ada/.copilot/session-state/45f1/events.jsonl":                                                             {"copilot": "45f1"},
		"/home/ada/.gemini/tmp/shop/chats/session-2026-09-01T08-00-5b1c7e0a.jsonl":                                       {"gemini": "5b1c7e0a"},
		"/home/ada/.gemini/tmp/shop/chats/session-2026-09-01T08-00-5b1c7e0a.json":                                        {"gemini": "5b1c7e0a"},
		"/home/ada/.factory/sessions/-home-ada-shop/5734.jsonl":                                                          {"droid": "5734"},
		"/home/ada/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/17672/api_conversation_history.json": {"roo": "17672"},
		"/home/ada/.local/share/amp/threads/T-5734.json":                                                                 {"amp": "T-5734"},
		"/home/ada/.continue/sessions/5734e7ee-0000-4000-8000-000000000009.json":                                         {"continue": "5734e7ee-0000-4000-8000-000000000009"},
		"/home/ada/.continue/sessions/sessions.json":                                                                     {},
		"/home/ada/.gemini/antigravity-cli/brain/5734/.system_generated/logs/transcript.jsonl":                           {"antigravity": "5734"},
		"/home/ada/.grok/sessions/%2Fhome%2Fada%2Fshop/5734/chat_history.jsonl":                                          {"grok": "5734"},
		"/home/ada/.claude/projects/-home-ada-shop/5734e7ee.jsonl":                                                       {},
	} {
		got := map[string]string{}
		for _, c := range client.All() {
			if id, ok := c.File(path); ok && c.Name != "claude" && len(got) == 0 {
				got[c.Name] = id
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s is of %v, want %v", path, got, want)
		}
	}
}
