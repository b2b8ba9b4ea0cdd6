package claude

import (
	"bytes"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// summaryOpening begins the client's summary of a compacted conversation.
const summaryOpening = "This session is being continued from a previous conversation"

// Conversation returns the messages of the main conversation in the raw lines of
// chunk, one per row, as the client passes them to a plugin. It omits the rows of
// sub-agents and the branches that a rewind left.
//
// A nil owns recognizes no record of Strandline.
func Conversation(chunk []byte, owns transcript.Owns) []transcript.Message {
	s := scanAll(chunk, 0)
	var all []transcript.Message
	command := -1            // index of the last slash command
	var boundary []byte      // uuid of the last compaction
	upTo := map[string]int{} // the number of messages up to a row, by its uuid
	for i := range s.rows {
		row := &s.rows[i]
		upTo[string(row.uuid)] = len(all)
		if row.subtype == subtypeBoundary {
			boundary = row.uuid
		}
		if row.sidechain || row.apiError || !row.isMessage() {
			continue
		}
		m, body := transcript.Message{Role: row.kind}, ""
		if row.kind == typeUser {
			var class userClass
			class, body = s.classifyUser(row)
			m.Summary = class == classSummary
			if class == classPrompt || class == classComment {
				m.Prompt = body
			}
			if m.Summary || len(boundary) == 0 || bytes.Equal(row.parent, boundary) {
				m.Record = s.replacement(row, string(row.sessionID), owns)
			}
			if m.Record != "" {
				m.Prompt = ""
			}
			if class == classEcho || strings.HasPrefix(m.Prompt, "/") {
				command = len(all)
			}
		}
		if row.meta && m.Prompt == "" && !m.Summary {
			if n := len(all); n > 0 && n-1 == command {
				all[n-1].Expansion += body
			}
			continue
		}
		s.fill(&m, row)
		// A prompt whose parent is an earlier row is a rewind if the model answered
		// since. Results of parallel calls have different parents without one.
		if n, known := upTo[string(row.parent)]; known && m.Prompt != "" &&
			slices.ContainsFunc(all[n:], func(m transcript.Message) bool { return m.Role == typeAssistant }) {
			all = all[:n]
		}
		all = append(all, m)
		upTo[string(row.uuid)] = len(all)
	}
	return all
}

// fill adds the content blocks of a row to a message.
func (s *scanner) fill(m *transcript.Message, row *row) {
	for _, p := range s.partsOf(row) {
		switch p.kind {
		case partText:
			if m.Text != "" {
				m.Text += "\n\n"
			}
			m.Text += stringOf(p.raw)
		case partToolUse:
			m.Uses = append(m.Uses, s.toolUse(string(p.id), string(p.name), bytes.Clone(p.raw)))
		case partToolResult:
			m.Results = append(m.Results, transcript.ToolResult{ID: string(p.id), Text: s.outputText(p.raw), Failed: p.isError})
		}
	}
}

// IsSummary reports whether the text of a user message begins like the client's summary
// of a compacted conversation.
func IsSummary(s string) bool { return strings.HasPrefix(s, summaryOpening) }

// Classify sets the Prompt and Summary of a message from its text alone.
func Classify(m *transcript.Message) {
	if m.Role != typeUser {
		return
	}
	if IsSummary(m.Text) {
		m.Summary = true
		return
	}
	body := clean(m.Text)
	switch {
	case isEditorContext(body), isNotice(body), isSynthetic(body):
	case strings.HasPrefix(body, tagCommandMessage):
		m.Prompt = slashCommand(body)
	case strings.HasPrefix(body, tagCommandName): // a local command of the client
	default:
		m.Prompt = body
	}
}

// ToolUse returns a tool call, with the fields that can be read from the tool's
// name and its input. The result refers to input, which is a JSON value.
func ToolUse(id, name string, input []byte) transcript.ToolUse {
	return newScanner().toolUse(id, name, input)
}

func (s *scanner) toolUse(id, name string, raw []byte) transcript.ToolUse {
	u := transcript.ToolUse{ID: id, Name: name, Input: raw, Kind: kindOf(name)}
	in := s.readInput(raw)
	switch u.Kind {
	case archive.CallRead:
		u.Path = in.path()
		u.Line = int(intOf(in.value("offset")))
		if in.text("limit") != "" {
			u.Line = max(u.Line, 1)
		}
	case archive.CallEdit:
		u.Path = in.path()
		u.Changes = s.changes(in)
		u.Content = in.content()
		u.Whole = len(u.Changes) == 0 && in.hasContent()
	case archive.CallCommand:
		u.Command = s.commandOf(in)
	default:
		u.Brief = joinValues(s.inputValues(in), func(s string) string { return s })
	}
	return u
}

// changes returns the replacements of an edit.
func (s *scanner) changes(in input) (all []transcript.Change) {
	edits := []input{in}
	if raw := in.value("edits"); len(raw) > 0 {
		edits = nil
		for _, raw := range s.elements(raw) {
			edits = append(edits, s.readInput(raw))
		}
	}
	for _, in := range edits {
		c := transcript.Change{Old: in.oldText(), New: in.newText(), All: isTrue(in.value("replace_all"))}
		if c.Old != "" || c.New != "" {
			all = append(all, c)
		}
	}
	return all
}
