package install

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonKind is the kind of a value.
type jsonKind byte

// The kinds of value.
const (
	kindObject jsonKind = iota
	kindArray
	kindString
	kindOther // number, boolean or null
)

// jsonValue is a value with its position in the document.
type jsonValue struct {
	kind       jsonKind
	start, end int        // byte offsets
	items      []jsonItem // of an object or an array
	text       string     // of a string, decoded
}

// jsonItem is a member of an object or an element of an array.
type jsonItem struct {
	key   string // decoded; "" for an element
	start int    // offset of the key or, in an array, of the value
	value *jsonValue
	comma int // offset of the comma after the value, -1 without one
}

// settingsDoc is a JSON document with comments and trailing commas. The zero value is
// an empty document. An edit keeps all bytes that it does not have to change, such as
// order, indentation, line ends, comments and a byte order mark; it invalidates values
// that were taken from the document before. A path leads from the root to a value: a string names
// a member, an int an element.
type settingsDoc struct {
	src, plain []byte
	root       *jsonValue // nil if there are only blanks and comments

	comments, commas bool // commas: trailing ones
	cuts             bool // src is a copy that cut changes
}

const bom = "\ufeff"

// maxContainers limits the number of objects and arrays, which bounds the depth of
// the parser's recursion.
const maxContainers = 100_000

// parseDoc reads a document. The error has the line and column.
func parseDoc(src []byte) (*settingsDoc, error) {
	if bytes.Count(src, []byte("["))+bytes.Count(src, []byte("{")) > maxContainers {
		return nil, errors.New("too many objects and arrays")
	}
	text := bytes.Clone(src)
	mark := len(src) - len(bytes.TrimPrefix(src, []byte(bom)))
	copy(text, "   "[:mark]) // the parser does not accept a byte order mark; offsets stay the same
	v, empty, err := parseText(text)
	if err != nil {
		return nil, err
	}
	d := &settingsDoc{src: src}
	if root := d.convert(v); !empty {
		d.root = root
	}
	v.Standardize()
	d.plain = v.Pack()[mark:len(src)]
	return d, nil
}

// parseText also accepts a comment at the end without a line end, and text without a
// value: empty is then set and the value null.
func parseText(text []byte) (v hujson.Value, empty bool, err error) {
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

func (d *settingsDoc) convert(v hujson.Value) *jsonValue {
	out := &jsonValue{kind: kindOther, start: v.StartOffset, end: v.EndOffset}
	extras := []hujson.Extra{v.BeforeExtra, v.AfterExtra}
	switch t := v.Value.(type) {
	case hujson.Literal:
		if t.Kind() == '"' {
			out.kind, out.text = kindString, t.String()
		}
	case *hujson.Object:
		out.kind = kindObject
		for _, m := range t.Members {
			name := d.convert(m.Name)
			d.add(out, jsonItem{key: name.text, start: name.start}, m.Value)
		}
		extras = append(extras, t.AfterExtra)
	case *hujson.Array:
		out.kind = kindArray
		for _, e := range t.Elements {
			d.add(out, jsonItem{start: e.StartOffset}, e)
		}
		extras = append(extras, t.AfterExtra)
	}
	if n := len(out.items); n > 0 && out.items[n-1].comma >= 0 {
		d.commas = true
	}
	for _, e := range extras {
		d.comments = d.comments || !e.IsStandard()
	}
	return out
}

// add appends an item to a converted container. The last item has a comma if its
// value's AfterExtra is not nil; all others have one.
func (d *settingsDoc) add(to *jsonValue, item jsonItem, v hujson.Value) {
	if n := len(to.items); n > 0 && to.items[n-1].comma < 0 {
		to.items[n-1].comma = to.items[n-1].value.end
	}
	item.value, item.comma = d.convert(v), -1
	if v.AfterExtra != nil {
		item.comma = v.EndOffset + len(v.AfterExtra)
	}
	to.items = append(to.items, item)
}

// get returns the value at path, nil if there is none. Of members with the same
// name it returns the last, as JSON readers do.
func (d *settingsDoc) get(path ...any) *jsonValue {
	v := d.root
	for _, step := range path {
		i := v.item(step)
		if i < 0 {
			return nil
		}
		v = v.items[i].value
	}
	return v
}

// items returns the items of the value at path, nil if there is none.
func (d *settingsDoc) items(path ...any) []jsonItem {
	if v := d.get(path...); v != nil {
		return v.items
	}
	return nil
}

// hides reports whether the object has another member with the name of the member
// at path.
func (d *settingsDoc) hides(path ...any) bool {
	if len(path) == 0 {
		return false
	}
	key := path[len(path)-1]
	parent := d.get(path[:len(path)-1]...)
	i := parent.item(key)
	return i > 0 && parent.kind == kindObject && slices.ContainsFunc(parent.items[:i], func(x jsonItem) bool { return x.key == key })
}

// item returns the index of the item that step names, -1 if there is none.
func (v *jsonValue) item(step any) int {
	i, isIndex := step.(int)
	switch {
	case v == nil || isIndex && (v.kind != kindArray || i >= len(v.items)):
		return -1
	case isIndex:
		return i
	}
	for i = len(v.items) - 1; i >= 0 && (v.kind != kindObject || v.items[i].key != step); i-- {
	}
	return i
}

// text returns the decoded string at path; false if there is none.
func (d *settingsDoc) text(path ...any) (string, bool) {
	if v := d.get(path...); v != nil && v.kind == kindString {
		return v.text, true
	}
	return "", false
}

// raw returns the bytes of the value at path, nil if there is none.
func (d *settingsDoc) raw(path ...any) []byte {
	if v := d.get(path...); v != nil {
		return d.src[v.start:v.end]
	}
	return nil
}

// bare reports whether the document has no value but an empty object, and no
// comment.
func (d *settingsDoc) bare() bool {
	return !d.comments && (d.root == nil || d.root.kind == kindObject && len(d.root.items) == 0)
}

// notice names what the document has beyond plain JSON ("comments", "trailing
// commas"); "" for plain JSON.
func (d *settingsDoc) notice() string {
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
