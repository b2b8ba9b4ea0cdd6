package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var errKind = errors.New("value is of another kind")

func (d *settingsDoc) set(value any, key string, path ...any) error {
	if d.root == nil && len(path) == 0 {
		if err := d.makeRoot(); err != nil {
			return err
		}
	}
	obj := d.get(path...)
	if obj == nil || obj.kind != kindObject {
		return fmt.Errorf("set %q: %w", key, errKind)
	}
	if obj.item(key) >= 0 {
		return d.setItem(value, append(slices.Clip(path), key)...)
	}
	return d.insert(obj, value, key)
}

func (d *settingsDoc) append(value any, path ...any) error {
	arr := d.get(path...)
	if arr == nil || arr.kind != kindArray {
		return fmt.Errorf("append: %w", errKind)
	}
	return d.insert(arr, value, "")
}

func (d *settingsDoc) setItem(value any, path ...any) error {
	old := d.get(path...)
	if old == nil {
		return fmt.Errorf("replace value: %w", errKind)
	}
	compact, err := encode(value)
	if err != nil {
		return fmt.Errorf("encode value: %w", err)
	}
	lines := bytes.Contains(d.src[old.start:old.end], []byte("\n"))
	return d.replace(old.start, old.end, d.style().layout(compact, d.lineIndent(old.start), lines))
}

func (d *settingsDoc) makeRoot() error {
	text := string(d.src)
	if !d.comments {
		text = text[:len(text)-len(strings.TrimPrefix(text, bom))]
	} else if !strings.HasSuffix(text, "\n") {
		text += d.style().newline
	}
	return d.reparse([]byte(text + "{}" + d.style().newline))
}

func (d *settingsDoc) insert(v *jsonValue, value any, key string) error {
	compact, err := encode(value)
	if err != nil {
		return fmt.Errorf("encode value: %w", err)
	}
	s, name := d.style(), ""
	if v.kind == kindObject {
		raw, err := encode(key)
		if err != nil {
			return fmt.Errorf("encode key %q: %w", key, err)
		}
		name = string(raw) + ":"
	}
	item := func(indent string, lines bool) string {
		gap := ""
		if name != "" && (s.spaced || lines) {
			gap = " "
		}
		return name + gap + s.layout(compact, indent, lines)
	}
	if len(v.items) == 0 {
		return d.insertFirst(v, s, item)
	}
	last := v.items[len(v.items)-1]
	trailing, at := "", itemEnd(last)
	var edits []edit
	if last.comma >= 0 {
		trailing = ","
	} else {
		edits = append(edits, edit{at, at, ","})
	}
	text := ""
	if indent, ok := d.ownLine(last.start); ok {
		at = d.lineRest(at)
		text = s.newline + indent + item(indent, true)
	} else {
		if s.spaced {
			text = " "
		}
		lines := bytes.Contains(d.src[last.value.start:last.value.end], []byte("\n"))
		text += item(d.lineIndent(last.start), lines)
	}
	return d.apply(append(edits, edit{at, at, text + trailing})...)
}

func (d *settingsDoc) insertFirst(v *jsonValue, s style, item func(indent string, lines bool) string) error {
	outer := d.lineIndent(v.start)
	inner := outer + s.unit
	closing := v.end - 1
	empty := len(bytes.TrimLeft(d.src[v.start+1:closing], " \t")) == 0
	_, ownLine := d.ownLine(closing)
	switch {
	case empty && s.flat:
		return d.replace(v.start+1, closing, item(outer, false))
	case empty:
		return d.replace(v.start+1, closing, s.newline+inner+item(inner, true)+s.newline+outer)
	case ownLine:
		start := d.lineStart(closing)
		return d.replace(start, start, inner+item(inner, true)+s.newline)
	}
	return d.replace(closing, closing, " "+item(outer, false)+" ")
}

func (d *settingsDoc) lineRest(pos int) int {
	for {
		next := d.skipBlanks(pos)
		if d.atLineEnd(next) {
			return next
		}
		end := commentEnd(d.src, next)
		if end < 0 {
			return pos
		}
		pos = end
		if bytes.Contains(d.src[next:end], []byte("\n")) {
			return end
		}
	}
}

func commentEnd(src []byte, pos int) int {
	rest := src[pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			return pos + i
		}
		return len(src)
	case bytes.HasPrefix(rest, []byte("/*")):
		return pos + bytes.Index(rest, []byte("*/")) + 2
	}
	return -1
}

func (d *settingsDoc) delete(path ...any) error {
	if err := d.cut(path...); err != nil {
		return err
	}
	return d.reparse(d.src)
}

// cut is delete without reading the document again, which the caller does by reparse
// after the last of many cuts. Until then comments, commas and plain are out of date.
func (d *settingsDoc) cut(path ...any) error {
	if len(path) == 0 {
		return fmt.Errorf("delete the root: %w", errKind)
	}
	v := d.get(path[:len(path)-1]...)
	i := v.item(path[len(path)-1])
	if i < 0 {
		return nil
	}
	item := v.items[i]
	if len(v.items) == 1 && blank(d.src[v.start+1:item.start]) && blank(d.src[itemEnd(item):v.end-1]) {
		d.cutItem(v, i, edit{v.start + 1, v.end - 1, ""})
		return nil
	}
	last := i == len(v.items)-1
	start, end := d.extent(item.start, itemEnd(item), !last)
	if !last || i == 0 || item.comma >= 0 {
		d.cutItem(v, i, edit{start, end, ""})
		return nil
	}
	comma := v.items[i-1].comma
	d.cutItem(v, i, edit{comma, comma + 1, ""}, edit{max(start, comma+1), end, ""})
	v.items[i-1].comma = -1
	return nil
}

// cutItem removes an item from a container and the bytes of some edits, which have no
// text, from the source.
func (d *settingsDoc) cutItem(v *jsonValue, i int, edits ...edit) {
	v.items = slices.Delete(v.items, i, i+1)
	if !d.cuts {
		d.src, d.cuts = bytes.Clone(d.src), true // callers compare with the source before
	}
	for _, e := range slices.Backward(edits) {
		d.src = slices.Delete(d.src, e.start, e.end)
		d.root.shift(e.end, e.end-e.start)
	}
}

// shift subtracts n from the offsets at or after one. It looks only at the items that end
// there, so that many cuts from the end to the start take linear time.
func (v *jsonValue) shift(from, n int) {
	move := func(offset *int) {
		if *offset >= from {
			*offset -= n
		}
	}
	if v.end < from {
		return
	}
	move(&v.start)
	move(&v.end)
	first, _ := slices.BinarySearchFunc(v.items, from, func(item jsonItem, from int) int { return itemEnd(item) - from })
	for i := range v.items[first:] {
		item := &v.items[first+i]
		move(&item.start)
		move(&item.comma)
		item.value.shift(from, n)
	}
}

func itemEnd(item jsonItem) int {
	if item.comma >= 0 {
		return item.comma + 1
	}
	return item.value.end
}

func (d *settingsDoc) extent(start, end int, more bool) (from, to int) {
	left := len(bytes.TrimRight(d.src[:start], " \t"))
	right := d.skipBlanks(end)
	_, atStart := d.ownLine(start)
	switch {
	case atStart && d.atLineEnd(right):
		rest := bytes.TrimPrefix(bytes.TrimPrefix(d.src[right:], []byte("\r")), []byte("\n"))
		return left, len(d.src) - len(rest)
	case d.atLineEnd(right):
		return left, end
	case atStart || more:
		return start, right
	}
	return left, end
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

type edit struct {
	start, end int
	text       string
}

func (d *settingsDoc) replace(start, end int, text string) error {
	return d.apply(edit{start, end, text})
}

func (d *settingsDoc) apply(edits ...edit) error {
	src := d.src
	for _, e := range slices.Backward(edits) {
		src = slices.Concat(src[:e.start], []byte(e.text), src[e.end:])
	}
	return d.reparse(src)
}

func (d *settingsDoc) reparse(src []byte) error {
	next, err := parseDoc(src)
	if err != nil {
		return fmt.Errorf("edit breaks the document: %w", err)
	}
	*d = *next
	return nil
}

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
