package jsonc

import (
	"bytes"
	"encoding/json"
	"strings"
)

// style is the layout of a document, which new text follows.
type style struct {
	newline string
	unit    string // one level of indentation
	spaced  bool   // blanks follow colons and commas
	flat    bool   // the whole value is on one line
}

func (d *Doc) style() style {
	s := style{newline: "\n", unit: "  ", spaced: true}
	if i := bytes.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if d.root == nil || len(d.root.Items) == 0 {
		return s
	}
	s.flat = !bytes.Contains(d.src[d.root.Start:d.root.End], []byte("\n"))
	if unit, ok := d.unit(d.root); ok {
		s.unit = unit
	}
	if first := d.root.Items[0]; d.root.Kind == Object {
		s.spaced = d.src[first.Value.Start-1] != ':'
	}
	return s
}

// unit returns the indentation of the first item in v that starts a line.
func (d *Doc) unit(v *Value) (string, bool) {
	for _, item := range v.Items {
		outer := d.lineIndent(v.Start)
		if inner, ok := d.ownLine(item.Start); ok && len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
			return inner[len(outer):], true
		}
		if unit, ok := d.unit(item.Value); ok {
			return unit, true
		}
	}
	return "", false
}

// lineStart returns the start of the line of pos.
func (d *Doc) lineStart(pos int) int {
	if i := bytes.LastIndexByte(d.src[:pos], '\n'); i >= 0 {
		return i + 1
	}
	if bytes.HasPrefix(d.src, []byte(bom)) && pos >= len(bom) {
		return len(bom)
	}
	return 0
}

// lineIndent returns the blanks at the start of the line of pos.
func (d *Doc) lineIndent(pos int) string {
	start := d.lineStart(pos)
	end := start
	for end < pos && isBlank(d.src[end]) {
		end++
	}
	return string(d.src[start:end])
}

// ownLine returns the blanks before pos. It returns false if the line has other text
// before pos or is the first.
func (d *Doc) ownLine(pos int) (string, bool) {
	start := d.lineStart(pos)
	indent := d.lineIndent(pos)
	return indent, start+len(indent) == pos && start > 0 && d.src[start-1] == '\n'
}

// skipBlanks returns the first offset from pos on without a blank.
func (d *Doc) skipBlanks(pos int) int {
	for pos < len(d.src) && isBlank(d.src[pos]) {
		pos++
	}
	return pos
}

// atLineEnd reports whether a line ends at pos.
func (d *Doc) atLineEnd(pos int) bool {
	return pos >= len(d.src) || d.src[pos] == '\n' || d.src[pos] == '\r'
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// encode returns v as compact JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// layout formats compact JSON in the document's style, on several lines or on one.
// The first line is not indented.
func (s style) layout(compact []byte, indent string, lines bool) string {
	if lines {
		var b bytes.Buffer
		if json.Indent(&b, compact, indent, s.unit) == nil {
			return strings.ReplaceAll(b.String(), "\n", s.newline)
		}
	}
	if !s.spaced {
		return string(compact)
	}
	var b strings.Builder
	quoted := false
	for i, c := range compact {
		b.WriteByte(c)
		switch {
		case c == '"' && !escaped(compact[:i]):
			quoted = !quoted
		case !quoted && (c == ':' || c == ','):
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// escaped reports whether the character after text is escaped.
func escaped(text []byte) bool {
	n := len(text) - len(bytes.TrimRight(text, `\`))
	return n%2 == 1
}
