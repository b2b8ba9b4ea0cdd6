// Package jsonc edits a JSON document with comments and trailing commas in place.
// Edits keep all other bytes: order, indentation, line ends, comments, trailing
// commas and a byte order mark.
package jsonc

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Kind is the kind of a value.
type Kind byte

// The kinds of value.
const (
	Object Kind = iota
	Array
	String
	Other // number, boolean or null
)

// Value is a value with its position in the document.
type Value struct {
	Kind       Kind
	Start, End int    // byte offsets
	Items      []Item // of an object or an array
	text       string // of a string, decoded
}

// Item is a member of an object or an element of an array.
type Item struct {
	Key   string // decoded; "" for an element
	Start int    // offset of the key or, in an array, of the value
	Value *Value
	Comma int // offset of the comma after the value, -1 without one
}

// Doc is a document; the zero Doc is empty. An edit invalidates the values that
// were taken from it before. A path leads from the root to a value: a string names
// a member, an int an element.
type Doc struct {
	src, plain []byte
	root       *Value // nil if there are only blanks and comments

	comments, commas bool // commas: trailing ones
}

const bom = "\ufeff"

// maxContainers limits the number of objects and arrays, which bounds the depth of
// the parser's recursion.
const maxContainers = 100_000

// Parse reads a document. The error has the line and column.
func Parse(src []byte) (*Doc, error) {
	if bytes.Count(src, []byte("["))+bytes.Count(src, []byte("{")) > maxContainers {
		return nil, errors.New("too many objects and arrays")
	}
	text := bytes.Clone(src)
	mark := len(src) - len(bytes.TrimPrefix(src, []byte(bom)))
	copy(text, "   "[:mark]) // the parser does not accept a byte order mark; offsets stay the same
	v, empty, err := parse(text)
	if err != nil {
		return nil, err
	}
	d := &Doc{src: src}
	if root := d.convert(v); !empty {
		d.root = root
	}
	v.Standardize()
	d.plain = v.Pack()[mark:len(src)]
	return d, nil
}

// parse also accepts a comment at the end without a line end, and text without a
// value: empty is then set and the value null.
func parse(text []byte) (v hujson.Value, empty bool, err error) {
	if v, err = hujson.Parse(text); err == nil {
		return v, false, nil
	}
	for _, end := range []string{"\n", "\nnull"} {
		if v, again := hujson.Parse(slices.Concat(text, []byte(end))); again == nil {
			return v, end != "\n", nil
		}
	}
	return v, false, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
}

func (d *Doc) convert(v hujson.Value) *Value {
	out := &Value{Kind: Other, Start: v.StartOffset, End: v.EndOffset}
	extras := []hujson.Extra{v.BeforeExtra, v.AfterExtra}
	switch t := v.Value.(type) {
	case hujson.Literal:
		if t.Kind() == '"' {
			out.Kind, out.text = String, t.String()
		}
	case *hujson.Object:
		out.Kind = Object
		for _, m := range t.Members {
			name := d.convert(m.Name)
			d.add(out, Item{Key: name.text, Start: name.Start}, m.Value)
		}
		extras = append(extras, t.AfterExtra)
	case *hujson.Array:
		out.Kind = Array
		for _, e := range t.Elements {
			d.add(out, Item{Start: e.StartOffset}, e)
		}
		extras = append(extras, t.AfterExtra)
	}
	if n := len(out.Items); n > 0 && out.Items[n-1].Comma >= 0 {
		d.commas = true
	}
	for _, e := range extras {
		d.comments = d.comments || !e.IsStandard()
	}
	return out
}

// add appends an item to a converted container. The last item has a comma if its
// value's AfterExtra is not nil; all others have one.
func (d *Doc) add(to *Value, item Item, v hujson.Value) {
	if n := len(to.Items); n > 0 && to.Items[n-1].Comma < 0 {
		to.Items[n-1].Comma = to.Items[n-1].Value.End
	}
	item.Value, item.Comma = d.convert(v), -1
	if v.AfterExtra != nil {
		item.Comma = v.EndOffset + len(v.AfterExtra)
	}
	to.Items = append(to.Items, item)
}

// Bytes returns the current document. The caller must not change it.
func (d *Doc) Bytes() []byte { return d.src }

// Get returns the value at path, nil if there is none. Of members with the same
// name it returns the last, as JSON readers do.
func (d *Doc) Get(path ...any) *Value {
	v := d.root
	for _, step := range path {
		if v == nil {
			return nil
		}
		item := v.item(step)
		if item < 0 {
			return nil
		}
		v = v.Items[item].Value
	}
	return v
}

// Hides reports whether the object has another member with the name of the member
// at path.
func (d *Doc) Hides(path ...any) bool {
	if len(path) == 0 {
		return false
	}
	parent := d.Get(path[:len(path)-1]...)
	if parent == nil || parent.Kind != Object {
		return false
	}
	n := 0
	for _, item := range parent.Items {
		if item.Key == path[len(path)-1] {
			n++
		}
	}
	return n > 1
}

// item returns the index of the item that step names, -1 if there is none.
func (v *Value) item(step any) int {
	switch step := step.(type) {
	case int:
		if v.Kind == Array && step >= 0 && step < len(v.Items) {
			return step
		}
	case string:
		for i := len(v.Items) - 1; v.Kind == Object && i >= 0; i-- {
			if v.Items[i].Key == step {
				return i
			}
		}
	}
	return -1
}

// Text returns the decoded string at path; false if there is none.
func (d *Doc) Text(path ...any) (string, bool) {
	v := d.Get(path...)
	if v == nil || v.Kind != String {
		return "", false
	}
	return v.text, true
}

// Raw returns the bytes of the value at path, nil if there is none.
func (d *Doc) Raw(path ...any) []byte {
	v := d.Get(path...)
	if v == nil {
		return nil
	}
	return d.src[v.Start:v.End]
}

// Bare reports whether the document has no value but an empty object, and no
// comment.
func (d *Doc) Bare() bool {
	return !d.comments && (d.root == nil || d.root.Kind == Object && len(d.root.Items) == 0)
}

// Notice names what the document has beyond plain JSON ("comments", "trailing
// commas"); "" for plain JSON.
func (d *Doc) Notice() string {
	switch {
	case d.comments && d.commas:
		return "comments and trailing commas"
	case d.comments:
		return "comments"
	case d.commas:
		return "trailing commas"
	}
	return ""
}

// Plain returns the document as plain JSON without a byte order mark. Comments and
// trailing commas are blanks, so that offsets stay the same.
func (d *Doc) Plain() []byte { return d.plain }
