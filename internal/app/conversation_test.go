package app

import (
	"strings"
	"testing"

	"strandline/internal/compact"
	"strandline/internal/transcript"
)

func TestReadConversation(t *testing.T) {
	t.Parallel()
	c, err := readConversation([]byte(`{"session":"s","transcript":"/t","cwd":"/c","agentId":"a1","trigger":"auto","instructions":"i",
		"tokens":1e3,"window":200000,"unknown":{"a":[1,2,{"b":null}]},
		"messages":[{"role":"user","text":"hi","handle":"h"},{"role":"assistant","toolUses":[{"tool_use_id":"t","tool":"Bash","input":{"command":"ls"},"result":[1]}]},
		{"role":"user","toolResults":[{"tool_use_id":"t","text":"out","isError":true}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.id() != "s~a1" || c.tokens != 1000 || c.window != 200_000 || c.trigger != "auto" || c.instructions != "i" || len(c.messages) != 3 {
		t.Errorf("%+v", c)
	}
	if m := c.messages[0]; m.Prompt != "hi" || m.Role != "user" {
		t.Errorf("%+v", m)
	}
	if u := c.messages[1].Uses[0]; u.ID != "t" || u.Command != "ls" || string(u.Input) != `{"command":"ls"}` {
		t.Errorf("%+v", u)
	}
	if r := c.messages[2].Results[0]; r.ID != "t" || r.Text != "out" || !r.Failed {
		t.Errorf("%+v", r)
	}
}

// The fields before the messages are known first, those after them at the end.
func TestParseHead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stdin      string
		head, conv [5]string
		fails      bool
	}{
		{`{"session":"s","transcript":"/t","messages":[{"role":"user","text":"x"}],"agentId":"a"}`, [5]string{"", "s", "/t"}, [5]string{"", "s", "/t", "", "a"}, false},
		{`{"messages":[{"role":"user","text":"x"}],"session":"s","messages":[]}`, [5]string{}, [5]string{"", "s"}, false},
		{`{"session":"s"}`, [5]string{}, [5]string{"", "s"}, true},
		{`{"session":"s","messages":[{"role"`, [5]string{"", "s"}, [5]string{"", "s"}, true},
		{`[{"role":"user","text":"x"}]`, [5]string{}, [5]string{}, false},
		{``, [5]string{}, [5]string{}, true},
	} {
		early, wait := parse([]byte(tt.stdin))
		if head := <-early; head.source() != tt.head {
			t.Errorf("%s: head %q, want %q", tt.stdin, head.source(), tt.head)
		}
		conv, err := wait()
		if conv.source() != tt.conv || (err != nil) != tt.fails {
			t.Errorf("%s: %q (%v), want %q", tt.stdin, conv.source(), err, tt.conv)
		}
	}
}

func TestEffectiveWindow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c    conversation
		env  string
		want int
	}{
		{conversation{window: 1_000_000}, "", 1_000_000},
		{conversation{window: 1_000_000}, "100000", 100_000},
		{conversation{window: 200_000}, "1000000", 200_000},
		{conversation{window: 1_000_000, trigger: "auto", tokens: 67_000}, "", 100_000},
		{conversation{window: 1_000_000, trigger: "manual", tokens: 67_000}, "much", 1_000_000},
		{conversation{}, "", 0},
	} {
		if got := tt.c.effectiveWindow(func(string) string { return tt.env }); got != tt.want {
			t.Errorf("%+v with %q: %d, want %d", tt.c, tt.env, got, tt.want)
		}
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	use := func(id string) []transcript.ToolUse {
		return []transcript.ToolUse{{ID: id, Name: "Bash", Input: []byte(`{}`)}}
	}
	result := func(id string) []transcript.ToolResult { return []transcript.ToolResult{{ID: id, Text: "x"}} }
	req := compact.ReplaceRequest{Messages: []transcript.Message{
		{Role: "user", Text: "first", Prompt: "first"},
		{Role: "assistant"}, // thinking
		{Role: "assistant", Text: "I look."},
		{Role: "assistant", Uses: use("t1")},
		{Role: "user", Results: result("t1")},
		{Role: "assistant", Text: "Seen."},
		{Role: "assistant", Text: "Seen."}, // as a resumed session has it
		{Role: "user", Text: "second", Prompt: "second"},
		{Role: "assistant"},
		{Role: "assistant", Uses: use("t2")},
		{Role: "user", Results: result("t2")},
	}}
	list := Replacement{Replacement: compact.Replacement{Text: "record", Keep: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, Open: 8}, request: req}.Reply().Messages
	var got []string
	for _, m := range list {
		switch {
		case m.Keep != nil:
			got = append(got, "keep "+req.Messages[*m.Keep].Text)
		default:
			got = append(got, strings.TrimSpace(m.Role+" "+m.Text+strings.Repeat(" use", len(m.Uses))+strings.Repeat(" result", len(m.Results))))
		}
	}
	want := []string{"user record", "keep first", "assistant I look. use", "user  result", "assistant Seen.", "keep second", "keep ", "keep ", "user  result"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func FuzzReadConversation(f *testing.F) {
	for _, seed := range []string{
		`{"messages":[{"role":"user","text":"x"}]}`, `[{"toolUses":[{"input":{"a":1}}]}]`, `{"messages":[{"toolResults":[{}]}],"tokens":-1e99}`,
		`{"messages":`, `[`, `null`, `{"messages":[[]]}`, "", "\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readConversation(data, nil)
		if err != nil {
			return
		}
		if len(c.messages) == 0 && c.trigger != "precompute" {
			t.Error("no messages and no error")
		}
		if c.tokens < 0 || c.window < 0 {
			t.Errorf("tokens %d, window %d", c.tokens, c.window)
		}
		if len(c.messages) > 0 {
			if _, err := compact.Replace(t.Context(), nil, compact.ReplaceRequest{Messages: c.messages, Budget: 500}); err != nil {
				t.Error(err)
			}
		}
	})
}
