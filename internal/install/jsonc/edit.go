package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrKind is returned when a path of an edit does not lead to a value of the kind
// that the edit needs.
var ErrKind = errors.New("value is of another kind")

// Set makes value the member of the object at path: it replaces the old value or
// appends a new member. Without a root and with an empty path it creates an object.
func (d *Doc) Set(value any, key string, path ...any) error {
	if d.root == nil && len(path) == 0 {
		if err := d.makeRoot(); err != nil {
			return err
		}
	}
	obj := d.Get(path...)
	if obj == nil || obj.Kind != Object {
		return fmt.Errorf("set %q: %w", key, ErrKind)
	}
	if obj.item(key) >= 0 {
		return d.SetItem(value, append(slices.Clip(path), key)...)
	}
	return d.insert(obj, value, key)
}

// Append appends value to the array at path.
func (d *Doc) Append(value any, path ...any) error {
	arr := d.Get(path...)
	if arr == nil || arr.Kind != Array {
		return fmt.Errorf("append: %w", ErrKind)
	}
	return d.insert(arr, value, "")
}

// SetItem replaces the value at path, which must exist.
func (d *Doc) SetItem(value any, path ...any) error {
	old := d.Get(path...)
	if old == nil {
		return fmt.Errorf("replace value: %w", ErrKind)
	}
	compact, err := encode(value)
	if err != nil {
		return fmt.Errorf("encode value: %w", err)
	}
	lines := bytes.Contains(d.src[old.Start:old.End], []byte("\n"))
	return d.replace(old.Start, old.End, d.style().layout(compact, d.lineIndent(old.Start), lines))
}

// makeRoot appends an empty object.
func (d *Doc) makeRoot() error {
	text := string(d.src)
	if !d.comments {
		text = text[:len(text)-len(strings.TrimPrefix(text, bom))]
	} else if !strings.HasSuffix(text, "\n") {
		text += d.style().newline
	}
	return d.reparse([]byte(text + "{}" + d.style().newline))
}

// insert appends an item to v. key is the name of a member.
func (d *Doc) insert(v *Value, value any, key string) error {
	compact, err := encode(value)
	if err != nil {
		return fmt.Errorf("encode value: %w", err)
	}
	s, name := d.style(), ""
	if v.Kind == Object {
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
	if len(v.Items) == 0 {
		return d.insertFirst(v, s, item)
	}
	last := v.Items[len(v.Items)-1]
	trailing, at := "", itemEnd(last)
	var edits []edit
	if last.Comma >= 0 {
		trailing = ","
	} else {
		edits = append(edits, edit{at, at, ","})
	}
	text := ""
	if indent, ok := d.ownLine(last.Start); ok {
		at = d.lineRest(at)
		text = s.newline + indent + item(indent, true)
	} else {
		if s.spaced {
			text = " "
		}
		lines := bytes.Contains(d.src[last.Value.Start:last.Value.End], []byte("\n"))
		text += item(d.lineIndent(last.Start), lines)
	}
	return d.apply(append(edits, edit{at, at, text + trailing})...)
}

// insertFirst inserts the first item into an empty container.
func (d *Doc) insertFirst(v *Value, s style, item func(indent string, lines bool) string) error {
	outer := d.lineIndent(v.Start)
	inner := outer + s.unit
	closing := v.End - 1
	empty := len(bytes.TrimLeft(d.src[v.Start+1:closing], " \t")) == 0
	_, ownLine := d.ownLine(closing)
	switch {
	case empty && s.flat:
		return d.replace(v.Start+1, closing, item(outer, false))
	case empty:
		return d.replace(v.Start+1, closing, s.newline+inner+item(inner, true)+s.newline+outer)
	case ownLine:
		start := d.lineStart(closing)
		return d.replace(start, start, inner+item(inner, true)+s.newline)
	}
	return d.replace(closing, closing, " "+item(outer, false)+" ")
}

// lineRest returns the end of the blanks and comments that follow pos on its line.
func (d *Doc) lineRest(pos int) int {
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

// commentEnd returns the end of the comment at pos without its line end, -1 if
// there is no comment.
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

// Delete removes the value at path, with its key and comma. A missing value is not
// an error. A container that is left with only blanks becomes "{}" or "[]".
func (d *Doc) Delete(path ...any) error {
	if len(path) == 0 {
		return fmt.Errorf("delete the root: %w", ErrKind)
	}
	v := d.Get(path[:len(path)-1]...)
	if v == nil {
		return nil
	}
	i := v.item(path[len(path)-1])
	if i < 0 {
		return nil
	}
	item := v.Items[i]
	if len(v.Items) == 1 && blank(d.src[v.Start+1:item.Start]) && blank(d.src[itemEnd(item):v.End-1]) {
		return d.replace(v.Start+1, v.End-1, "")
	}
	last := i == len(v.Items)-1
	start, end := d.extent(item.Start, itemEnd(item), !last)
	if !last || i == 0 || item.Comma >= 0 {
		return d.replace(start, end, "")
	}
	comma := v.Items[i-1].Comma
	return d.apply(edit{comma, comma + 1, ""}, edit{max(start, comma+1), end, ""})
}

// itemEnd returns the end of an item with its comma.
func itemEnd(item Item) int {
	if item.Comma >= 0 {
		return item.Comma + 1
	}
	return item.Value.End
}

// extent widens a range to delete by the blanks around it: to whole lines if they
// have nothing else. more says that another item follows.
func (d *Doc) extent(start, end int, more bool) (from, to int) {
	left := start
	for left > 0 && isBlank(d.src[left-1]) {
		left--
	}
	right := d.skipBlanks(end)
	_, atStart := d.ownLine(start)
	switch {
	case atStart && d.atLineEnd(right):
		for _, c := range []byte("\r\n") {
			if right < len(d.src) && d.src[right] == c {
				right++
			}
		}
		return left, right
	case d.atLineEnd(right):
		return left, end
	case atStart || more:
		return start, right
	}
	return left, end
}

func blank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

func (d *Doc) replace(start, end int, text string) error {
	return d.apply(edit{start, end, text})
}

// apply makes edits that are sorted and do not overlap.
func (d *Doc) apply(edits ...edit) error {
	src := d.src
	for _, e := range slices.Backward(edits) {
		src = slices.Concat(src[:e.start], []byte(e.text), src[e.end:])
	}
	return d.reparse(src)
}

// reparse replaces the document, unless src is invalid.
func (d *Doc) reparse(src []byte) error {
	next, err := Parse(src)
	if err != nil {
		return fmt.Errorf("edit breaks the document: %w", err)
	}
	*d = *next
	return nil
}
