package claude

import (
	"bytes"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// scanner parses lines into rows in one pass over their JSON. It reuses its
// buffers from line to line, so that memory depends on the size of a chunk, not
// of the transcript.
type scanner struct {
	json  *text.JSONReader
	rows  []row
	parts []part

	// The current row and part, and the members that set them; set by scan.
	row                                     row
	part                                    rawPart
	rowMembers, messageMembers, partMembers []member
}

// rawPart holds the members of a content block.
type rawPart struct {
	kind, id, tool                 []byte
	text, thinking, input, content jsontext.Value
	isError                        bool
}

func newScanner() *scanner { return &scanner{json: text.NewJSONReader(nil)} }

// scanAll parses all lines of chunk, also a last one without a newline.
func scanAll(chunk []byte, first int) *scanner {
	if n := len(chunk); n > 0 && chunk[n-1] != '\n' {
		chunk = append(bytes.Clone(chunk), '\n')
	}
	s := newScanner()
	s.scan(chunk, first)
	return s
}

// scan parses the complete lines of chunk into s.rows; first is the number of the
// first line. The rows are valid until the next call.
func (s *scanner) scan(chunk []byte, first int) {
	s.rows, s.parts = slices.Grow(s.rows[:0], bytes.Count(chunk, []byte("\n"))), s.parts[:0]
	if s.rowMembers == nil {
		s.setMembers()
	}
	for line := first; ; line++ {
		src, rest, ok := bytes.Cut(chunk, []byte("\n"))
		if !ok {
			return
		}
		src, several := bytes.CutPrefix(src, []byte{transcript.RowSeparator})
		for several {
			var row []byte
			if row, src, several = bytes.Cut(src, []byte{transcript.RowSeparator}); several {
				s.add(line, row)
			} else {
				src = row
			}
		}
		s.add(line, src)
		chunk = rest
	}
}

// add parses one row of a line.
func (s *scanner) add(line int, src []byte) {
	s.row = row{line: line, partFrom: len(s.parts)}
	s.line(&s.row, src)
	s.row.partTo = len(s.parts)
	s.rows = append(s.rows, s.row)
}

// line parses one line. It is malformed as a whole if it is not one valid JSON
// object.
func (s *scanner) line(r *row, src []byte) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(src)) == 0 {
		r.kind = typeBlank
		return
	}
	s.json.Reset(src)
	isObject := s.json.IsObject()
	s.object(s.rowMembers)
	if err := s.json.End(); !isObject || err != nil {
		s.parts = s.parts[:r.partFrom]
		*r = row{line: r.line, kind: typeMalformed, partFrom: r.partFrom, rawContent: src}
	}
}

// release drops the references to the chunk.
func (s *scanner) release() {
	clear(s.rows)
	clear(s.parts)
	s.rows, s.parts, s.row, s.part = s.rows[:0], s.parts[:0], row{}, rawPart{}
	s.json.Reset(nil)
}

// partsOf returns the content blocks of a row.
func (s *scanner) partsOf(r *row) []part { return s.parts[r.partFrom:r.partTo] }

// text reads a value as textOf does.
func (s *scanner) text() []byte { return textOf(s.json.Value()) }

// member is the name of an object's member and the target of its value: a pointer,
// the members of a nested object, or a function that reads the value.
type member struct {
	name string
	to   any
}

// object reads an object and skips the members that are not listed. It is fastest if
// the list has the order in which the client writes them.
func (s *scanner) object(members []member) {
	next := 0
	s.json.Object(func(name []byte) {
		for i := range members {
			at := next + i
			if at >= len(members) {
				at -= len(members)
			}
			if m := &members[at]; string(name) == m.name {
				next = at + 1
				s.value(m.to)
				return
			}
		}
		s.json.Skip()
	})
}

// value reads the next value into its target. A value of another type becomes zero.
func (s *scanner) value(target any) {
	switch to := target.(type) {
	case *[]byte:
		*to = s.text()
	case *jsontext.Value:
		*to = s.json.Value()
	case *string:
		*to = intern(s.text())
	case *bool:
		*to = isTrue(s.json.Value())
	case *int:
		*to = int(intOf(s.json.Value()))
	case *int64:
		*to = intOf(s.json.Value())
	case *float64:
		*to = floatOf(s.json.Value())
	case *time.Time:
		*to = timeOf(s.json.Value())
	case *time.Duration: // in milliseconds
		*to = durationOf(s.json.Value(), time.Millisecond)
	case []member:
		s.object(to)
	case func():
		to()
	default:
		s.json.Skip()
	}
}

// setMembers sets the members to read into s.row and s.part.
func (s *scanner) setMembers() {
	r, p := &s.row, &s.part
	result, compact, attach := &r.result, &r.compact, &r.attach
	notEmpty := func(to *bool) func() { return func() { *to = len(s.text()) > 0 || *to } }
	cost := func(to any) func() {
		return func() {
			s.value(to)
			r.hasCost = true
		}
	}
	s.rowMembers = []member{
		{"parentUuid", func() {
			raw := s.json.Value()
			r.parent, r.root = textOf(raw), r.root || string(raw) == "null"
		}},
		{"isSidechain", &r.sidechain}, {"promptId", &r.promptID}, {"agentId", &r.agentID},
		{"message", s.message}, {"type", &r.kind}, {"subtype", &r.subtype}, {"operation", &r.operation}, {"content", &r.rawContent},
		{"uuid", &r.uuid}, {"timestamp", &r.time}, {"isMeta", &r.meta}, {"isCompactSummary", &r.summary}, {"repeatsCompactSummary", &r.repeats},
		{"isApiErrorMessage", &r.apiError}, {"promptSource", notEmpty(&r.provenance)}, {"turnOrigin", notEmpty(&r.provenance)},
		{"permissionMode", notEmpty(&r.provenance)},
		{"toolUseResult", []member{ // the structured form of a tool result, whose texts repeat the content block
			{"durationMs", &result.duration}, {"totalDurationMs", &result.duration}, {"interrupted", &result.interrupted},
			{"durationSeconds", func() { result.duration = durationOf(s.json.Value(), time.Second) }},
			{"exitCode", s.exitCode}, {"returnCode", s.exitCode}, {"returnCodeInterpretation", notEmpty(&result.nonzero)},
			{"backgroundTaskId", notEmpty(&result.background)},
			{"isAsync", func() { result.background = isTrue(s.json.Value()) || result.background }},
			{"success", func() { result.refused = string(s.json.Value()) == "false" }},
			{"taskId", &result.taskID}, {"task", []member{{"id", &result.taskID}, {"taskId", &result.taskID}}},
		}},
		{"compactMetadata", []member{
			{"trigger", &compact.trigger}, {"preTokens", &compact.pre}, {"postTokens", &compact.post}, {"durationMs", &compact.duration},
			{"preservedSegment", func() {
				compact.segment = compact.segment || s.json.IsObject()
				s.json.Skip()
			}},
			{"preservedMessages", s.preserved},
		}},
		{"attachment", []member{
			{"type", &attach.kind}, {"commandMode", &attach.mode}, {"isMeta", &attach.meta}, {"prompt", &attach.prompt},
			{"content", s.attachedText}, {"text", s.attachedText}, {"stdout", s.attachedText},
		}},
		{"customTitle", &r.title}, {"aiTitle", &r.title}, {"summary", &r.title}, {"leafUuid", &r.leaf},
		{"cwd", &r.cwd}, {"sessionId", &r.sessionID}, {"version", &r.version}, {"gitBranch", &r.branch},
		// The client's running totals, in cost-state rows and in the result rows of recorded
		// print mode.
		{"totalCostUSD", cost(&r.cost.USD)}, {"totalAPIDuration", cost(&r.cost.APITime)}, {"totalDuration", cost(&r.cost.Duration)},
		{"totalLinesAdded", cost(&r.cost.LinesAdded)}, {"totalLinesRemoved", cost(&r.cost.LinesGone)},
		{"duration_ms", cost(&r.cost.Duration)}, {"duration_api_ms", cost(&r.cost.APITime)}, {"num_turns", cost(&r.cost.Turns)},
		{"total_cost_usd", cost(&r.cost.USD)},
	}
	s.messageMembers = []member{
		{"model", &r.model}, {"id", &r.messageID}, {"content", s.content}, {"stop_reason", &r.stopReason},
		{"usage", []member{
			{"input_tokens", &r.usage.Input}, {"cache_creation_input_tokens", &r.usage.CacheWrite},
			{"cache_read_input_tokens", &r.usage.CacheRead}, {"output_tokens", &r.usage.Output},
		}},
	}
	s.partMembers = []member{
		{"tool_use_id", &p.id}, {"type", &p.kind}, {"text", &p.text}, {"thinking", &p.thinking}, {"id", &p.id}, {"name", &p.tool},
		{"input", &p.input}, {"content", &p.content}, {"is_error", &p.isError},
	}
}

// message reads a message: an object, or in some files its bare content.
func (s *scanner) message() {
	if s.json.IsString() || s.json.IsArray() {
		s.content()
	} else {
		s.object(s.messageMembers)
	}
}

// content reads the blocks of a message into s.parts: an array of blocks, or one
// block.
func (s *scanner) content() {
	if s.json.IsArray() {
		s.json.Array(s.block)
	} else {
		s.block()
	}
}

// block reads one content block: an object, or its bare text.
func (s *scanner) block() {
	if s.json.IsString() {
		s.parts = append(s.parts, part{kind: partText, raw: s.json.Value()})
		return
	}
	if !s.json.IsObject() {
		s.json.Skip()
		return
	}
	s.part = rawPart{}
	s.object(s.partMembers)
	b := &s.part
	p := part{name: b.kind, id: b.id, isError: b.isError}
	switch string(b.kind) {
	case "text":
		p.kind, p.raw = partText, b.text
	case "thinking":
		p.kind, p.raw = partThinking, b.thinking
	case "tool_use", "server_tool_use", "mcp_tool_use":
		p.kind, p.raw, p.name = partToolUse, b.input, b.tool
	case "tool_result", "web_search_tool_result", "mcp_tool_result":
		p.kind, p.raw = partToolResult, b.content
	case "image", "document":
		p.kind = partImage
	default:
		p.raw = b.text
	}
	s.parts = append(s.parts, p)
}

// exitCode reads the exit code of a shell command.
func (s *scanner) exitCode() {
	if raw := s.json.Value(); len(textOf(raw)) > 0 {
		s.row.result.exit, s.row.result.hasExit = int(intOf(raw)), true
	}
}

// attachedText reads the text of an attachment, the first of several.
func (s *scanner) attachedText() {
	if raw := s.json.Value(); len(s.row.attach.text) == 0 {
		s.row.attach.text = raw
	}
}

// preserved counts the messages that the client kept: an object with "uuids", or
// an array.
func (s *scanner) preserved() {
	f := &s.row.compact
	f.segment = f.segment || s.json.IsObject() || s.json.IsArray()
	count := func() {
		f.kept++
		s.json.Skip()
	}
	if s.json.IsArray() {
		s.json.Array(count)
	} else {
		s.object([]member{{"uuids", func() { s.json.Array(count) }}})
	}
}

// intern returns b as a string: the constant for a common row type, which saves an
// allocation per row.
func intern(b []byte) string {
	for _, known := range [...]string{typeUser, typeAssistant, typeSystem, typeAttachment, typeQueue, typeProgress, typeSnapshot} {
		if string(b) == known {
			return known
		}
	}
	return string(b)
}
