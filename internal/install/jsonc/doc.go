// Package jsonc edits a JSON document in place: every byte that an edit does not
// have to touch stays as it was, among them order, indentation, line ends,
// comments, trailing commas and a byte order mark.
package jsonc

import (
	"bytes"
	"encoding/json"
)

// Kind says what a value is.
type Kind byte

// The kinds of value. Numbers, booleans and null are told apart by nobody here.
const (
	Object Kind = iota
	Array
	String
	Other
)

// Value is a value with its place in the document.
type Value struct {
	Kind       Kind
	Start, End int    // bytes of the document
	Items      []Item // of an object or an array
}

// Item is a member of an object or an element of an array.
type Item struct {
	Key   string // of a member, decoded
	Start int    // of the key or, in an array, of the value
	Value *Value
	Comma int // place of the comma behind the value, -1 without one
}

// Path leads to a value from the root: a string goes into a member, an int into
// an element.
type Path []any

// Doc is a document. Its zero value is an empty one. An edit makes the values
// that were taken from it before invalid.
type Doc struct {
	src    []byte
	root   *Value // nil if there is nothing but blanks and comments
	loose  []span // comments and trailing commas, in order
	notice string // how the document differs from plain JSON
}

type span struct{ start, end int }

// Bytes returns the document as it stands now. The caller must not change it.
func (d *Doc) Bytes() []byte { return d.src }

// Get returns the value at path, nil if there is none. Of members with the same
// name the last one counts, as it does for those who read the document.
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

// Hides reports whether the member at path hides an earlier one of the same name,
// which would count if it went.
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

// item returns the index of the item that step leads to, -1 if there is none.
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

// Text decodes the string at path; it returns false if there is none.
func (d *Doc) Text(path ...any) (string, bool) {
	v := d.Get(path...)
	if v == nil || v.Kind != String {
		return "", false
	}
	return unquote(d.src[v.Start:v.End]), true
}

// Raw returns the bytes of the value at path, nil if there is none.
func (d *Doc) Raw(path ...any) []byte {
	v := d.Get(path...)
	if v == nil {
		return nil
	}
	return d.src[v.Start:v.End]
}

// Bare reports whether the document holds nothing but an empty object, or
// nothing at all, and no comment.
func (d *Doc) Bare() bool {
	return len(d.loose) == 0 && (d.root == nil || d.root.Kind == Object && len(d.root.Items) == 0)
}

// Notice tells in a few words what makes the document more than plain JSON
// ("comments", "trailing commas"); it is empty for plain JSON. A byte order mark
// does not count.
func (d *Doc) Notice() string { return d.notice }

// Plain returns the document as plain JSON of the same length, less a byte order
// mark: comments and trailing commas are blanks.
func (d *Doc) Plain() []byte {
	plain := bytes.Clone(d.src)
	for _, s := range d.loose {
		for i := s.start; i < s.end; i++ {
			if plain[i] != '\n' && plain[i] != '\r' {
				plain[i] = ' '
			}
		}
	}
	return bytes.TrimPrefix(plain, []byte(bom))
}

const bom = "\ufeff"

func unquote(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}
