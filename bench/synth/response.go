package synth

import (
	"slices"
	"strings"
)

// response is one API response under construction; the client writes one row
// for each of its blocks, all with the same message id and usage.
type response struct {
	blocks []Row
	calls  []string // ids of its tool calls
	rows   map[string]string
	output int64
}

// Think adds a block of reasoning to the response.
func (s *Session) Think(text string) {
	s.add(Row{}.Str("type", "thinking").Str("thinking", text).Str("signature", s.token("Er")), text)
}

// Say adds text to the response.
func (s *Session) Say(text string) {
	s.add(Row{}.Str("type", "text").Str("text", text), text)
}

// Use adds a tool call to the response and returns its id.
func (s *Session) Use(tool string, input Row) string {
	id := s.token("toolu_01")
	s.add(Row{}.Str("type", "tool_use").Str("id", id).Str("name", tool).Obj("input", input), string(input))
	s.response.calls = append(s.response.calls, id)
	return id
}

func (s *Session) add(block Row, text string) {
	s.response.blocks = append(s.response.blocks, block)
	s.response.output += int64(len(text))/3 + 4
}

// Respond writes the response that Think, Say and Use have gathered. It does
// nothing when there is none.
func (s *Session) Respond() {
	r := &s.response
	if len(r.blocks) == 0 {
		return
	}
	s.tick(900, 6000)
	message, request := s.token("msg_01"), s.token("req_011")
	stop := "end_turn"
	if len(r.calls) > 0 {
		stop = "tool_use"
		s.write(Row{}.Str("type", "tools-used").Strs("tools", toolNames(r.blocks)).Str("sessionId", s.o.Session))
	}
	usage := s.usage(r.output)
	r.rows = map[string]string{}
	call := 0
	for i, block := range r.blocks {
		id := s.uuid()
		m := Row{}.Str("id", message).Str("type", "message").Str("role", "assistant").Str("model", s.o.Model).
			List("content", block).Str("stop_reason", stop).Raw("stop_sequence", "null").Obj("usage", usage)
		row := s.chained().Obj("message", m).Int("apiBlockIndex", int64(i)).Str("requestId", request).
			Str("requestedModel", s.o.Model).Str("type", "assistant").Str("uuid", id).Str("timestamp", s.time())
		s.link(row, id)
		if isUse(block) {
			r.rows[r.calls[call]] = id
			call++
		}
	}
	r.blocks, r.calls, r.output = nil, nil, 0
}

// Answer writes the result of a tool call. Structured is the tool's own form of
// it; without one the result is an error's text.
func (s *Session) Answer(call, text string, failed bool, structured Row) {
	s.tick(40, 4000)
	result := Row{}.Str("tool_use_id", call).Str("type", "tool_result").Str("content", text)
	if failed {
		result = result.Bool("is_error", true)
	}
	if len(structured) == 0 {
		s.result(call, result, Row{}.Str("toolUseResult", "Error: "+text), len(text))
		return
	}
	s.result(call, result, Row{}.Obj("toolUseResult", structured), len(text))
}

// AnswerAgent writes the result of a call that ran a sub-agent.
func (s *Session) AnswerAgent(call, agent, kind, prompt, report string, calls int) {
	text := Row{}.Str("type", "text").Str("text", report)
	result := Row{}.Str("tool_use_id", call).Str("type", "tool_result").List("content", text)
	structured := Row{}.Str("status", "completed").Str("prompt", prompt).Str("agentId", agent).Str("agentType", kind).
		List("content", text).Int("totalToolUseCount", int64(calls)).Int("totalTokens", s.context/2)
	s.tick(10, 50)
	s.result(call, result, Row{}.Obj("toolUseResult", structured), len(report))
}

func (s *Session) result(call string, result, member Row, size int) {
	s.context += int64(size) / 3
	id := s.uuid()
	from := s.response.rows[call]
	r := s.chained().Str("promptId", s.prompt).Str("type", "user").
		Obj("message", Row{}.Str("role", "user").List("content", result)).Str("uuid", id).Str("timestamp", s.time())
	r = append(r, tail(member)...)
	s.link(r.Str("sourceToolAssistantUUID", from), id)
}

// Compact writes the rows of a compaction: the boundary and its summary. Pre and post are the tokens before and after.
func (s *Session) Compact(trigger string, pre, post int64, summary string) {
	last, boundary, id := s.parent, s.uuid(), s.uuid()
	s.tick(15000, 40000)
	s.parent = ""
	kept := Row{}.Str("anchorUuid", id).Strs("uuids", []string{last}).Strs("allUuids", []string{last})
	meta := Row{}.Str("trigger", trigger).Int("preTokens", pre).Int("postTokens", post).
		Int("cumulativeDroppedTokens", pre-post).Int("durationMs", 21874).
		Obj("preservedSegment", Row{}.Str("headUuid", last).Str("anchorUuid", id).Str("tailUuid", last)).
		Obj("preservedMessages", kept)
	r := Row{}.Raw("parentUuid", "null").Str("logicalParentUuid", last).Bool("isSidechain", false).
		Str("type", "system").Str("subtype", "compact_boundary").Str("content", "Context compacted").Bool("isMeta", false).
		Str("timestamp", s.time()).Str("uuid", boundary).Str("level", "info").Obj("compactMetadata", meta)
	s.link(r, boundary)
	s.tick(5, 20)
	r = s.chained().Str("promptId", s.prompt).Str("type", "user").
		Obj("message", Row{}.Str("role", "user").Str("content", summary)).
		Bool("isVisibleInTranscriptOnly", true).Bool("isCompactSummary", true).
		Str("uuid", id).Str("timestamp", s.time()).Obj("turnPosition", s.position())
	s.link(r, id)
	s.context = post + s.o.Context/3
}

// usage returns the usage record of a response with that many output tokens.
func (s *Session) usage(output int64) Row {
	fresh := int64(3 + s.rnd.IntN(12))
	written := min(s.context, 400+s.rnd.Int64N(2200))
	u := Row{}.Int("input_tokens", fresh).Int("cache_creation_input_tokens", written).
		Int("cache_read_input_tokens", s.context-written).Int("output_tokens", output).Str("service_tier", "standard")
	s.context += output
	return u
}

// Context returns the number of tokens that the next response would report.
func (s *Session) Context() int64 { return s.context }

func isUse(block Row) bool { return strings.HasPrefix(string(block), `{"type":"tool_use"`) }

func toolNames(blocks []Row) []string {
	var names []string
	for _, b := range blocks {
		if isUse(b) {
			_, rest, _ := strings.Cut(string(b), `"name":"`)
			name, _, _ := strings.Cut(rest, `"`)
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Load adds tokens to the context, as a large file would that the rows do not hold.
func (s *Session) Load(tokens int64) { s.context += tokens }

// AnswerPicture writes the result of a tool call that read a picture, as base64.
func (s *Session) AnswerPicture(call, media, data string) {
	s.tick(10, 50)
	source := Row{}.Str("type", "base64").Str("media_type", media).Str("data", data)
	result := Row{}.Str("tool_use_id", call).Str("type", "tool_result").List("content", Row{}.Str("type", "image").Obj("source", source))
	s.result(call, result, Row{}.Obj("toolUseResult", Row{}.Str("type", "image")), 1500)
}
