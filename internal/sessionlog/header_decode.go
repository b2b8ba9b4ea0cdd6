package sessionlog

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
)

// decodeHeader reads the JSON of a header whose sum was right. It is written by
// hand, because a hook reads one or two, and encoding/json would spend more on
// learning the type.
//
// A header of a later minor version may hold a field of another shape; the
// fields that can be read are worth more than an error.
func decodeHeader(js []byte) Header {
	var h Header
	d := jsontext.NewDecoder(bytes.NewReader(js))
	members(d, func(name string) any {
		switch name {
		case "format":
			return &h.Format
		case "client":
			return &h.Client
		case "session":
			return &h.Session
		case "agent":
			return &h.Agent
		case "slug":
			return &h.Slug
		case "source":
			return &h.Source
		case "kind":
			return &h.Kind
		case "cwd":
			return &h.Cwd
		case "project":
			return &h.Project
		case "created":
			return &h.Created
		case "generation":
			return &h.Generation
		}
		return nil
	})
	return h
}

func projectField(p *archive.Project, name string) any {
	switch name {
	case "key":
		return &p.Key
	case "name":
		return &p.Name
	case "root":
		return &p.Root
	case "worktree":
		return &p.Worktree
	case "remote":
		return &p.Remote
	}
	return nil
}

// members reads an object: each value goes where field says, which gives nil for
// a name that is not known. A value of another shape is passed over.
func members(d *jsontext.Decoder, field func(name string) any) {
	if d.PeekKind() != '{' {
		_ = d.SkipValue() // what is no JSON at all ends the reading
		return
	}
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return
		}
		to, kind := field(name.String()), d.PeekKind()
		if p, ok := to.(*archive.Project); ok && kind == '{' {
			members(d, func(name string) any { return projectField(p, name) })
			continue
		}
		if kind != '"' && kind != '0' {
			if d.SkipValue() != nil {
				return
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil {
			return
		}
		put(to, value)
	}
	_, _ = d.ReadToken() // the end; there is nothing to do about another one
}

// put sets a field to a string or a number, if it is one for that.
func put(to any, value jsontext.Token) {
	switch to := to.(type) {
	case *string:
		if value.Kind() == '"' {
			*to = value.String()
		}
	case *int:
		if value.Kind() == '0' {
			if n, err := value.Int(); err == nil {
				*to = int(n)
			}
		}
	case *time.Time:
		if value.Kind() == '"' {
			if t, err := time.Parse(time.RFC3339Nano, value.String()); err == nil {
				*to = t
			}
		}
	}
}
