package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// conversation is what the plugin sends on stdin.
type conversation struct {
	session, transcript, cwd, agent string
	trigger, instructions           string
	tokens, window                  int // 0: not known
	messages                        []transcript.Message
}

// subject is the archive's id of the session whose context is compacted.
func (c conversation) subject() string {
	if !archive.ValidID(c.agent) {
		return c.session
	}
	return c.session + "~" + c.agent
}

// compactReserve is how far below the window's end the client compacts by
// itself, in tokens.
const compactReserve = 33_000

// effectiveWindow is the window that the client compacts for, which settings may
// set below the model's: an automatic compaction tells where it ends.
func (c conversation) effectiveWindow(getenv func(string) string) int {
	window := c.window
	lower := func(n int) {
		if n > 0 && (window == 0 || n < window) {
			window = n
		}
	}
	if n, err := strconv.Atoi(getenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW")); err == nil {
		lower(n)
	}
	if c.trigger == "auto" && c.tokens > 0 {
		lower(c.tokens + compactReserve)
	}
	return window
}

// source is what the conversation's transcript is found by.
func (c conversation) source() [4]string {
	return [4]string{c.session, c.transcript, c.cwd, c.agent}
}

// arriving is a conversation that is being parsed.
type arriving struct {
	head chan conversation // what stands in front of the messages, if there are any
	done chan struct{}
	conv conversation
	err  error
}

// parse reads a conversation beside its caller: the session is known long before
// the messages are, and looking it up takes as long as they do.
func parse(data []byte) *arriving {
	p := &arriving{head: make(chan conversation, 1), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer close(p.head)
		p.conv, p.err = readConversation(data, func(c conversation) { p.head <- c })
	}()
	return p
}

// wait returns the whole conversation.
func (p *arriving) wait() (conversation, error) {
	<-p.done
	return p.conv, p.err
}

// conversationHint is for a person: the client's plugin knows what to send.
const conversationHint = "--session takes an archived one; `strandline compact --help` shows what the client's plugin sends"

// readConversation parses what the plugin sends. What is unknown is passed over,
// so that a newer client's fields do no harm; a conversation that is no JSON, or
// holds no messages, is an error. begun is called once, with what stands in front
// of the messages.
func readConversation(data []byte, begun func(head conversation)) (conversation, error) {
	var c conversation
	if len(bytes.TrimSpace(data)) == 0 {
		return c, archive.Invalid("there is no conversation on stdin", conversationHint)
	}
	w := text.NewJSONReader(data)
	messages := func() {
		if begun != nil {
			begun(c)
			begun = nil
		}
		w.Array(func() { c.messages = append(c.messages, readMessage(w)) })
	}
	if w.IsArray() {
		messages()
	} else {
		w.Object(func(name []byte) {
			switch string(name) {
			case "session":
				c.session = w.Text()
			case "transcript":
				c.transcript = w.Text()
			case "cwd":
				c.cwd = w.Text()
			case "agentId":
				c.agent = w.Text()
			case "trigger":
				c.trigger = w.Text()
			case "instructions":
				c.instructions = w.Text()
			case "tokens":
				c.tokens = w.Int()
			case "window":
				c.window = w.Int()
			case "messages":
				messages()
			default:
				w.Skip()
			}
		})
	}
	if err := w.Err(); err != nil {
		return c, &archive.Error{Code: archive.CodeInvalid, Msg: "stdin is no conversation", Err: err, Hint: conversationHint}
	}
	if len(c.messages) == 0 && c.trigger != "precompute" {
		return c, archive.Invalid("the conversation on stdin holds no messages", conversationHint)
	}
	return c, nil
}

func readMessage(w *text.JSONReader) (m transcript.Message) {
	w.Object(func(name []byte) {
		switch string(name) {
		case "role":
			m.Role = w.Text()
		case "text":
			m.Text = w.Text()
		case "toolUses":
			w.Array(func() { m.Uses = append(m.Uses, readToolUse(w)) })
		case "toolResults":
			w.Array(func() { m.Results = append(m.Results, readToolResult(w)) })
		default:
			w.Skip()
		}
	})
	claude.Classify(&m)
	return m
}

func readToolUse(w *text.JSONReader) transcript.ToolUse {
	var id, tool string
	var input []byte
	w.Object(func(name []byte) {
		switch string(name) {
		case "tool_use_id":
			id = w.Text()
		case "tool":
			tool = w.Text()
		case "input":
			input = w.Value()
		default:
			w.Skip()
		}
	})
	return claude.ToolUse(id, tool, input)
}

func readToolResult(w *text.JSONReader) (r transcript.ToolResult) {
	w.Object(func(name []byte) {
		switch string(name) {
		case "tool_use_id":
			r.ID = w.Text()
		case "text":
			r.Text = w.Text()
		case "isError":
			r.Failed = w.Bool()
		default:
			w.Skip()
		}
	})
	return r
}

// The answer's shapes.
type (
	answerMessage struct {
		Keep    *int           `json:"keep,omitempty"`
		Role    string         `json:"role,omitempty"`
		Text    string         `json:"text,omitempty"`
		Uses    []answerUse    `json:"toolUses,omitempty"`
		Results []answerResult `json:"toolResults,omitempty"`
	}
	answerUse struct {
		ID    string          `json:"tool_use_id"`
		Name  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	answerResult struct {
		ID     string `json:"tool_use_id"`
		Text   string `json:"text"`
		Failed bool   `json:"isError"`
	}
)

// answerOf is the answer to the plugin. Only what has to be the client's own
// message is kept as one: prompts, for their pictures, and the responses of a
// turn that is going on, for their thinking. The others are told again, word for
// word, because of what version 2.1.329 makes of a kept one when it resumes the
// session: a tool's result hangs on the call's row in front of the compaction,
// so that the session runs past the compaction as if there had been none; and
// the blocks of a response come back once for each copy in the transcript.
func answerOf(r compact.Replacement, req compact.ReplaceRequest) map[string][]answerMessage {
	list := []answerMessage{{Role: "user", Text: r.Text}}
	for _, i := range r.Keep {
		m := &req.Messages[i]
		switch {
		case len(m.Results) == 0 && (m.Role != "assistant" || i >= r.Open):
			list = append(list, answerMessage{Keep: &i})
		default:
			list = retell(list, m)
		}
	}
	return map[string][]answerMessage{"messages": list}
}

// retell appends a message told anew. The rows of one response become one
// message; thinking is left out, and so is what a resumed session holds twice.
func retell(list []answerMessage, m *transcript.Message) []answerMessage {
	out := anew(m)
	last := &list[len(list)-1]
	if m.Role == "assistant" {
		for i := range list {
			out.Uses = slices.DeleteFunc(out.Uses, func(u answerUse) bool {
				return slices.ContainsFunc(list[i].Uses, func(v answerUse) bool { return v.ID == u.ID })
			})
		}
		if last.Role == out.Role && last.Text == out.Text {
			out.Text = ""
		}
		if last.Role == out.Role && (out.Text == "" || last.Text == "" && len(last.Uses) == 0) {
			last.Text += out.Text
			last.Uses = append(last.Uses, out.Uses...)
			return list
		}
	}
	if out.Text == "" && len(out.Uses)+len(out.Results) == 0 {
		return list
	}
	return append(list, out)
}

// wholeAnswer is the new conversation with everything in it.
func wholeAnswer(r compact.Replacement, req compact.ReplaceRequest) map[string][]answerMessage {
	list := []answerMessage{{Role: "user", Text: r.Text}}
	for _, i := range r.Keep {
		list = append(list, anew(&req.Messages[i]))
	}
	return map[string][]answerMessage{"messages": list}
}

// anew tells a message word for word.
func anew(m *transcript.Message) answerMessage {
	out := answerMessage{Role: m.Role, Text: m.Text}
	for _, u := range m.Uses {
		if !json.Valid(u.Input) {
			u.Input = []byte("{}")
		}
		out.Uses = append(out.Uses, answerUse{u.ID, u.Name, u.Input})
	}
	for _, u := range m.Results {
		out.Results = append(out.Results, answerResult{u.ID, u.Text, u.Failed})
	}
	return out
}
