package install

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
)

// serverEntry is the MCP server in a JSON file. An entry of the same name for another program
// stays; in one that the user changed, only the path of a moved binary is corrected.
func (o Options) serverEntry(previous string) memberEntry {
	value, err := o.fill([]byte(o.File.Server))
	if err != nil || !json.Valid(value) {
		value = []byte("null") // not in a client's table: its test checks that
	}
	paths := func(have []byte) (all []string) {
		var v any
		if json.Unmarshal(have, &v) == nil {
			eachString(v, func(s string) {
				if isProgram(s, o.Exe, o.GOOS) || previous != "" && samePath(s, previous, o.GOOS) {
					all = append(all, s)
				}
			})
		}
		return all
	}
	return memberEntry{
		name: "mcp", container: o.File.Servers, key: program, want: json.RawMessage(value), text: o.Exe + " mcp",
		own: func(have []byte) bool { return len(paths(have)) > 0 },
		moved: func(have []byte) []byte {
			next := slices.Clone(have)
			exe, _ := json.Marshal(o.Exe)
			for _, path := range paths(have) {
				if old, err := json.Marshal(path); err == nil && !byName(path) {
					next = bytes.ReplaceAll(next, old, exe)
				}
			}
			return next
		},
	}
}

// eachString calls fn with the strings in a JSON value.
func eachString(v any, fn func(string)) {
	switch v := v.(type) {
	case string:
		fn(v)
	case []any:
		for _, item := range v {
			eachString(item, fn)
		}
	case map[string]any:
		for _, item := range v {
			eachString(item, fn)
		}
	}
}

// putWhole plans a file that is Strandline's alone. One that the user changed is replaced.
func (in *Installer) putWhole(p *Plan) (map[string]json.RawMessage, error) {
	after, err := in.opts.fill([]byte(in.opts.File.Whole))
	if err != nil {
		return nil, err
	}
	change := EntryChange{ID: "file", Action: ActionUpdate, Detail: p.Path}
	switch p.After = after; {
	case p.Before == nil:
		change.Action = ActionAdd
	case !p.Changed():
		change.Action = ActionKeep
	}
	p.Entries = []EntryChange{change}
	p.Parts = in.parts(*p, nil)
	return nil, nil
}

// withoutWhole returns the file that was at the place of Strandline's own file, nil for none,
// and the change. A file that does not name Strandline is the user's.
func withoutWhole(p Plan) ([]byte, bool, []EntryChange) {
	if !bytes.Contains(p.Before, []byte(program)) {
		return p.Before, false, nil
	}
	change := []EntryChange{{ID: "file", Action: ActionRemove, Detail: p.Path}}
	if len(p.record.Original) > 0 {
		return p.record.Original, false, change
	}
	return nil, true, change
}

// values returns the values of a settings file; none if it cannot be read.
func (o Options) values(path string) (have map[string]any) {
	data, _ := readSettings(filepath.Join(o.ClientDir, filepath.FromSlash(path))) // a file that cannot be read has no values
	if isTOML(path) {
		_ = (&tomlText{src: data}).decode(&have)
		return have
	}
	if doc, err := parseDoc(data); err == nil {
		_ = json.Unmarshal(doc.plain, &have)
	}
	return have
}
