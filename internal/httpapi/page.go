package httpapi

import (
	"encoding/base64"
	"strconv"

	"strandline/internal/archive"
)

// listOf is a list, and where it goes on.
type listOf[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// whole is a list that is given at once.
func whole[T any](items []T, err error) (listOf[T], error) {
	if items == nil {
		items = []T{}
	}
	return listOf[T]{Items: items}, err
}

// paged is the page of a list that a call asks for.
func paged[T any](items []T, c *call) listOf[T] {
	from := c.offset()
	out := listOf[T]{Items: []T{}}
	if from >= len(items) {
		return out
	}
	to := min(from+c.number("limit", defaultPage), len(items))
	out.Items = items[from:to]
	if to < len(items) {
		out.Next = cursorAt(to)
	}
	return out
}

// defaultPage is how much of a list is given at once.
const defaultPage = 50

// cursorAt names a place in a list. It says nothing that a client should rely on.
func cursorAt(offset int) string {
	return base64.RawURLEncoding.EncodeToString([]byte("o" + strconv.Itoa(offset)))
}

// maxOffset is how far a list goes.
const maxOffset = 1 << 30

// offset is where the page that a call asks for begins.
func (c *call) offset() int {
	n, err := offsetOf(c.text("cursor"))
	if err != nil {
		return 0 // it was checked
	}
	return n
}

// offsetOf is the place that a cursor names, 0 for none.
func offsetOf(typed string) (int, error) {
	if typed == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(typed)
	if err == nil && len(b) > 1 && b[0] == 'o' {
		if n, err := strconv.Atoi(string(b[1:])); err == nil && n >= 0 && n <= maxOffset {
			return n, nil
		}
	}
	return 0, archive.Invalid(quoted(typed)+" is no cursor", "leave it out, or give what next of the answer before holds")
}
