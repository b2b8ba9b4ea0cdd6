package install

import (
	"bytes"
	"encoding/json"
	"strings"
)

type style struct {
	newline string
	unit    string // one level of indentation
	spaced  bool   // blanks follow colons and commas
	flat    bool   // the whole value is on one line
}

func (d *settingsDoc) style() style {
	s := style{newline: "\n", unit: "  ", spaced: true}
	if i := bytes.IndexByte(d.src, '\n'); i > 0 && d.src[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if d.root == nil || len(d.root.items) == 0 {
		return s
	}
	s.flat = !bytes.Contains(d.src[d.root.start:d.root.end], []byte("\n"))
	if unit, ok := d.unit(d.root); ok {
		s.unit = unit
	}
	if first := d.root.items[0]; d.root.kind == kindObject {
		s.spaced = d.src[first.value.start-1] != ':'
	}
	return s
}

func (d *settingsDoc) unit(v *jsonValue) (string, bool) {
	for _, item := range v.items {
		outer := d.lineIndent(v.start)
		if inner, ok := d.ownLine(item.start); ok && len(inner) > len(outer) && strings.HasPrefix(inner, outer) {
			return inner[len(outer):], true
		}
		if unit, ok := d.unit(item.value); ok {
			return unit, true
		}
	}
	return "", false
}

func (d *settingsDoc) lineStart(pos int) int {
	if i := bytes.LastIndexByte(d.src[:pos], '\n'); i >= 0 {
		return i + 1
	}
	if bytes.HasPrefix(d.src, []byte(bom)) && pos >= len(bom) {
		return len(bom)
	}
	return 0
}

func (d *settingsDoc) lineIndent(pos int) string {
	start := d.lineStart(pos)
	return string(d.src[start:min(d.skipBlanks(start), pos)])
}

func (d *settingsDoc) ownLine(pos int) (string, bool) {
	start := d.lineStart(pos)
	indent := d.lineIndent(pos)
	return indent, start+len(indent) == pos && start > 0 && d.src[start-1] == '\n'
}

func (d *settingsDoc) skipBlanks(pos int) int {
	return len(d.src) - len(bytes.TrimLeft(d.src[pos:], " \t"))
}

func (d *settingsDoc) atLineEnd(pos int) bool {
	return pos >= len(d.src) || d.src[pos] == '\n' || d.src[pos] == '\r'
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func (s style) layout(compact []byte, indent string, lines bool) string {
	var b bytes.Buffer
	switch {
	case lines:
		_ = json.Indent(&b, compact, indent, s.unit) // compact is valid
		return strings.ReplaceAll(b.String(), "\n", s.newline)
	case s.spaced: // strings hold no line ends
		_ = json.Indent(&b, compact, "", "")
		return strings.NewReplacer("{\n", "{", "[\n", "[", "\n}", "}", "\n]", "]", "\n", " ").Replace(b.String())
	}
	return string(compact)
}
