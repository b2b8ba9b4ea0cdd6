package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxDepth is how deep objects and arrays may be nested.
const maxDepth = 200

// SyntaxError says where a document stops making sense.
type SyntaxError struct {
	Line, Column int // from 1; columns are bytes
	Msg          string
}

// Error returns the message with its place.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// Parse reads a document. What is neither JSON nor JSON with comments and
// trailing commas gives a *SyntaxError.
func Parse(src []byte) (*Doc, error) {
	p := parser{src: src}
	if bytes.HasPrefix(src, []byte(bom)) {
		p.pos = len(bom)
	}
	doc := &Doc{src: src}
	if err := p.blanks(); err != nil {
		return nil, err
	}
	if p.pos < len(src) {
		root, err := p.value(0)
		if err != nil {
			return nil, err
		}
		if err := p.blanks(); err != nil {
			return nil, err
		}
		if p.pos < len(src) {
			return nil, p.fail("something stands behind the end")
		}
		doc.root = root
	}
	doc.loose = p.loose
	doc.notice = p.notice()
	return doc, nil
}

type parser struct {
	src              []byte
	pos              int
	loose            []span
	comments, commas bool
}

func (p *parser) notice() string {
	switch {
	case p.comments && p.commas:
		return "comments and trailing commas"
	case p.comments:
		return "comments"
	case p.commas:
		return "trailing commas"
	}
	return ""
}

func (p *parser) fail(msg string) error {
	pos := min(p.pos, len(p.src))
	return &SyntaxError{
		Line:   1 + bytes.Count(p.src[:pos], []byte("\n")),
		Column: pos - bytes.LastIndexByte(p.src[:pos], '\n'),
		Msg:    msg,
	}
}

// blanks passes over blanks and comments.
func (p *parser) blanks() error {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.pos++
		case c == '/':
			end := commentEnd(p.src, p.pos)
			if end < 0 {
				return p.fail("a comment was expected, or its end is missing")
			}
			p.loose = append(p.loose, span{p.pos, end})
			p.comments = true
			p.pos = end
		default:
			return nil
		}
	}
	return nil
}

// commentEnd returns the end of the comment at pos, the line end not included,
// and -1 if there is none.
func commentEnd(src []byte, pos int) int {
	rest := src[pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			return pos + i
		}
		return len(src)
	case bytes.HasPrefix(rest, []byte("/*")):
		if i := bytes.Index(rest[2:], []byte("*/")); i >= 0 {
			return pos + 2 + i + 2
		}
	}
	return -1
}

func (p *parser) value(depth int) (*Value, error) {
	if p.pos >= len(p.src) {
		return nil, p.fail("a value is missing")
	}
	if depth > maxDepth {
		return nil, p.fail("values are nested too deeply")
	}
	switch p.src[p.pos] {
	case '{':
		return p.container(Object, '}', depth)
	case '[':
		return p.container(Array, ']', depth)
	case '"':
		start := p.pos
		if err := p.text(); err != nil {
			return nil, err
		}
		return &Value{Kind: String, Start: start, End: p.pos}, nil
	}
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte(" \t\r\n,:/]}", p.src[p.pos]) < 0 {
		p.pos++
	}
	if !json.Valid(p.src[start:p.pos]) {
		p.pos = start
		return nil, p.fail("a value was expected")
	}
	return &Value{Kind: Other, Start: start, End: p.pos}, nil
}

func (p *parser) container(kind Kind, closing byte, depth int) (*Value, error) {
	v := &Value{Kind: kind, Start: p.pos}
	p.pos++
	for {
		if err := p.blanks(); err != nil {
			return nil, err
		}
		if p.pos < len(p.src) && p.src[p.pos] == closing {
			if n := len(v.Items); n > 0 && v.Items[n-1].Comma >= 0 {
				p.trailing(v.Items[n-1].Comma)
			}
			p.pos++
			v.End = p.pos
			return v, nil
		}
		if n := len(v.Items); n > 0 && v.Items[n-1].Comma < 0 {
			return nil, p.fail(fmt.Sprintf("a comma or %q is missing", closing))
		}
		item, err := p.item(kind, depth)
		if err != nil {
			return nil, err
		}
		v.Items = append(v.Items, item)
	}
}

// trailing notes a trailing comma, keeping the notes in order.
func (p *parser) trailing(comma int) {
	p.commas = true
	i := len(p.loose)
	for i > 0 && p.loose[i-1].start > comma {
		i--
	}
	p.loose = append(p.loose, span{})
	copy(p.loose[i+1:], p.loose[i:])
	p.loose[i] = span{comma, comma + 1}
}

// item reads a member or an element and the comma behind it.
func (p *parser) item(kind Kind, depth int) (Item, error) {
	item := Item{Start: p.pos, Comma: -1}
	if kind == Object {
		if err := p.text(); err != nil {
			return item, err
		}
		item.Key = unquote(p.src[item.Start:p.pos])
		if err := p.blanks(); err != nil {
			return item, err
		}
		if p.pos >= len(p.src) || p.src[p.pos] != ':' {
			return item, p.fail("a colon is missing")
		}
		p.pos++
		if err := p.blanks(); err != nil {
			return item, err
		}
	}
	var err error
	if item.Value, err = p.value(depth + 1); err != nil {
		return item, err
	}
	if err := p.blanks(); err != nil {
		return item, err
	}
	if p.pos < len(p.src) && p.src[p.pos] == ',' {
		item.Comma = p.pos
		p.pos++
	}
	return item, nil
}

// text passes over a string.
func (p *parser) text() error {
	start := p.pos
	if p.pos >= len(p.src) || p.src[p.pos] != '"' {
		return p.fail("a string was expected")
	}
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == '\\':
			p.pos++
		case c < ' ':
			return p.fail("a control character stands in a string")
		case c == '"':
			p.pos++
			if !json.Valid(p.src[start:p.pos]) {
				p.pos = start
				return p.fail("a string holds an unknown escape")
			}
			return nil
		}
	}
	p.pos = start
	return p.fail("the end of a string is missing")
}
