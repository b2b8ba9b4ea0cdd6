package claude

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// render writes a tool's input for people: one member a line, a text of several
// lines below its name, anything nested as indented JSON.
func (s *scanner) render(raw []byte) string {
	in := s.readInput(raw)
	if len(in.members) == 0 {
		if len(raw) > 0 && raw[0] == '"' {
			return unquote(raw)
		}
		return indent(raw)
	}
	if len(in.members) == 1 && in.members[0].raw[0] == '"' {
		return unquote(in.members[0].raw)
	}
	var b strings.Builder
	for _, m := range in.members {
		text := indent(m.raw)
		if len(m.raw) > 0 && m.raw[0] == '"' {
			text = unquote(m.raw)
		}
		b.WriteString(m.key)
		b.WriteByte(':')
		if strings.Contains(text, "\n") {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimRight(text, "\n"))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// indent formats nested JSON; what can not be formatted stays as it is.
func indent(raw []byte) string {
	v := append(jsontext.Value(nil), raw...)
	if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') {
		_ = v.Indent(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.WithIndent("  "))
	}
	return strings.ToValidUTF8(string(v), "\uFFFD")
}
