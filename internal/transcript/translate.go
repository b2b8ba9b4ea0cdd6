package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// RowSeparator begins each row of a translated line: a line of a client may hold several
// rows. It is not part of any JSON text.
const RowSeparator = 0x1e

// Translator translates the lines of a client into the common form of rows, which is
// that of Claude Code's transcripts, so that all clients share one reader. The lines
// themselves stay as they are in the log.
//
// A translator, a pointer, is used for one transcript, from a line on. Its exported fields are its
// state between two reads; it must stay small (a few kilobytes). Without that state, as in
// the display of a few lines, it translates as well as it can.
type Translator interface {
	// Translate returns the rows of a line, which is a JSON object; none if it has nothing
	// that the common form knows.
	Translate(line []byte) []Entry
}

// Primed is implemented by translators that leave out what they read before. Primed is called
// when the lines so far were read for their facts only, and may be read again.
type Primed interface{ Primed() }

// Entry is a row in the common form. Most fields are optional.
type Entry struct {
	// Type is the kind of the row: "user", "assistant", "system", a title. Rows of other
	// kinds only carry facts and links.
	Type    string `json:"type"`
	Subtype string `json:"subtype,omitempty"`
	// UUID identifies the row in its session, Parent is the one before it in the
	// conversation. A prompt whose parent is an earlier row takes the place of what followed
	// that row. They are empty for clients whose conversations do not branch.
	UUID    string `json:"uuid,omitempty"`
	Parent  string `json:"parentUuid,omitempty"`
	Time    any    `json:"timestamp,omitempty"` // RFC 3339 text or milliseconds since 1970
	Session string `json:"sessionId,omitempty"`
	Agent   string `json:"agentId,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	Branch  string `json:"gitBranch,omitempty"`
	Version string `json:"version,omitempty"`

	Meta      bool `json:"isMeta,omitempty"`           // text of the client, not of the user
	Sidechain bool `json:"isSidechain,omitempty"`      // of a sub-agent in its parent's transcript
	Summary   bool `json:"isCompactSummary,omitempty"` // the summary of a compaction
	Failed    bool `json:"isApiErrorMessage,omitempty"`

	Message *EntryMessage `json:"message,omitempty"`
	Result  *EntryResult  `json:"toolUseResult,omitempty"`
	Compact *EntryCompact `json:"compactMetadata,omitempty"`

	Content string `json:"content,omitempty"`     // of a system row
	Title   string `json:"customTitle,omitempty"` // of a title
}

// The types of entries.
const (
	EntryUser      = "user"
	EntryAssistant = "assistant"
	EntrySystem    = "system"
	EntryTitle     = "ai-title"
	EntryUserTitle = "custom-title"
	EntryTotals    = "cost-state" // Message.Usage holds the session's totals
	EntryOther     = "other"
)

// EntryMessage is the message of a user or assistant row.
type EntryMessage struct {
	// ID identifies an API response, or a prompt, in all sessions; see Identity, which is also
	// the default. Rows with the same ID are one response.
	ID      string       `json:"id,omitempty"`
	Model   string       `json:"model,omitempty"`
	Content []EntryBlock `json:"content,omitempty"`
	Stop    string       `json:"stop_reason,omitempty"`
	Usage   *EntryUsage  `json:"usage,omitempty"`
}

// EntryUsage counts the tokens of a response. Input excludes those of the cache.
type EntryUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens,omitempty"`
	CacheWrite int64 `json:"cache_creation_input_tokens,omitempty"`
}

// EntryBlock is a content block. Use the functions below to make one.
type EntryBlock struct {
	Type     string          `json:"type"`
	Text     *string         `json:"text,omitempty"`
	Thinking *string         `json:"thinking,omitempty"`
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	UseID    string          `json:"tool_use_id,omitempty"`
	Content  json.RawMessage `json:"content,omitempty"`
	Failed   bool            `json:"is_error,omitempty"`
}

// EntryResult holds facts about a tool's result; it belongs to a row with one result.
type EntryResult struct {
	ExitCode    *int  `json:"exitCode,omitempty"`
	DurationMs  int64 `json:"durationMs,omitempty"`
	Interrupted bool  `json:"interrupted,omitempty"`
}

// EntryCompact describes a compaction.
type EntryCompact struct {
	Trigger string `json:"trigger,omitempty"` // "auto" if the client does not say
	Before  int64  `json:"preTokens,omitempty"`
	After   int64  `json:"postTokens,omitempty"`
	// Segment is always set by Compaction: the rows after it are new, not copies.
	Segment struct{} `json:"preservedSegment"`
}

// TextBlock returns a block with text.
func TextBlock(s string) EntryBlock { return EntryBlock{Type: "text", Text: &s} }

// ThinkingBlock returns a block with the model's reasoning.
func ThinkingBlock(s string) EntryBlock { return EntryBlock{Type: "thinking", Thinking: &s} }

// ImageBlock returns a block for an image, without its content.
func ImageBlock() EntryBlock { return EntryBlock{Type: "image"} }

// UseBlock returns a block with a tool call. The input is a JSON value, or a JSON string
// that contains one.
func UseBlock(id, name string, input json.RawMessage) EntryBlock {
	if len(input) > 1 && input[0] == '"' {
		if inner := text.Unquote(input); len(inner) > 0 && inner[0] == '{' && json.Valid(inner) {
			input = inner
		}
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	return EntryBlock{Type: "tool_use", ID: id, Name: name, Input: input}
}

// ResultRow returns a row with the result of a tool call, a text or an array of blocks.
func ResultRow(at Entry, id string, content json.RawMessage, failed bool, facts *EntryResult) Entry {
	at.Type, at.Result = EntryUser, facts
	at.Message = &EntryMessage{Content: []EntryBlock{{Type: "tool_result", UseID: id, Content: content, Failed: failed}}}
	return at
}

// Compaction returns the rows of a compaction with its summary, which may be empty.
func Compaction(at Entry, c EntryCompact, summary string) []Entry {
	c.Trigger = cmp.Or(c.Trigger, "auto")
	at.Type, at.Subtype, at.Compact = EntrySystem, "compact_boundary", &c
	rows := []Entry{at}
	if summary != "" {
		rows = append(rows, SummaryRow(Entry{Time: at.Time, UUID: at.UUID}, summary))
	}
	return rows
}

// SummaryRow returns a row with a summary of earlier rows.
func SummaryRow(at Entry, summary string) Entry {
	at.Type, at.Summary = EntryUser, true
	at.Message = &EntryMessage{Content: []EntryBlock{TextBlock(summary)}}
	return at
}

// Identity returns what identifies a message in all sessions: its id, which may be unique in
// its session only, with its time, which a copy keeps. It is empty without an id.
func Identity(id string, at any) string {
	if id == "" || at == nil {
		return id
	}
	return fmt.Sprint(id, "@", at)
}

// Text returns a JSON value as the text of a result: a string as it is, any other value as
// its JSON.
func Text(v json.RawMessage) string {
	switch {
	case len(v) > 1 && v[0] == '"':
		return string(text.Unquote(v))
	case string(v) == "null":
		return ""
	}
	return string(v)
}

// CodeAfter returns the number after the last occurrence of label in a result, which is how
// some clients report the exit code of a command; nil if there is none.
func CodeAfter(result []byte, label string) *int {
	i := bytes.LastIndex(result, []byte(label))
	if i < 0 {
		return nil
	}
	digits := result[i+len(label):]
	n := 0
	for n < min(len(digits), 9) && (digits[n] >= '0' && digits[n] <= '9' || n == 0 && digits[n] == '-') {
		n++
	}
	code, err := strconv.Atoi(string(digits[:n]))
	if err != nil {
		return nil
	}
	return &code
}

// String returns a text as a JSON value.
func String(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string is always valid
	return b
}

// Decode reads the fields of a JSON object that v knows. A field of another type than
// expected stays zero; it reports false if the line is not an object.
func Decode(line []byte, v any) bool {
	return decode(line, '{', v)
}

// DecodeList does the same for an array.
func DecodeList(list []byte, v any) bool { return decode(list, '[', v) }

func decode(data []byte, opening byte, v any) bool {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != opening {
		return false
	}
	r := text.NewJSONReader(data)
	_ = r.Decode(v) // of values of another type
	if r.End() == nil {
		return true
	}
	reflect.ValueOf(v).Elem().SetZero()
	return false
}

// Translate returns the complete lines of chunk in the common form, and a last line
// without a newline as well. The result has the same number of lines.
func Translate(t Translator, chunk []byte) []byte {
	out := make([]byte, 0, len(chunk)+len(chunk)/4)
	for len(chunk) > 0 {
		line, rest, whole := bytes.Cut(chunk, []byte("\n"))
		out = appendRows(out, t, bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
		if whole {
			out = append(out, '\n')
		}
		chunk = rest
	}
	return out
}

// appendRows appends the rows of a line. Blank and malformed lines, and those of a
// forgotten turn, which are in the common form already, stay as they are.
func appendRows(out []byte, t Translator, line []byte) []byte {
	asIs := func() []byte { return append(out, bytes.ReplaceAll(line, []byte{RowSeparator}, nil)...) }
	if bytes.Contains(line, []byte(`"forgotten_`)) {
		var head struct {
			Type    string `json:"type"`
			Subtype string `json:"subtype"`
		}
		if Decode(line, &head) && head.Type == EntrySystem && (head.Subtype == "forgotten_turn" || head.Subtype == "forgotten_step") {
			return asIs()
		}
	}
	n := len(out)
	rows := t.Translate(line)
	if len(rows) == 0 && !Decode(line, &struct{}{}) {
		return asIs()
	}
	for _, e := range rows {
		if e.Message != nil && e.Message.ID == "" {
			e.Message.ID = Identity(e.UUID, e.Time)
		}
		out, _ = text.AppendJSON(append(out, RowSeparator), &e) // invalid UTF-8 is replaced
	}
	if len(out) == n { // a known row without content
		out = append(out, `{"type":"`+EntryOther+`"}`...)
	}
	return out
}

// translated reads a client's lines by translating them.
type translated struct {
	Reader
	lines  Translator
	offset int64
}

// NewTranslated returns a reader that translates the lines of a client. open returns the
// reader of the common form that continues at a cursor. The state of the translator is
// kept in the cursor, before that of the reader.
func NewTranslated(t Translator, cur archive.Cursor, open func(archive.Cursor) (Reader, error)) (Reader, error) {
	r := &translated{lines: t, offset: cur.Offset}
	if n, used := binary.Uvarint(cur.State); used > 0 && n <= uint64(len(cur.State)-used) {
		state := cur.State[used:]
		if n > 0 && json.Unmarshal(state[:n], t) != nil {
			state = nil // unreadable: the reader reports it
			n = 0
		}
		cur.State = state[n:]
	}
	if len(cur.State) == 0 {
		r.offset = 0
	}
	var err error
	r.Reader, err = open(cur)
	return r, err
}

// Read implements Reader.
func (r *translated) Read(ctx context.Context, chunk []byte, lookup Lookup) (archive.Batch, error) {
	chunk = chunk[:bytes.LastIndexByte(chunk, '\n')+1]
	b, err := r.Reader.Read(ctx, Translate(r.lines, chunk), lookup)
	if err != nil {
		return b, err
	}
	b.From = r.offset
	r.offset += int64(len(chunk))
	b.Cursor.Offset, b.Session.Bytes = r.offset, r.offset
	state, err := json.Marshal(r.lines)
	if err != nil {
		return b, err
	}
	b.Cursor.State = append(append(binary.AppendUvarint(nil, uint64(len(state))), state...), b.Cursor.State...)
	return b, nil
}
