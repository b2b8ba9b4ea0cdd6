package claude

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
)

// field consumes the value of one member of a row.
func (s *scanner) field(r *row, key []byte) error {
	switch string(key) {
	case "message":
		return s.message(r)
	case "toolUseResult":
		return s.toolUseResult(r)
	case "compactMetadata":
		return s.compactMetadata(r)
	case "attachment":
		return s.attachment(r)
	case "data", "snapshot", "rendered", "shape", "params", "modelUsage":
		return s.dec.SkipValue()
	}
	to, known := r.target(key)
	if !known {
		return s.dec.SkipValue()
	}
	raw, err := s.value()
	if err != nil {
		return err
	}
	if to != nil {
		*to = plain(raw)
		r.root = r.root || to == &r.parent && string(raw) == "null"
		return nil
	}
	r.scalar(key, raw)
	return nil
}

// target returns where a text member goes, nil for a known member that is no
// text.
func (r *row) target(key []byte) (*[]byte, bool) {
	switch string(key) {
	case "uuid":
		return &r.uuid, true
	case "parentUuid":
		return &r.parent, true
	case "promptId":
		return &r.promptID, true
	case "sessionId":
		return &r.sessionID, true
	case "agentId":
		return &r.agentID, true
	case "cwd":
		return &r.cwd, true
	case "gitBranch":
		return &r.branch, true
	case "version":
		return &r.version, true
	case "operation":
		return &r.operation, true
	case "type", "subtype", "timestamp", "content", "isMeta", "isSidechain", "isCompactSummary",
		"repeatsCompactSummary", "isApiErrorMessage", "promptSource", "turnOrigin", "permissionMode",
		"totalCostUSD", "totalAPIDuration", "totalDuration", "totalLinesAdded", "totalLinesRemoved",
		"total_cost_usd", "duration_ms", "duration_api_ms", "num_turns":
		return nil, true
	}
	return nil, false
}

// scalar stores a member that is no plain text.
func (r *row) scalar(key, raw []byte) {
	switch string(key) {
	case "type":
		r.kind = intern(plain(raw))
	case "subtype":
		r.subtype = intern(plain(raw))
	case "timestamp":
		r.time = timestamp(raw)
	case "content":
		r.rawContent = raw
	case "isMeta":
		r.meta = truth(raw)
	case "isSidechain":
		r.sidechain = truth(raw)
	case "isCompactSummary":
		r.summary = truth(raw)
	case "repeatsCompactSummary":
		r.repeats = truth(raw)
	case "isApiErrorMessage":
		r.apiError = truth(raw)
	case "promptSource", "turnOrigin", "permissionMode":
		r.provenance = r.provenance || len(plain(raw)) > 0
	default:
		r.money(key, raw)
	}
}

// money stores the client's running totals: cost-state rows and the result rows
// of recorded print mode.
func (r *row) money(key, raw []byte) {
	if r.cost == nil {
		r.cost = new(archive.Cost)
	}
	switch string(key) {
	case "totalCostUSD", "total_cost_usd":
		r.cost.USD = number(raw)
	case "totalAPIDuration", "duration_api_ms":
		r.cost.APITime = span(raw, time.Millisecond)
	case "totalDuration", "duration_ms":
		r.cost.Duration = span(raw, time.Millisecond)
	case "totalLinesAdded":
		r.cost.LinesAdded = int(integer(raw))
	case "totalLinesRemoved":
		r.cost.LinesGone = int(integer(raw))
	case "num_turns":
		r.cost.Turns = int(integer(raw))
	}
}

// message reads a message, which is an object, or in odd files its bare text.
func (s *scanner) message(r *row) error {
	switch s.dec.PeekKind() {
	case jsontext.KindString, jsontext.KindBeginArray:
		return s.content()
	}
	return s.members(func(key []byte) error {
		switch string(key) {
		case "content":
			return s.content()
		case "usage":
			return s.usage(&r.usage)
		case "id":
			return s.plainInto(&r.messageID)
		case "model":
			return s.plainInto(&r.model)
		case "stop_reason":
			return s.plainInto(&r.stopReason)
		}
		return s.dec.SkipValue()
	})
}

func (s *scanner) plainInto(to *[]byte) error {
	raw, err := s.value()
	*to = plain(raw)
	return err
}

func (s *scanner) usage(u *archive.Usage) error {
	return s.members(func(key []byte) error {
		var to *int64
		switch string(key) {
		case "input_tokens":
			to = &u.Input
		case "output_tokens":
			to = &u.Output
		case "cache_read_input_tokens":
			to = &u.CacheRead
		case "cache_creation_input_tokens":
			to = &u.CacheWrite
		default:
			return s.dec.SkipValue()
		}
		raw, err := s.value()
		*to = max(integer(raw), 0)
		return err
	})
}

// content reads the blocks of a message into s.parts: a list of blocks, or the
// text of the only one.
func (s *scanner) content() error {
	if s.dec.PeekKind() != jsontext.KindBeginArray {
		return s.block()
	}
	return s.elements(s.block)
}

// block reads one content block: an object, or its bare text.
func (s *scanner) block() error {
	switch s.dec.PeekKind() {
	case jsontext.KindString:
		raw, err := s.value()
		s.parts = append(s.parts, part{kind: partText, raw: raw})
		return err
	case jsontext.KindBeginObject:
	default:
		return s.dec.SkipValue()
	}
	var b part
	var text, thinking, input, content []byte
	err := s.object(func(key []byte) (err error) {
		switch string(key) {
		case "type":
			return s.plainInto(&b.name)
		case "text":
			text, err = s.value()
		case "thinking":
			thinking, err = s.value()
		case "input":
			input, err = s.value()
		case "content":
			content, err = s.value()
		case "id", "tool_use_id":
			return s.plainInto(&b.id)
		case "name":
			err = s.plainInto(&b.raw)
		case "is_error":
			var raw []byte
			raw, err = s.value()
			b.isError = truth(raw)
		default:
			return s.dec.SkipValue()
		}
		return err
	})
	name := b.raw
	b.raw = nil
	switch string(b.name) {
	case "text":
		b.kind, b.raw = partText, text
	case "thinking":
		b.kind, b.raw = partThinking, thinking
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.kind, b.raw, b.name = partToolUse, input, name
	case "tool_result", "web_search_tool_result", "mcp_tool_result":
		b.kind, b.raw = partToolResult, content
	case "image", "document":
		b.kind = partImage
	default:
		b.raw = text
	}
	s.parts = append(s.parts, b)
	return err
}
