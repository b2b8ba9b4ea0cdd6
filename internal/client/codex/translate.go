package codex

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// Translator translates rows. The exported fields are its state.
type Translator struct {
	Session string `json:",omitempty"` // the client's session
	Agent   string `json:",omitempty"` // of a sub-agent; Session is its parent then
	Copied  string `json:",omitempty"` // the session whose rows this one repeats
	Turn    string `json:",omitempty"` // the turn's id
	Prompts int    `json:",omitempty"`
	Asked   bool   `json:",omitempty"` // the turn has a prompt
	Items   bool   `json:",omitempty"` // events name each call that a script made
	Cwd     string `json:",omitempty"`
	Model   string `json:",omitempty"`
	Window  int64  `json:",omitempty"` // tokens
	// Response identifies the last response; Ended reports that the next item begins
	// another one, and Counted that its tokens are known.
	Response       string `json:",omitempty"`
	Ended, Counted bool   `json:",omitempty"`
	// Records reports that rows of their own count the tokens; events then repeat them.
	Records        bool  `json:",omitempty"`
	Total, Context int64 `json:",omitempty"` // tokens of the session, of the largest request since the compaction
	// Calls are the newest calls.
	Calls []Call `json:",omitempty"`
}

// Call is a tool call that may end.
type Call struct {
	ID    string
	Kind  string   `json:",omitempty"` // one of the kinds below
	Parts int      `json:",omitempty"` // further calls that it is shown as: files of a patch
	Ended *Outcome `json:",omitempty"`
}

// Outcome is how a call ended, as an event reported it before its output.
type Outcome struct {
	Exit *int `json:",omitempty"`
}

// The kinds of calls whose results are of interest.
const (
	callCommand = "command"
	callPatch   = "patch"
)

// maxCalls is how many calls are remembered.
const maxCalls = 64

// Translate implements transcript.Translator.
func (t *Translator) Translate(line []byte) []transcript.Entry {
	var r row
	if !transcript.Decode(line, &r) {
		return nil
	}
	p := &r.Payload
	at := transcript.Entry{Type: transcript.EntryOther, Session: t.Session, Agent: t.Agent}
	if r.Time != "" {
		at.Time = r.Time
	}
	switch r.Type {
	case rowMeta:
		return t.meta(at, p)
	case rowContext:
		t.turn(p.Turn)
		t.Cwd, t.Model = cmp.Or(p.Cwd, t.Cwd), cmp.Or(p.Model, t.Model)
		at.Cwd = p.Cwd
	case rowItem:
		return t.item(at, p)
	case rowEvent:
		return t.event(at, p, line)
	case rowUsage:
		t.Records = true
		return t.usage(at, p.Usage, p.ThreadUsage)
	case rowCompacted:
		compact := transcript.EntryCompact{Trigger: t.trigger(), Before: t.Context}
		t.Response, t.Context = "", 0
		return transcript.Compaction(at, compact, p.Message)
	}
	return []transcript.Entry{at}
}

// meta reads the facts about the session. Those of a session that this one repeats are
// left out.
func (t *Translator) meta(at transcript.Entry, m *payload) []transcript.Entry {
	id := cmp.Or(m.ID, m.Session)
	if t.Session != "" {
		t.Copied, t.Prompts = id, 0
		return []transcript.Entry{at}
	}
	t.Session, t.Copied, t.Cwd = id, id, m.Cwd
	if parent := m.parent(); parent != "" {
		t.Session, t.Agent = parent, id
	}
	at.Session, at.Agent, at.Cwd, at.Version, at.Branch = t.Session, t.Agent, m.Cwd, m.Version, m.Git.Branch
	return []transcript.Entry{at}
}

// turn begins a turn of the client, unless it is the current one.
func (t *Translator) turn(id string) {
	if id != "" && id != t.Turn {
		t.Turn, t.Asked, t.Ended = id, false, true
	}
}

// trigger guesses why a compaction happens: the client compacts a context that is nearly
// full, and does not say whether the user asked.
func (t *Translator) trigger() string {
	switch {
	case t.Window == 0 || t.Context == 0:
		return ""
	case t.Context*10 >= t.Window*8:
		return "auto"
	}
	return "manual"
}

// identity identifies a part of the conversation in all sessions, so that a copy is
// recognized. Its values are the same in the copy; the times are not.
func (t *Translator) identity(turn string, values ...string) string {
	scope := cmp.Or(turn, t.Turn)
	if scope == "" {
		scope = t.Copied + "/" + strconv.Itoa(t.Prompts)
	}
	return scope + ":" + strconv.FormatUint(xxhash.Sum64String(strings.Join(values, "\x00")), 36)
}

// item translates a part of the conversation.
func (t *Translator) item(at transcript.Entry, i *payload) []transcript.Entry {
	t.turn(i.Passed.Turn)
	switch i.Type {
	case "message", "":
		if i.Role == "assistant" {
			all, _ := texts(i.Content)
			return t.reply(at, i, strings.Join(all, "\n"), transcript.TextBlock)
		}
		return t.input(at, i)
	case "agent_message": // of another agent
		return t.input(at, i)
	case "reasoning":
		all, _ := texts(i.Summary)
		more, _ := texts(i.Content)
		return t.reply(at, i, strings.Join(append(all, more...), "\n"), transcript.ThinkingBlock)
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
		return t.call(at, i)
	case "function_call_output", "custom_tool_call_output", "tool_search_output":
		return t.output(at, i)
	}
	return []transcript.Entry{at}
}

// assistant returns a row of the current response, or of the next one if that has ended.
func (t *Translator) assistant(at transcript.Entry, values ...string) transcript.Entry {
	if t.Response == "" || t.Ended {
		t.Response, t.Ended, t.Counted = t.identity("", values...), false, false
	}
	at.Type = transcript.EntryAssistant
	at.Message = &transcript.EntryMessage{ID: t.Response, Model: t.Model}
	return at
}

// reply translates text of the model.
func (t *Translator) reply(at transcript.Entry, i *payload, body string, block func(string) transcript.EntryBlock) []transcript.Entry {
	at = t.assistant(at, i.Type, i.ID, body)
	if body != "" {
		at.Message.Content = []transcript.EntryBlock{block(body)}
	}
	return []transcript.Entry{at}
}

// input translates a message to the model: of the user, of another agent, or of the client.
func (t *Translator) input(at transcript.Entry, i *payload) []transcript.Entry {
	t.Ended = true
	all, images := texts(i.Content)
	body := strings.Join(all, "\n")
	asks := i.Role == "user" && !isContext(i.Passed.Kinds, body) || i.Type == "agent_message" && t.Agent != ""
	if i.Type == "agent_message" {
		body = agentTask(body)
	}
	if !asks {
		at.Type, at.Subtype, at.Content = transcript.EntrySystem, cmp.Or(i.Role, i.Type), body
		return []transcript.Entry{at}
	}
	return []transcript.Entry{t.prompt(at, i.ID, request(body), images)}
}

// prompt returns the row of a prompt.
func (t *Translator) prompt(at transcript.Entry, id, body string, images int) transcript.Entry {
	t.Asked = true
	t.Prompts++
	at.Type, at.Message = transcript.EntryUser, &transcript.EntryMessage{ID: t.identity("", "prompt", id, body)}
	if body != "" {
		at.Message.Content = append(at.Message.Content, transcript.TextBlock(body))
	}
	for range images {
		at.Message.Content = append(at.Message.Content, transcript.ImageBlock())
	}
	return at
}

// isContext reports whether a user's message is of the client.
func isContext(kinds []string, body string) bool {
	if len(kinds) > 0 && !strings.HasPrefix(kinds[0], "user.") && kinds[0] != "unknown" {
		return true
	}
	body = strings.TrimSpace(body)
	for _, opening := range []string{
		"<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
		"<permissions instructions>", "<user_shell_command>", "<subagent_notification>", "<collaboration_mode>", "<personality_spec>",
		"<skills_instructions>", "<apps_instructions>", "<plugins_instructions>", "<hook_prompt", "Warning: apply_patch was requested via",
	} {
		if strings.HasPrefix(body, opening) {
			return true
		}
	}
	return false
}

// agentTask returns a message between agents without the client's names of its parts. The
// text itself may be encrypted.
func agentTask(body string) string {
	var lines []string
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\n")
		if !text.HasAnyPrefix(line, "Message Type: ", "Sender: ", "Payload:") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// request returns the user's own text: an editor puts its state before it.
func request(body string) string {
	if strings.HasPrefix(body, "# Context from my IDE setup:") {
		if _, typed, ok := strings.Cut(body, "## My request for Codex:"); ok {
			return strings.TrimSpace(typed)
		}
	}
	return body
}

// usage translates the tokens of a response: the current one, unless its tokens are known.
// Events repeat them.
func (t *Translator) usage(at transcript.Entry, last, total tokens) []transcript.Entry {
	if total.Total == t.Total || last.Input+last.Output == 0 {
		return []transcript.Entry{at}
	}
	t.Total, t.Context = total.Total, max(t.Context, last.Total)
	t.Ended = t.Counted
	at = t.assistant(at, "usage", strconv.FormatInt(total.Total, 10))
	at.Message.Usage = last.entry()
	t.Counted, t.Ended = true, true
	return []transcript.Entry{at}
}

// event translates an event.
func (t *Translator) event(at transcript.Entry, e *payload, line []byte) []transcript.Entry {
	switch e.Type {
	case "task_started", "turn_started":
		t.turn(e.Turn)
		t.Window = cmp.Or(e.Window, t.Window)
	case "user_message": // a repetition, except in files without items
		if !t.Asked && !isContext(nil, e.Message) {
			return []transcript.Entry{t.prompt(at, "", request(e.Message), 0)}
		}
	case "token_count":
		if e.Info != nil {
			t.Window = cmp.Or(e.Info.Window, t.Window)
			if !t.Records {
				return t.usage(at, e.Info.Last, e.Info.Total)
			}
		}
	case "turn_aborted":
		at.Type, at.Subtype, at.Content = transcript.EntrySystem, e.Type, "The turn was "+cmp.Or(e.Reason, "interrupted")+"."
	case "error", "stream_error":
		at.Type, at.Failed = transcript.EntryAssistant, true
		at.Message = &transcript.EntryMessage{Content: []transcript.EntryBlock{transcript.TextBlock(e.Message)}}
	case "thread_name_updated":
		at.Type, at.Title = transcript.EntryUserTitle, e.Thread
	case "item_completed":
		t.Items = true
		var d done
		transcript.Decode(e.Item, &d)
		return t.done(at, &d)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end":
		var r struct {
			Payload done `json:"payload"`
		}
		transcript.Decode(line, &r)
		return t.done(at, &r.Payload)
	}
	return []transcript.Entry{at}
}

// jsonText returns JSON that a text holds, or the value itself.
func jsonText(raw json.RawMessage) json.RawMessage {
	if len(raw) > 0 && raw[0] == '"' {
		if inner := json.RawMessage(transcript.Text(raw)); json.Valid(inner) {
			return inner
		}
	}
	return raw
}
