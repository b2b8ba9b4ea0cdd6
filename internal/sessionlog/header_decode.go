package sessionlog

import (
	"strconv"
	"time"

	"strandline/internal/text"
)

// decodeHeader reads the JSON of a header with a valid checksum. It does not use
// encoding/json, whose reflection takes longer than reading the one or two
// headers that a hook needs.
//
// A field of an unexpected type, as a later version may write it, is skipped.
func decodeHeader(js []byte) Header {
	var h Header
	r := text.NewJSONReader(js)
	fields := map[string]any{
		"format": &h.Format, "client": &h.Client, "session": &h.Session, "agent": &h.Agent, "slug": &h.Slug,
		"source": &h.Source, "kind": &h.Kind, "cwd": &h.Cwd, "created": &h.Created, "generation": &h.Generation,
	}
	project := map[string]any{
		"key": &h.Project.Key, "name": &h.Project.Name, "root": &h.Project.Root,
		"worktree": &h.Project.Worktree, "remote": &h.Project.Remote,
	}
	r.Object(func(name []byte) {
		if string(name) == "project" {
			r.Object(func(name []byte) { readField(r, project[string(name)]) })
			return
		}
		readField(r, fields[string(name)])
	})
	return h
}

// readField reads the next value into a field of its type, or skips it.
func readField(r *text.JSONReader, to any) {
	switch to := to.(type) {
	case *string:
		if r.IsString() {
			*to = r.Text()
			return
		}
	case *int:
		if n, err := strconv.Atoi(string(r.Value())); err == nil {
			*to = n
		}
		return
	case *time.Time:
		if t, err := time.Parse(time.RFC3339Nano, r.Text()); err == nil {
			*to = t
		}
		return
	}
	r.Skip()
}
