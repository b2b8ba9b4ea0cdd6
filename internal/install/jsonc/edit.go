package jsonc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrKind is returned when an edit meets a value of another kind than it needs.
var ErrKind = errors.New("value is of another kind")

// Set makes value the member of the object at path: the value that is there is
// replaced, a new member goes to the end. A document without a root gets one if
// path is empty.
func (d *Doc) Set(value any, key string, path ...any) error {
	obj := d.Get(path...)
	if d.root == nil && len(path) == 0 {
		if err := d.makeRoot(); err != nil {
			return err
		}
		obj = d.root
	}
	if obj == nil || obj.Kind != Object {
		return fmt.Errorf("set %q: %w", key, ErrKind)
	}
	compact, err := encode(value)
	if err != nil {
		return fmt.Errorf("encode value of %q: %w", key, err)
	}
	if i := obj.item(key); i >= 0 {
		return d.overwrite(obj.Items[i].Value, compact)
	}
	name, err := encode(key)
	if err != nil {
		return fmt.Errorf("encode key %q: %w", key, err)
	}
	return d.add(obj, name, compact)
}

// Append puts value behind the elements of the array at path.
func (d *Doc) Append(value any, path ...any) error {
	arr := d.Get(path...)
	if arr == nil || arr.Kind != Array {
		return fmt.Errorf("append: %w", ErrKind)
	}
	compact, err := encode(value)
	if err != nil {
		return fmt.Errorf("encode element: %w", err)
	}
	return d.add(arr, nil, compact)
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
	return d.overwrite(old, compact)
}

func (d *Doc) overwrite(old *Value, compact []byte) error {
	lines := bytes.Contains(d.src[old.Start:old.End], []byte("\n"))
	return d.replace(old.Start, old.End, d.style().layout(compact, d.lineIndent(old.Start), lines))
}

// makeRoot appends an empty object.
func (d *Doc) makeRoot() error {
	text := string(d.src)
	if len(d.loose) == 0 { // nothing but blanks
		text = ""
		if bytes.HasPrefix(d.src, []byte(bom)) {
			text = bom
		}
	} else if !strings.HasSuffix(text, "\n") {
		text += d.style().newline
	}
	return d.become([]byte(text + "{}" + d.style().newline))
}

// add puts an item behind the others of v. The name is that of a member.
func (d *Doc) add(v *Value, name, compact []byte) error {
	s := d.style()
	item := func(indent string, lines bool) string {
		text := s.layout(compact, indent, lines)
		if name == nil {
			return text
		}
		colon := ":"
		if s.spaced || lines {
			colon = ": "
		}
		return string(name) + colon + text
	}
	if len(v.Items) == 0 {
		return d.addFirst(v, s, item)
	}
	last := v.Items[len(v.Items)-1]
	trailing := ""
	var edits []edit
	at := last.Value.End
	if last.Comma >= 0 {
		trailing = ","
		at = last.Comma + 1
	} else {
		edits = append(edits, edit{at, at, ","})
	}
	if indent, ok := d.ownLine(last.Start); ok {
		at = d.lineRest(at)
		edits = append(edits, edit{at, at, s.newline + indent + item(indent, true) + trailing})
		return d.apply(edits...)
	}
	gap := ""
	if s.spaced {
		gap = " "
	}
	lines := bytes.Contains(d.src[last.Value.Start:last.Value.End], []byte("\n"))
	text := gap + item(d.lineIndent(last.Start), lines) + trailing
	return d.apply(append(edits, edit{at, at, text})...)
}

// lineRest returns the place behind the blanks and comments that follow pos on
// its line.
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

// addFirst puts the first item into an empty container.
func (d *Doc) addFirst(v *Value, s style, item func(indent string, lines bool) string) error {
	inside := d.src[v.Start+1 : v.End-1]
	outer := d.lineIndent(v.Start)
	inner := outer + s.unit
	closing := v.End - 1
	_, ownLine := d.ownLine(closing)
	switch {
	case len(bytes.TrimLeft(inside, " \t")) == 0 && s.flat:
		return d.replace(v.Start+1, closing, item(outer, false))
	case len(bytes.TrimLeft(inside, " \t")) == 0:
		return d.replace(v.Start+1, closing, s.newline+inner+item(inner, true)+s.newline+outer)
	case ownLine:
		start := d.lineStart(closing)
		return d.replace(start, start, inner+item(inner, true)+s.newline)
	}
	return d.replace(closing, closing, " "+item(outer, false)+" ")
}

// Delete takes the value at path out, with its key and its comma. It does
// nothing if there is no such value. A container that is left with nothing but
// blanks is drawn together.
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
	var edits []edit
	if last := i == len(v.Items)-1; last && i > 0 && item.Comma < 0 {
		comma := v.Items[i-1].Comma
		edits = append(edits, edit{comma, comma + 1, ""})
	}
	start, end := d.extent(item.Start, itemEnd(item), i < len(v.Items)-1)
	if n := len(edits); n > 0 && start < edits[0].end {
		start = edits[0].end
	}
	return d.apply(append(edits, edit{start, end, ""})...)
}

// itemEnd returns the end of an item with its comma.
func itemEnd(item Item) int {
	if item.Comma >= 0 {
		return item.Comma + 1
	}
	return item.Value.End
}

// extent widens a piece that goes to the blanks that go with it: to whole lines
// where nothing else stands on them.
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

// apply carries out edits that stand in order and do not overlap.
func (d *Doc) apply(edits ...edit) error {
	src := slices.Clone(d.src)
	for _, e := range slices.Backward(edits) {
		src = slices.Concat(src[:e.start], []byte(e.text), src[e.end:])
	}
	return d.become(src)
}

// become makes src the document; an edit that would break it changes nothing.
func (d *Doc) become(src []byte) error {
	next, err := Parse(src)
	if err != nil {
		return fmt.Errorf("edit breaks the document: %w", err)
	}
	*d = *next
	return nil
}
