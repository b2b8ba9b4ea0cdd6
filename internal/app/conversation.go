package app

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// conversation is a context to compact, as the client's plugin sends it.
type conversation struct {
	client                          string // as in capture.Source
	session, transcript, cwd, agent string
	trigger, instructions           string
	tokens, window                  int // 0: not known
	messages                        []transcript.Message
}

// id returns the archive's ID of the session or sub-agent run.
func (c conversation) id() string {
	if !archive.ValidID(c.agent) {
		return c.session
	}
	return c.session + "~" + c.agent
}

// compactReserve is the distance in tokens from the end of the window at which the
// client compacts automatically.
const compactReserve = 33_000

// effectiveWindow returns the size of the window that the client compacts for. The
// client's settings may limit it below the model's; the size of an automatically
// compacted context shows the limit.
func (c conversation) effectiveWindow(getenv func(string) string) int {
	window := c.window
	if c.client != "" {
		return window
	}
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

// source identifies the conversation's transcript.
func (c conversation) source() [5]string {
	return [5]string{c.client, c.session, c.transcript, c.cwd, c.agent}
}

// parse starts to parse a conversation. head receives the fields before the messages; it
// is closed without a value if there are none. wait returns the complete conversation.
// The session is known long before the messages, and a lookup of the session takes as
// long as parsing them.
func parse(data []byte) (head <-chan conversation, wait func() (conversation, error)) {
	early := make(chan conversation, 1)
	wait = sync.OnceValues(func() (conversation, error) {
		defer close(early)
		return readConversation(data, func(c conversation) { early <- c })
	})
	go func() { _, _ = wait() }()
	return early, wait
}

// conversationHint is for people who run the command by hand.
const conversationHint = "--session takes an archived one; `strandline compact --help` describes the input"

// readConversation parses a conversation. It skips unknown fields, which newer
// clients may send. Invalid JSON and a lack of messages are errors. onHead is called
// once, with the fields before the messages.
func readConversation(data []byte, onHead func(head conversation)) (conversation, error) {
	var c conversation
	if len(bytes.TrimSpace(data)) == 0 {
		return c, archive.Invalid("stdin contains no conversation", conversationHint)
	}
	w := text.NewJSONReader(data)
	messages := func() {
		if onHead != nil {
			onHead(c)
			onHead = nil
		}
		w.Array(func() { c.messages = append(c.messages, readMessage(w)) })
	}
	if w.IsArray() {
		messages()
	} else {
		into := func(s *string) func() { return func() { *s = w.Text() } }
		readObject(w,
			field{"client", into(&c.client)}, field{"session", into(&c.session)}, field{"transcript", into(&c.transcript)}, field{"cwd", into(&c.cwd)}, field{"agentId", into(&c.agent)},
			field{"trigger", into(&c.trigger)}, field{"instructions", into(&c.instructions)}, field{"messages", messages},
			field{"tokens", func() { c.tokens = w.Int() }}, field{"window", func() { c.window = w.Int() }})
	}
	if err := w.Err(); err != nil {
		return c, &archive.Error{Code: archive.CodeInvalid, Msg: "stdin is not a conversation", Err: err, Hint: conversationHint}
	}
	if len(c.messages) == 0 && c.trigger != "precompute" {
		return c, archive.Invalid("the conversation on stdin holds no messages", conversationHint)
	}
	return c, nil
}

// field is a field of a JSON object and the function that reads its value.
type field struct {
	name string
	read func()
}

// readObject reads the given fields of an object and skips the others.
func readObject(w *text.JSONReader, fields ...field) {
	w.Object(func(name []byte) {
		for i := range fields {
			if string(name) == fields[i].name {
				fields[i].read()
				return
			}
		}
		w.Skip()
	})
}

func readMessage(w *text.JSONReader) (m transcript.Message) {
	summary := false
	readObject(w,
		field{"role", func() { m.Role = w.Text() }},
		field{"summary", func() { summary = w.Bool() }},
		field{"text", func() { m.Text = w.Text() }},
		field{"toolUses", func() { w.Array(func() { m.Uses = append(m.Uses, readToolUse(w)) }) }},
		field{"toolResults", func() { w.Array(func() { m.Results = append(m.Results, readToolResult(w)) }) }})
	claude.Classify(&m)
	if summary {
		m.Summary, m.Prompt = true, ""
	}
	return m
}

func readToolUse(w *text.JSONReader) transcript.ToolUse {
	var id, tool string
	var input []byte
	readObject(w,
		field{"tool_use_id", func() { id = w.Text() }},
		field{"tool", func() { tool = w.Text() }},
		field{"input", func() { input = w.Value() }})
	return claude.ToolUse(id, tool, input)
}

func readToolResult(w *text.JSONReader) (r transcript.ToolResult) {
	readObject(w,
		field{"tool_use_id", func() { r.ID = w.Text() }},
		field{"text", func() { r.Text = w.Text() }},
		field{"isError", func() { r.Failed = w.Bool() }})
	return r
}

// A Reply is a replacement conversation as JSON.
type (
	Reply struct {
		Messages []ReplyMessage `json:"messages"`
	}
	// ReplyMessage is a new message or, with Keep, one of the input, verbatim.
	ReplyMessage struct {
		Keep    *int                    `json:"keep,omitempty"`
		Role    string                  `json:"role,omitempty"`
		Text    string                  `json:"text,omitempty"`
		Uses    []transcript.ToolUse    `json:"toolUses,omitempty"`
		Results []transcript.ToolResult `json:"toolResults,omitempty"`
	}
)

// Reply returns the answer to the plugin. Only two kinds of messages are kept as the
// client's own: prompts, for their images, and the responses of an unfinished turn,
// for their thinking. The others are copied, because client version 2.1.329
// mishandles kept messages when it resumes the session: it attaches a tool result
// to the call before the compaction, so that the session continues as if there had
// been no compaction, and it repeats the blocks of a response once per copy in the
// transcript.
func (r Replacement) Reply() Reply {
	list := []ReplyMessage{{Role: "user", Text: r.Text}}
	for _, i := range r.Keep {
		m := &r.request.Messages[i]
		if len(m.Results) == 0 && (m.Role != "assistant" || i >= r.Open) {
			list = append(list, ReplyMessage{Keep: &i})
		} else {
			list = appendCopy(list, m)
		}
	}
	return Reply{list}
}

// appendCopy appends a copy of a message. Rows of one response are merged; thinking
// is left out, and so are tool calls and texts that a resumed session repeats.
func appendCopy(list []ReplyMessage, m *transcript.Message) []ReplyMessage {
	out := copyOf(m)
	last := &list[len(list)-1]
	if m.Role == "assistant" {
		for i := range list {
			out.Uses = slices.DeleteFunc(out.Uses, func(u transcript.ToolUse) bool {
				return slices.ContainsFunc(list[i].Uses, func(v transcript.ToolUse) bool { return v.ID == u.ID })
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

// A SummaryReply is a replacement for a client whose compaction is a summary and its newest
// messages.
type SummaryReply struct {
	Summary string `json:"summary"`
	// From is the index of the first message that the client keeps, the number of messages
	// if it keeps none.
	From int `json:"from"`
}

// Answer returns what the client's plugin reads.
func (r Replacement) Answer() any {
	if r.summary {
		return SummaryReply{r.Text, len(r.request.Messages) - len(r.Keep)}
	}
	return r.Reply()
}

// summarize makes the replacement a summary and the newest messages: it moves a prompt that
// is kept before others into the text.
func (r *Replacement) summarize() {
	n, from := len(r.Keep), len(r.request.Messages)
	for n > 0 && r.Keep[n-1] == from-1 {
		n, from = n-1, from-1
	}
	r.summary, r.Keep = true, r.Keep[:n]
	if n > 0 {
		r.Text = r.Summary(r.request)
	}
	for r.Keep = nil; from < len(r.request.Messages); from++ {
		r.Keep = append(r.Keep, from)
	}
}

// Expanded returns the conversation without references to the input.
func (r Replacement) Expanded() Reply {
	kept := archive.Convert(r.Keep, func(i int) ReplyMessage { return copyOf(&r.request.Messages[i]) })
	return Reply{append([]ReplyMessage{{Role: "user", Text: r.Text}}, kept...)}
}

func copyOf(m *transcript.Message) ReplyMessage {
	uses := slices.Clone(m.Uses)
	for i := range uses {
		if !json.Valid(uses[i].Input) {
			uses[i].Input = []byte("{}")
		}
	}
	return ReplyMessage{Role: m.Role, Text: m.Text, Uses: uses, Results: m.Results}
}
