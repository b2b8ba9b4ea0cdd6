package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// chat is a conversation in the API's format.
type chat []map[string]any

func (c chat) ask(text string) chat {
	return append(c, map[string]any{"role": "user", "content": text})
}

// run appends a call and its result.
func (c chat) run(id, result string) chat {
	return append(c,
		map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "make"}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": result}}})
}

// body returns the request that sends the conversation, with cache_control on its
// last block, as the client does.
func (c chat) body(t interface{ Fatal(...any) }) []byte {
	messages := make([]any, len(c))
	for i, m := range c {
		messages[i] = m
	}
	last := c[len(c)-1]
	if blocks, ok := last["content"].([]any); ok {
		marked := map[string]any{"cache_control": map[string]any{"type": "ephemeral"}}
		block, ok := blocks[len(blocks)-1].(map[string]any)
		if !ok {
			t.Fatal("a block is not an object")
		}
		maps.Copy(marked, block)
		messages[len(messages)-1] = map[string]any{"role": last["role"], "content": append(append([]any{}, blocks[:len(blocks)-1]...), marked)}
	}
	data, err := json.Marshal(map[string]any{"model": "m", "stream": true, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// all returns a handle for every call.
func all(ids []string) (map[string]string, bool) {
	found := map[string]string{}
	for _, id := range ids {
		found[id] = "7f3a12cd/0." + strings.TrimPrefix(id, "t")
	}
	return found, true
}

func mustParse(t interface{ Fatal(...any) }, body []byte) *request {
	r, err := parse(body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func loop(n, size int) chat {
	c := chat{}.ask("Go.")
	for i := range n {
		c = c.run(fmt.Sprintf("t%d", i), fmt.Sprintf("result %d ", i)+strings.Repeat("x", size))
	}
	return c
}

func TestPrunedResults(t *testing.T) {
	rules := Rules{At: 3000, Keep: 2, Chars: 10} // 9,000 bytes; the tail is 3,000, the minimal gain 4,500
	for name, c := range map[string]struct {
		chat  chat
		rules Rules
		find  lookup
		want  string // the pruned results
	}{
		"a short conversation": {loop(8, 1000), rules, all, ""},
		"a long one":           {loop(10, 1000), rules, all, "0 1 2 3 4 5"},
		"small results":        {loop(60, 100), rules, all, ""},
		"disabled":             {loop(40, 1000), Rules{Keep: 2, Chars: 10}, all, ""},
		"many newest are kept": {loop(10, 1000), Rules{At: 3000, Keep: 9, Chars: 10}, all, ""},
		"one enormous newest":  {append(loop(9, 1000), chat{}.run("t9", strings.Repeat("y", 9000))...), rules, all, "0 1 2 3 4 5"},
		"not archived":         {loop(10, 1000), rules, func([]string) (map[string]string, bool) { return nil, true }, ""},
		"not archived yet":     {loop(10, 1000), rules, func(ids []string) (map[string]string, bool) { f, _ := all(ids); return f, false }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := mustParse(t, c.chat.body(t))
			out, removed := prune(r, c.rules, c.find)
			var gone []string
			for _, m := range mustParse(t, out).messages {
				for _, b := range m.blocks {
					if b.kind == blockResult && strings.Contains(string(b.value.Of(out)), "recall 7f3a12cd/0.") {
						gone = append(gone, strings.TrimPrefix(b.id, "t"))
					}
				}
			}
			if got := strings.Join(gone, " "); got != c.want {
				t.Errorf("pruned: %s, want %s", got, c.want)
			}
			if removed.results != len(gone) || removed.bytes != len(r.body)-len(out) {
				t.Errorf("counted %+v for %d results and %d bytes", removed, len(gone), len(r.body)-len(out))
			}
			if len(gone) == 0 && !bytes.Equal(out, r.body) {
				t.Error("the request was changed")
			}
		})
	}
}

func TestOnlyResultsChange(t *testing.T) {
	c := loop(12, 1000)
	c[2]["content"] = []any{map[string]any{
		"type": "tool_result", "tool_use_id": "t0", "is_error": true,
		"content": []any{
			map[string]any{"type": "text", "text": "<b>häßlich & \"wörtlich\"</b> 😀" + strings.Repeat("z", 2000)},
			map[string]any{"type": "image", "source": map[string]any{"data": "AAAA"}},
		},
	}}
	body := c.body(t)
	out, removed := prune(mustParse(t, body), Rules{At: 3000, Keep: 2, Chars: 14}, all)
	if removed.results == 0 {
		t.Fatal("nothing was pruned")
	}
	const first = `{"content":"<b>häßlich &\n[strandline: 2018 more characters of this result were omitted to save context. To read them: recall 7f3a12cd/0.0]","is_error":true,"tool_use_id":"t0","type":"tool_result"}`
	if !bytes.Contains(out, []byte(first)) {
		t.Errorf("the first result is %.600s", out)
	}
	// blank removes the results.
	blank := func(body []byte) string {
		r := mustParse(t, body)
		var b strings.Builder
		at := 0
		for _, m := range r.messages {
			for _, x := range m.blocks {
				if x.kind == blockResult {
					b.Write(body[at:x.value.From])
					at = x.value.To
				}
			}
		}
		b.Write(body[at:])
		return b.String()
	}
	if blank(out) != blank(body) {
		t.Error("more than results changed")
	}
}

// The API caches prefixes: each request must extend the previous one, except at
// the few prune points, each of which must save enough.
func TestPrefixesAreStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := Rules{At: rapid.IntRange(200, 4000).Draw(t, "at"), Keep: rapid.IntRange(0, 5).Draw(t, "keep"), Chars: rapid.IntRange(0, 100).Draw(t, "chars"), Texts: rapid.Bool().Draw(t, "texts")}
		c := chat{}.ask("Go.")
		var before []byte
		saved := 0
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				c = c.ask(strings.Repeat("w", rapid.IntRange(0, 2000).Draw(t, "words")))
			case 1:
				c = append(c, map[string]any{"role": "assistant", "content": []any{
					map[string]any{"type": "thinking", "thinking": strings.Repeat("h", rapid.IntRange(0, 2000).Draw(t, "thoughts")), "signature": "c2ln"},
					map[string]any{"type": "text", "text": strings.Repeat("y", rapid.IntRange(0, 5000).Draw(t, "reply"))},
				}})
			default:
				c = c.run(fmt.Sprintf("t%d", i), strings.Repeat("x", rapid.IntRange(0, 5000).Draw(t, "size")))
			}
			body := c.body(t)
			out, removed := prune(mustParse(t, body), rules, all)
			if !json.Valid(out) {
				t.Fatalf("not JSON: %s", out)
			}
			now := withoutCacheControl(t, out)
			if before != nil && !bytes.HasPrefix(now, before) {
				if gain := removed.bytes - saved; gain*gainPart < rules.At*bytesPerToken/2 {
					t.Fatalf("pruned for %d bytes at %d tokens", gain, rules.At)
				}
			} else if removed.bytes != saved && before != nil {
				t.Fatalf("%d bytes fewer instead of %d with the same prefix", removed.bytes, saved)
			}
			before, saved = now, removed.bytes
		}
	})
}

// withoutCacheControl returns a request's list of messages without its closing
// bracket and without cache_control.
func withoutCacheControl(t *rapid.T, body []byte) []byte {
	var r struct{ Messages []map[string]any }
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Messages {
		if blocks, ok := m["content"].([]any); ok {
			for _, b := range blocks {
				if block, ok := b.(map[string]any); ok {
					delete(block, "cache_control")
				}
			}
		}
	}
	data, err := json.Marshal(r.Messages)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(data, []byte("]"))
}

func FuzzParse(f *testing.F) {
	f.Add(loop(2, 500).body(f))
	f.Add([]byte(`{"messages":[{"role":"user","content":"CRITICAL: Respond with TEXT ONLY. create a detailed summary of the conversation"}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":1}]}]}]}`))
	f.Add([]byte(`{"messages":[7,[],{"content":{}}],"model":null} {}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := parse(body)
		if err != nil {
			return
		}
		out, removed := prune(r, Rules{At: 1, Keep: 0, Chars: 3}, all)
		if removed.results == 0 && !bytes.Equal(out, body) {
			t.Fatal("changed without pruning")
		}
		again, err := parse(out)
		if err != nil {
			t.Fatalf("the result does not parse: %v", err)
		}
		if len(again.messages) != len(r.messages) {
			t.Fatalf("%d messages became %d", len(r.messages), len(again.messages))
		}
		if prompt, ok := r.summaryPrompt(); ok {
			r.conversation("s", prompt)
		}
	})
}

// BenchmarkRewrite measures parsing and pruning a request of a megabyte.
func BenchmarkRewrite(b *testing.B) {
	body := loop(250, 4000).body(b)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r, err := parse(body)
		if err != nil {
			b.Fatal(err)
		}
		if _, removed := prune(r, Rules{At: 80_000, Keep: 4, Chars: 80}, all); removed.results == 0 {
			b.Fatal("nothing was pruned")
		}
	}
}

// TestLongTurnsWithoutHooks is 64 turns of results, long replies and reasoning: what is sent
// stays small, its prefix is that of the last request in most, and every call has its result.
// The rules are the defaults, with prune_text.
func TestLongTurnsWithoutHooks(t *testing.T) {
	rules := Rules{At: 50_000, Keep: 4, Chars: 80, Texts: true}
	var c chat
	var before, last []byte
	whole, sent, same, requests := 0, 0, 0, 0
	request := func() {
		body := c.body(t)
		out, _ := prune(mustParse(t, body), rules, all)
		requests++
		whole, sent = whole+len(body), sent+len(out)
		if now := []byte(strings.ReplaceAll(string(out[:bytes.LastIndexByte(out, ']')]), `"cache_control":{"type":"ephemeral"},`, "")); bytes.HasPrefix(now, before) {
			same++
			before = now
		} else {
			before = now
		}
		last = out
	}
	for i := range 64 {
		c = c.ask(fmt.Sprintf("Prompt %d", i))
		request()
		id := fmt.Sprintf("t%d", i)
		c = append(c,
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": strings.Repeat("hm ", 400), "signature": "c2ln"},
				map[string]any{"type": "text", "text": "I run it."},
				map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "make"}},
			}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "result " + strings.Repeat("r", 1500)}}})
		request()
		c = append(c, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": fmt.Sprintf("Reply %d. ", i) + strings.Repeat("word ", 800)}}})
	}
	t.Logf("%d of %d bytes (%d %%), %d of %d requests extend the one before; the last has %d of %d bytes",
		sent, whole, sent*100/whole, same, requests, len(last), len(c.body(t)))
	if sent*100 > whole*60 || same*100 < requests*80 {
		t.Error("want at most 60 % of the bytes and 80 % of the prefixes")
	}
	r := mustParse(t, last)
	uses, prompts := map[string]bool{}, 0
	for i, m := range r.messages {
		if m.prompts() {
			prompts++
		}
		for _, b := range m.blocks {
			switch b.kind {
			case blockUse:
				uses[b.id] = true
			case blockResult:
				if !uses[b.id] || r.messages[i-1].blocks[len(r.messages[i-1].blocks)-1].id != b.id {
					t.Errorf("the result of %s does not follow its call", b.id)
				}
			}
		}
	}
	text := string(last)
	for _, want := range []string{"recall 7f3a12cd/0.0]", "of this reply were omitted to save context. To read them: recall 7f3a12cd/0]", "reasoning was omitted", "Prompt 0", "Reply 0. word", "Reply 61. " + strings.Repeat("word ", 800)} {
		if !strings.Contains(text, want) {
			t.Errorf("the last request lacks %q", want)
		}
	}
	if len(uses) != 64 || prompts != 64 || strings.Contains(text, `"thinking":`) && strings.Index(text, `"thinking":`) < strings.LastIndex(text, "reasoning was omitted") {
		t.Errorf("%d calls and %d prompts are left", len(uses), prompts)
	}
}
