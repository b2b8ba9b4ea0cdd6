package claude

import (
	"bytes"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// scanner parses lines into rows in one pass over their JSON. It reuses its
// buffers from line to line, so that memory depends on the size of a chunk, not
// of the transcript.
type scanner struct {
	json  *text.JSONReader
	rows  []row
	parts []part
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
	s.rows, s.parts = s.rows[:0], s.parts[:0]
	for line := first; ; line++ {
		src, rest, ok := bytes.Cut(chunk, []byte("\n"))
		if !ok {
			return
		}
		s.rows = append(s.rows, row{line: line})
		s.line(&s.rows[len(s.rows)-1], src)
		chunk = rest
	}
}

// line parses one line. It is malformed as a whole if it is not one valid JSON
// object.
func (s *scanner) line(r *row, src []byte) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(src)) == 0 {
		r.kind = typeBlank
		return
	}
	r.partFrom = len(s.parts)
	s.json.Reset(src)
	isObject := s.json.IsObject()
	s.json.Object(func(name []byte) { s.field(r, name) })
	if err := s.json.End(); !isObject || err != nil {
		s.parts = s.parts[:r.partFrom]
		*r = row{line: r.line, kind: typeMalformed, partFrom: r.partFrom, rawContent: src}
	}
	r.partTo = len(s.parts)
}

// release drops the references to the chunk.
func (s *scanner) release() {
	clear(s.rows)
	clear(s.parts)
	s.rows, s.parts = s.rows[:0], s.parts[:0]
	s.json.Reset(nil)
}

// partsOf returns the content blocks of a row.
func (s *scanner) partsOf(r *row) []part { return s.parts[r.partFrom:r.partTo] }

// text reads a value as textOf does.
func (s *scanner) text() []byte { return textOf(s.json.Value()) }

// isTrue reads a boolean.
func (s *scanner) isTrue() bool { return isTrue(s.json.Value()) }

// field reads the value of one member of a row.
func (s *scanner) field(r *row, name []byte) {
	switch string(name) {
	case "type":
		r.kind = internType(s.text())
	case "subtype":
		r.subtype = string(s.text())
	case "message":
		s.message(r)
	case "toolUseResult":
		s.toolUseResult(&r.result)
	case "compactMetadata":
		r.compact = s.compactMetadata()
	case "attachment":
		r.attach = s.attachment()
	case "content":
		r.rawContent = s.json.Value()
	case "timestamp":
		r.time = timeOf(s.json.Value())
	case "uuid":
		r.uuid = s.text()
	case "parentUuid":
		raw := s.json.Value()
		r.parent, r.root = textOf(raw), r.root || string(raw) == "null"
	case "promptId":
		r.promptID = s.text()
	case "sessionId":
		r.sessionID = s.text()
	case "agentId":
		r.agentID = s.text()
	case "cwd":
		r.cwd = s.text()
	case "gitBranch":
		r.branch = s.text()
	case "version":
		r.version = s.text()
	case "operation":
		r.operation = s.text()
	case "isMeta":
		r.meta = s.isTrue()
	case "isSidechain":
		r.sidechain = s.isTrue()
	case "isCompactSummary":
		r.summary = s.isTrue()
	case "repeatsCompactSummary":
		r.repeats = s.isTrue()
	case "isApiErrorMessage":
		r.apiError = s.isTrue()
	case "promptSource", "turnOrigin", "permissionMode":
		r.provenance = len(s.text()) > 0 || r.provenance
	default:
		s.cost(r, name)
	}
}

// cost reads a member of the client's running totals, in cost-state rows and in
// the result rows of recorded print mode.
func (s *scanner) cost(r *row, name []byte) {
	switch string(name) {
	case "totalCostUSD", "total_cost_usd":
		r.cost.USD = floatOf(s.json.Value())
	case "totalAPIDuration", "duration_api_ms":
		r.cost.APITime = durationOf(s.json.Value(), time.Millisecond)
	case "totalDuration", "duration_ms":
		r.cost.Duration = durationOf(s.json.Value(), time.Millisecond)
	case "totalLinesAdded":
		r.cost.LinesAdded = int(intOf(s.json.Value()))
	case "totalLinesRemoved":
		r.cost.LinesGone = int(intOf(s.json.Value()))
	case "num_turns":
		r.cost.Turns = int(intOf(s.json.Value()))
	default:
		s.json.Skip()
		return
	}
	r.hasCost = true
}

// message reads a message: an object, or in some files its bare content.
func (s *scanner) message(r *row) {
	if s.json.IsString() || s.json.IsArray() {
		s.content()
		return
	}
	s.json.Object(func(name []byte) {
		switch string(name) {
		case "content":
			s.content()
		case "usage":
			s.usage(&r.usage)
		case "id":
			r.messageID = s.text()
		case "model":
			r.model = s.text()
		case "stop_reason":
			r.stopReason = s.text()
		default:
			s.json.Skip()
		}
	})
}

func (s *scanner) usage(u *archive.Usage) {
	s.json.Object(func(name []byte) {
		switch string(name) {
		case "input_tokens":
			u.Input = max(intOf(s.json.Value()), 0)
		case "output_tokens":
			u.Output = max(intOf(s.json.Value()), 0)
		case "cache_read_input_tokens":
			u.CacheRead = max(intOf(s.json.Value()), 0)
		case "cache_creation_input_tokens":
			u.CacheWrite = max(intOf(s.json.Value()), 0)
		default:
			s.json.Skip()
		}
	})
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
	var b part
	var tool, body, thinking, input, content []byte
	s.json.Object(func(name []byte) {
		switch string(name) {
		case "type":
			b.name = s.text()
		case "text":
			body = s.json.Value()
		case "thinking":
			thinking = s.json.Value()
		case "input":
			input = s.json.Value()
		case "content":
			content = s.json.Value()
		case "id", "tool_use_id":
			b.id = s.text()
		case "name":
			tool = s.text()
		case "is_error":
			b.isError = s.isTrue()
		default:
			s.json.Skip()
		}
	})
	switch string(b.name) {
	case "text":
		b.kind, b.raw = partText, body
	case "thinking":
		b.kind, b.raw = partThinking, thinking
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.kind, b.raw, b.name = partToolUse, input, tool
	case "tool_result", "web_search_tool_result", "mcp_tool_result":
		b.kind, b.raw = partToolResult, content
	case "image", "document":
		b.kind = partImage
	default:
		b.raw = body
	}
	s.parts = append(s.parts, b)
}

// toolUseResult reads the structured form of a tool result. Its texts repeat the
// content block and are skipped.
func (s *scanner) toolUseResult(f *resultFacts) {
	s.json.Object(func(name []byte) {
		switch string(name) {
		case "durationMs", "totalDurationMs":
			f.duration = durationOf(s.json.Value(), time.Millisecond)
		case "durationSeconds":
			f.duration = durationOf(s.json.Value(), time.Second)
		case "exitCode", "returnCode":
			if raw := s.json.Value(); len(textOf(raw)) > 0 {
				f.exit, f.hasExit = int(intOf(raw)), true
			}
		case "interrupted":
			f.interrupted = s.isTrue()
		case "backgroundTaskId":
			f.background = len(s.text()) > 0 || f.background
		case "isAsync":
			f.background = s.isTrue() || f.background
		case "returnCodeInterpretation":
			f.nonzero = len(s.text()) > 0
		case "success":
			f.refused = string(s.json.Value()) == "false"
		case "taskId":
			f.taskID = s.text()
		case "task":
			s.json.Object(func(name []byte) {
				if string(name) == "id" || string(name) == "taskId" {
					f.taskID = s.text()
				} else {
					s.json.Skip()
				}
			})
		default:
			s.json.Skip()
		}
	})
}

func (s *scanner) compactMetadata() *compactFacts {
	f := new(compactFacts)
	s.json.Object(func(name []byte) {
		switch string(name) {
		case "trigger":
			f.trigger = string(s.text())
		case "preTokens":
			f.pre = intOf(s.json.Value())
		case "postTokens":
			f.post = intOf(s.json.Value())
		case "durationMs":
			f.duration = durationOf(s.json.Value(), time.Millisecond)
		case "preservedSegment":
			f.segment = f.segment || s.json.IsObject()
			s.json.Skip()
		case "preservedMessages":
			f.segment = f.segment || s.json.IsObject() || s.json.IsArray()
			s.preserved(f)
		default:
			s.json.Skip()
		}
	})
	return f
}

// preserved counts the messages that the client kept: an object with "uuids", or
// an array.
func (s *scanner) preserved(f *compactFacts) {
	count := func() {
		f.kept++
		s.json.Skip()
	}
	if s.json.IsArray() {
		s.json.Array(count)
		return
	}
	s.json.Object(func(name []byte) {
		if string(name) == "uuids" {
			s.json.Array(count)
		} else {
			s.json.Skip()
		}
	})
}

func (s *scanner) attachment() *attachFacts {
	f := new(attachFacts)
	s.json.Object(func(name []byte) {
		switch string(name) {
		case "type":
			f.kind = string(s.text())
		case "commandMode":
			f.mode = string(s.text())
		case "isMeta":
			f.meta = s.isTrue()
		case "prompt":
			f.prompt = s.json.Value()
		case "content", "text", "stdout":
			if raw := s.json.Value(); len(f.text) == 0 {
				f.text = raw
			}
		default:
			s.json.Skip()
		}
	})
	return f
}

// internType returns the constant for a common row type, which saves an
// allocation per row.
func internType(b []byte) string {
	for _, known := range [...]string{typeUser, typeAssistant, typeSystem, typeAttachment, typeQueue, typeProgress, typeSnapshot} {
		if string(b) == known {
			return known
		}
	}
	return string(b)
}
