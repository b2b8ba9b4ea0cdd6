package httpapi

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// The kinds of parameters.
const (
	isText = iota
	isFlag
	isNumber
	isTime
	isHandle
	isCursor
)

// param is a query parameter.
type param struct {
	name     string
	desc     string
	kind     int
	required bool
	many     bool
	oneOf    []string
	least    int // of a number
	most     int
	normal   int // default
}

// maxText is the maximal length of a parameter in bytes.
const maxText = 4 << 10

// check refuses invalid values.
func (p param) check(values []string) error {
	if len(values) > 1 && !p.many {
		return archive.Invalid("the parameter "+p.name+" is given more than once", p.desc)
	}
	for _, v := range values {
		if err := p.checkOne(v); err != nil {
			return err
		}
	}
	return nil
}

func (p param) checkOne(v string) error {
	want := ""
	switch {
	case len(v) > maxText || strings.ContainsRune(v, 0):
		return archive.Invalid("the parameter "+p.name+" is too long or contains a NUL", p.desc)
	case p.kind == isFlag && v != "" && v != "true" && v != "false":
		want = "true or false"
	case p.kind == isNumber:
		if n, err := strconv.Atoi(v); err != nil || n < p.least || n > p.most {
			want = fmt.Sprintf("a number from %d to %d", p.least, p.most)
		}
	case p.kind == isHandle && v != "":
		if _, err := archive.ParseHandle(v); err != nil {
			return err
		}
	case p.kind == isCursor:
		if _, err := parseCursor(v); err != nil {
			return err
		}
	case len(p.oneOf) > 0 && !slices.Contains(p.oneOf, v):
		want = strings.Join(p.oneOf, ", ")
	}
	if want != "" {
		return archive.Invalid(fmt.Sprintf("%s is not a valid value of %s", quoted(v), p.name), "use "+want)
	}
	return nil
}

// quoted quotes a text for an error message.
func quoted(s string) string { return strconv.Quote(archive.Clip(s, 60)) }

// flag reports whether a parameter is given and not "false".
func (c *call) flag(name string) bool {
	v, given := c.query[name]
	return given && v[0] != "false"
}

// number returns a parameter's value, or normal if it is not given.
func (c *call) number(name string, normal int) int {
	n, err := strconv.Atoi(c.query.Get(name))
	if err != nil {
		return normal
	}
	return n
}

// pathNumber returns a number in the path.
func (c *call) pathNumber(name string) (int, error) {
	n, err := strconv.Atoi(c.PathValue(name))
	if err != nil || n < 0 || n > maxOffset {
		return 0, archive.Invalid(fmt.Sprintf("%s is not a valid %s", quoted(c.PathValue(name)), name), "use a number from 0")
	}
	return n, nil
}

// since returns the time of the parameter "since", or the zero time.
func (c *call) since() (time.Time, error) { return recall.Since(c.query.Get("since"), c.now()) }

// defaultPage is the default length of a page.
const defaultPage = 50

// page is a page of a list, with the cursor of the next one.
type page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// all returns a whole list as one page.
func all[T any](items []T, err error) (page[T], error) {
	return page[T]{Items: append([]T{}, items...)}, err
}

// paged returns the page of a list that a call asks for.
func paged[T any](items []T, c *call) page[T] {
	from := min(c.offset(), len(items))
	to := min(from+c.number("limit", defaultPage), len(items))
	out := page[T]{Items: append([]T{}, items[from:to]...)}
	if to < len(items) {
		out.Next = cursorAt(to)
	}
	return out
}

// cursorAt returns the opaque cursor of an offset.
func cursorAt(offset int) string {
	return base64.RawURLEncoding.EncodeToString([]byte("o" + strconv.Itoa(offset)))
}

const maxOffset = 1 << 30

// offset returns the offset of the cursor, which was checked before.
func (c *call) offset() int {
	n, _ := parseCursor(c.query.Get("cursor"))
	return n
}

// parseCursor returns the offset of a cursor, 0 for "".
func parseCursor(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(b) > 1 && b[0] == 'o' {
		if n, err := strconv.Atoi(string(b[1:])); err == nil && n >= 0 && n <= maxOffset {
			return n, nil
		}
	}
	return 0, archive.Invalid(quoted(cursor)+" is not a cursor", "omit it, or pass next of the previous page")
}
