package claude

import (
	"bytes"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// summaryLead is how the client begins the text that it puts in place of what a
// compaction cut.
const summaryLead = "This session is being continued from a previous conversation"

// Conversation returns the messages of the main conversation that the raw lines
// of chunk hold, each row one message, as the client hands them to a plugin.
// Rows of sub-agents and branches that a rewind left behind are left out.
func Conversation(chunk []byte) []transcript.Message {
	if n := len(chunk); n > 0 && chunk[n-1] != '\n' {
		chunk = append(bytes.Clone(chunk), '\n')
	}
	s := newScanner()
	s.scan(chunk, 0)
	var all []transcript.Message
	upTo := map[string]int{} // messages up to and with a row
	for i := range s.rows {
		row := &s.rows[i]
		upTo[string(row.uuid)] = len(all)
		if row.sidechain || row.apiError || row.kind != typeUser && row.kind != typeAssistant {
			continue
		}
		m := transcript.Message{Role: row.kind}
		if row.kind == typeUser {
			class, text := s.classifyUser(row)
			m.Summary = class == classSummary
			if class == classPrompt || class == classAside {
				m.Prompt = text
			}
		}
		if row.meta && m.Prompt == "" && !m.Summary {
			continue
		}
		s.fill(&m, row)
		if n, known := upTo[string(row.parent)]; known && m.Prompt != "" && answered(all[n:]) {
			all = all[:n] // the person went back to before these
		}
		all = append(all, m)
		upTo[string(row.uuid)] = len(all)
	}
	return all
}

// answered reports whether the model speaks in the messages. Results of tools
// that ran side by side hang on different rows and are no branch of their own.
func answered(ms []transcript.Message) bool {
	return slices.ContainsFunc(ms, func(m transcript.Message) bool { return m.Role == typeAssistant })
}

// fill takes the content blocks of a row into a message.
func (s *scanner) fill(m *transcript.Message, row *row) {
	for _, p := range s.partsOf(row) {
		switch p.kind {
		case partText:
			if m.Text != "" {
				m.Text += "\n\n"
			}
			m.Text += unquote(p.raw)
		case partToolUse:
			m.Uses = append(m.Uses, s.use(string(p.id), string(p.name), bytes.Clone(p.raw)))
		case partToolResult:
			m.Results = append(m.Results, transcript.ToolResult{ID: string(p.id), Text: s.outputText(p.raw), Failed: p.isError})
		}
	}
}

// Spoken fills in what a person said in a message of the role "user", and
// whether it is the client's summary. It sees no more than the text, so it knows
// the client's own words by their form.
func Spoken(m *transcript.Message) {
	if m.Role != typeUser {
		return
	}
	if strings.HasPrefix(m.Text, summaryLead) {
		m.Summary = true
		return
	}
	text := clean(m.Text)
	switch {
	case text == "", isSurround(text), isNotice(text), isSynthetic(text):
	case strings.HasPrefix(text, tagCommandMessage):
		m.Prompt = slashCommand(text)
	case strings.HasPrefix(text, tagCommandName): // a local command of the client
	default:
		m.Prompt = text
	}
}

// ToolUse reads what a call does from the tool's name and its input, a JSON
// value that the result refers to.
func ToolUse(id, name string, raw []byte) transcript.ToolUse { return newScanner().use(id, name, raw) }

func (s *scanner) use(id, name string, raw []byte) transcript.ToolUse {
	u := transcript.ToolUse{ID: id, Name: name, Input: raw, Kind: kindOf(name)}
	in := s.readInput(raw)
	switch u.Kind {
	case archive.CallRead:
		u.Path = in.text("file_path", "notebook_path")
		u.Line = int(integer(in.value("offset")))
		if in.text("limit") != "" {
			u.Line = max(u.Line, 1)
		}
	case archive.CallEdit:
		u.Path = in.text("file_path", "notebook_path")
		u.Changes = s.changes(in)
		u.Whole = len(u.Changes) == 0 && name == "Write"
		u.Content = in.text("content")
	case archive.CallCommand:
		u.Command = in.text("command", "script")
	default:
		var words []string
		s.describeAny(in, func(texts ...string) {
			for _, t := range texts {
				words = append(words, oneLine(t, maxInputValue))
			}
		})
		u.Brief = clipBytes(strings.Join(words, " · "), maxInputSummary)
	}
	return u
}

// changes returns what an edit replaces.
func (s *scanner) changes(in input) (all []transcript.Change) {
	add := func(in input) {
		c := transcript.Change{Old: in.text("old_string", "old_source"), New: in.text("new_string", "new_source"), All: truth(in.value("replace_all"))}
		if c.Old != "" || c.New != "" {
			all = append(all, c)
		}
	}
	if edits := in.value("edits"); len(edits) > 0 {
		s.list(edits, func(raw []byte) { add(s.readInput(raw)) })
		return all
	}
	add(in)
	return all
}
