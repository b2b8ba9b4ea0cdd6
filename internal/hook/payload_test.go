package hook

import (
	"reflect"
	"testing"
)

func TestParsePayload(t *testing.T) {
	tests := map[string]struct {
		in   string
		want payload
	}{
		"as the client sends it": {
			`{"session_id":"s1","transcript_path":"/p/s1.jsonl","cwd":"/w","hook_event_name":"SessionStart","source":"compact","model":"m"}`,
			payload{Session: "s1", Transcript: "/p/s1.jsonl", Cwd: "/w", Event: "SessionStart", Source: "compact"},
		},
		"the summarizer's end": {
			`{"session_id":"s1","hook_event_name":"SubagentStop","agent_id":"a1","agent_type":"","last_assistant_message":"<summary>x</summary>"}`,
			payload{Session: "s1", Event: "SubagentStop", AgentID: "a1", LastMessage: "<summary>x</summary>"},
		},
		"null instead of a string": {
			`{"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null,"session_id":"s1"}`,
			payload{Event: "PreCompact", Trigger: "auto", Session: "s1"},
		},
		"unknown members": {
			`{"tool_response":{"a":[1,{"b":"session_id"}]},"session_id":"s1","x":null}`,
			payload{Session: "s1"},
		},
		"numbers instead of strings": {`{"session_id":7,"cwd":true,"hook_event_name":"Stop"}`, payload{Event: "Stop"}},
		"truncated":                  {`{"session_id":"s1","transcript_path":"/p/s1`, payload{Session: "s1"}},
		"duplicate":                  {`{"session_id":"s1","session_id":"s2"}`, payload{Session: "s2"}},
		"invalid UTF-8":              {"{\"session_id\":\"s\xff1\"}", payload{Session: "s\ufffd1"}},
		"empty":                      {``, payload{}},
		"an array":                   {`["session_id"]`, payload{}},
		"not JSON":                   {`Stop`, payload{}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := parsePayload([]byte(c.in)); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestIsSummarizer(t *testing.T) {
	for name, c := range map[string]struct {
		in   payload
		want bool
	}{
		"the summarizer":                 {payload{Event: "SubagentStop", AgentID: "a", LastMessage: "s"}, true},
		"a sub-agent":                    {payload{Event: "SubagentStop", AgentID: "a", AgentType: "Explore", LastMessage: "s"}, false},
		"a summarizer without a message": {payload{Event: "SubagentStop", AgentID: "a"}, false},
		"the end of a turn":              {payload{Event: "Stop", LastMessage: "s"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.in.hooks.Summarizer = true
			if got := c.in.isSummarizer(); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzParsePayload(f *testing.F) {
	f.Add([]byte(`{"session_id":"s1","hook_event_name":"Stop"}`))
	f.Add([]byte(`{"session_id":{"a":[`))
	f.Add([]byte("{\"a\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Any input is parsed without a panic and with the same result twice.
		first, second := parsePayload(data), parsePayload(data)
		if !reflect.DeepEqual(first, second) {
			t.Error("two results differ")
		}
	})
}
