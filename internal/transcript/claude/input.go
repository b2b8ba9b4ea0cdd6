package claude

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// input is the input of a tool call, its members in their original order. Input
// that is not an object has no members.
type input struct {
	members []inputMember
	raw     []byte
}

// inputMember is one member of an object; raw is its JSON value.
type inputMember struct {
	name string
	raw  []byte
}

// readInput parses a value of the current chunk.
func (s *scanner) readInput(raw []byte) input {
	in := input{raw: raw}
	s.json.Reset(raw)
	s.json.Object(func(name []byte) { in.members = append(in.members, inputMember{string(name), s.json.Value()}) })
	return in
}

// elements returns the JSON of each element of an array, nil for any other value.
func (s *scanner) elements(raw []byte) (all [][]byte) {
	s.json.Reset(raw)
	s.json.Array(func() { all = append(all, s.json.Value()) })
	return all
}

func (in input) value(name string) []byte {
	for _, m := range in.members {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

// text returns the first text that is not empty among the named members.
func (in input) text(names ...string) string {
	for _, name := range names {
		if t := stringOf(in.value(name)); t != "" {
			return t
		}
	}
	return ""
}

// The limits of a one-line summary of a tool's input, in bytes.
const (
	maxInputValue   = 240
	maxInputSummary = 600
)

// describe returns a redacted one-line summary of a tool's input.
func (r *Reader) describe(kind archive.CallKind, in input) string {
	var values []string
	switch kind {
	case archive.CallRead:
		values = []string{in.path()}
		if from := in.text("offset"); from != "" {
			values = append(values, "from line "+from)
		}
	case archive.CallSearch:
		values = []string{in.text("pattern"), in.text("path"), in.text("glob")}
	case archive.CallWeb:
		values = []string{in.text("url"), in.text("query"), in.text("prompt")}
	case archive.CallAgent:
		values = []string{in.text("subagent_type"), in.text("description"), in.text("prompt")}
	default:
		values = r.scan.inputValues(in)
	}
	return joinValues(values, r.clean)
}

// joinValues joins the values that are not empty after cleaning.
func joinValues(values []string, clean func(string) string) string {
	var words []string
	for _, v := range values {
		if v = oneLine(clean(v), maxInputValue); v != "" {
			words = append(words, v)
		}
	}
	return text.Prefix(strings.Join(words, " · "), maxInputSummary)
}

// inputValues returns every member with its value, or with the texts inside an
// object or array.
func (s *scanner) inputValues(in input) []string {
	if len(in.members) == 0 {
		return []string{stringOf(in.raw)}
	}
	var values []string
	for _, m := range in.members {
		if isNested(m.raw) {
			values = append(values, m.name+" "+strings.Join(s.texts(m.raw), " "))
		} else if t := stringOf(m.raw); t != "" {
			values = append(values, m.name+" "+t)
		}
	}
	return values
}

func isNested(raw []byte) bool { return len(raw) > 0 && (raw[0] == '[' || raw[0] == '{') }

// texts returns the strings inside a JSON value in order, about maxInputValue bytes
// of them.
func (s *scanner) texts(raw []byte) (found []string) {
	size := 0
	var walk func()
	walk = func() {
		switch {
		case size >= maxInputValue:
			s.json.Skip()
		case s.json.IsArray():
			s.json.Array(walk)
		case s.json.IsObject():
			s.json.Object(func([]byte) { walk() })
		case s.json.IsString():
			t := s.json.Text()
			found = append(found, t)
			size += len(t)
		default:
			s.json.Skip()
		}
	}
	s.json.Reset(raw)
	walk()
	return found
}

// outputText returns the text of a tool result: a string, or an array of blocks.
// A block without text, such as an image, is represented by its description.
func (s *scanner) outputText(raw []byte) string {
	if !isNested(raw) {
		return stringOf(raw)
	}
	if raw[0] == '{' {
		in := s.readInput(raw)
		return in.text("text", "content")
	}
	var texts []string
	for _, raw := range s.elements(raw) {
		t := stringOf(raw)
		if len(raw) > 0 && raw[0] == '{' {
			in := s.readInput(raw)
			if t = in.text("text"); t == "" {
				t = describeBlock(in.text("type"), in.text("tool_name"), in.text("title"), in.text("url"))
			}
		}
		if t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n")
}

// describeBlock returns the description of a block without text.
func describeBlock(words ...string) string {
	if t := text.OneLine(strings.Join(words, " ")); t != "" && t != "text" {
		return "[" + t + "]"
	}
	return ""
}

// render formats a tool's input for people: one member a line, multi-line texts
// below their name, nested values as indented JSON.
func (s *scanner) render(raw []byte) string {
	in := s.readInput(raw)
	switch len(in.members) {
	case 0:
		return renderValue(raw)
	case 1:
		if raw := in.members[0].raw; raw[0] == '"' {
			return stringOf(raw)
		}
	}
	var b strings.Builder
	for _, m := range in.members {
		value, sep := renderValue(m.raw), " "
		if strings.Contains(value, "\n") {
			sep = "\n"
		}
		b.WriteString(m.name + ":" + sep + strings.TrimRight(value, "\n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// renderValue returns a string's text, an object or array as indented JSON, and
// any other value as it is.
func renderValue(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		return stringOf(raw)
	}
	v := append(jsontext.Value(nil), raw...)
	if isNested(raw) {
		_ = v.Indent(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.WithIndent("  "))
	}
	return strings.ToValidUTF8(string(v), "\uFFFD")
}
