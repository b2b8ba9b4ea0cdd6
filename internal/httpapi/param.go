package httpapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// clock is a moment; relative times count from it.
type clock = time.Time

func (s *Server) clock() clock { return s.opts.Now() }

// The kinds of parameter.
const (
	isText = iota
	isFlag
	isNumber
	isTime
	isHandle
	isCursor
)

// param is a parameter of a query.
type param struct {
	name     string
	says     string
	kind     int
	required bool
	many     bool
	oneOf    []string
	least    int // of a number
	most     int
	normal   int // where it is left out
}

// maxText is the most bytes of a parameter; the longest query that makes sense is
// far shorter.
const maxText = 4 << 10

// check refuses values that the parameter does not take.
func (p param) check(values []string) error {
	if len(values) > 1 && !p.many {
		return archive.Invalid("the parameter "+p.name+" is given more than once", p.says)
	}
	for _, v := range values {
		if err := p.checkOne(v); err != nil {
			return err
		}
	}
	return nil
}

func (p param) checkOne(v string) error {
	wrong := func(want string) error {
		return archive.Invalid(fmt.Sprintf("%s is no value of the parameter %s", quoted(v), p.name), "it takes "+want)
	}
	if len(v) > maxText || strings.ContainsRune(v, 0) {
		return archive.Invalid("the parameter "+p.name+" is too long or holds a NUL", p.says)
	}
	switch p.kind {
	case isFlag:
		if v != "" && v != "true" && v != "false" {
			return wrong("true or false")
		}
	case isNumber:
		if n, err := strconv.Atoi(v); err != nil || n < p.least || n > p.most {
			return wrong(fmt.Sprintf("a number from %d to %d", p.least, p.most))
		}
	case isHandle:
		if _, err := archive.ParseHandle(v); v != "" && err != nil {
			return err
		}
	}
	if p.kind == isCursor {
		if _, err := offsetOf(v); err != nil {
			return err
		}
	}
	if len(p.oneOf) > 0 && !slices.Contains(p.oneOf, v) {
		return wrong(strings.Join(p.oneOf, ", "))
	}
	return nil
}

// quoted is a text as an error shows it.
func quoted(s string) string { return strconv.Quote(archive.Clip(s, 60)) }

// text is the value of a parameter, "" where it is left out.
func (c *call) text(name string) string {
	if v := c.query[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// flag reports whether a parameter is true. One without a value is.
func (c *call) flag(name string) bool {
	v, given := c.query[name]
	return given && v[0] != "false"
}

// number is the value of a parameter that was checked, or what holds without it.
func (c *call) number(name string, normal int) int {
	n, err := strconv.Atoi(c.text(name))
	if err != nil {
		return normal
	}
	return n
}

// since is the value of a time parameter, zero where it is left out.
func (c *call) since(name string) (time.Time, error) {
	v := c.text(name)
	if v == "" {
		return time.Time{}, nil
	}
	return recall.ParseTime(v, c.now())
}
