package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
	"strandline/internal/compact"
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
	messages := func(d *wire) {
		if begun != nil {
			begun(c)
			begun = nil
		}
		d.list(func() { c.messages = append(c.messages, d.message()) })
	}
	d := &wire{dec: jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))}
	if len(bytes.TrimSpace(data)) == 0 {
		return c, archive.Invalid("there is no conversation on stdin", conversationHint)
	}
	switch d.dec.PeekKind() {
	case '[':
		messages(d)
	default:
		d.object(func(name string) {
			switch name {
			case "session":
				c.session = d.text()
			case "transcript":
				c.transcript = d.text()
			case "cwd":
				c.cwd = d.text()
			case "agentId":
				c.agent = d.text()
			case "trigger":
				c.trigger = d.text()
			case "instructions":
				c.instructions = d.text()
			case "tokens":
				c.tokens = d.number()
			case "window":
				c.window = d.number()
			case "messages":
				messages(d)
			default:
				d.skip()
			}
		})
	}
	if d.err != nil {
		return c, &archive.Error{Code: archive.CodeInvalid, Msg: "stdin is no conversation", Err: d.err, Hint: conversationHint}
	}
	if len(c.messages) == 0 && c.trigger != "precompute" {
		return c, archive.Invalid("the conversation on stdin holds no messages", conversationHint)
	}
	return c, nil
}

// wire reads JSON until the first error, which it keeps.
type wire struct {
	dec *jsontext.Decoder
	err error
}

func (d *wire) token() jsontext.Token {
	if d.err != nil {
		return jsontext.Token{}
	}
	tok, err := d.dec.ReadToken()
	d.err = err
	return tok
}

func (d *wire) skip() {
	if d.err == nil {
		d.err = d.dec.SkipValue()
	}
}

// text returns a string; any other value is passed over.
func (d *wire) text() string {
	if d.err != nil || d.dec.PeekKind() != '"' {
		d.skip()
		return ""
	}
	tok := d.token()
	if d.err != nil {
		return ""
	}
	return strings.ToValidUTF8(tok.String(), "\uFFFD")
}

func (d *wire) number() int {
	if d.err != nil || d.dec.PeekKind() != '0' {
		d.skip()
		return 0
	}
	tok := d.token()
	if d.err != nil {
		return 0
	}
	n, err := tok.Float()
	d.err = err
	return int(min(max(n, 0), 1<<31-1))
}

func (d *wire) truth() bool {
	if d.err != nil || d.dec.PeekKind() != 't' {
		d.skip()
		return false
	}
	d.token()
	return true
}

// object calls member with each name; it has to read the value. Any other value
// is passed over.
func (d *wire) object(member func(name string)) {
	if d.err != nil || d.dec.PeekKind() != '{' {
		d.skip()
		return
	}
	d.token()
	for d.err == nil && d.dec.PeekKind() != '}' {
		name := d.token()
		if d.err != nil {
			return
		}
		member(name.String())
	}
	d.token()
}

// list calls element for each element; it has to read it.
func (d *wire) list(element func()) {
	if d.err != nil || d.dec.PeekKind() != '[' {
		d.skip()
		return
	}
	d.token()
	for d.err == nil && d.dec.PeekKind() != ']' {
		element()
	}
	d.token()
}

func (d *wire) message() (m transcript.Message) {
	d.object(func(name string) {
		switch name {
		case "role":
			m.Role = d.text()
		case "text":
			m.Text = d.text()
		case "toolUses":
			d.list(func() { m.Uses = append(m.Uses, d.toolUse()) })
		case "toolResults":
			d.list(func() { m.Results = append(m.Results, d.toolResult()) })
		default:
			d.skip()
		}
	})
	claude.Spoken(&m)
	return m
}

func (d *wire) toolUse() transcript.ToolUse {
	var id, tool string
	var input []byte
	d.object(func(name string) {
		switch name {
		case "tool_use_id":
			id = d.text()
		case "tool":
			tool = d.text()
		case "input":
			if d.err == nil {
				var raw jsontext.Value
				if raw, d.err = d.dec.ReadValue(); d.err == nil {
					input = bytes.Clone(raw)
				}
			}
		default:
			d.skip()
		}
	})
	return claude.ToolUse(id, tool, input)
}

func (d *wire) toolResult() (r transcript.ToolResult) {
	d.object(func(name string) {
		switch name {
		case "tool_use_id":
			r.ID = d.text()
		case "text":
			r.Text = d.text()
		case "isError":
			r.Failed = d.truth()
		default:
			d.skip()
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
