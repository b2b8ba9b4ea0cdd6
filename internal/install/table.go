package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// MCP servers in a TOML file, and the notes of a client that makes the user trust its hooks,
// such as Codex.

// isTOML reports whether a file is a TOML document; the others are JSON.
func isTOML(path string) bool { return filepath.Ext(path) == ".toml" }

// table is the name of the MCP server's table.
func (o Options) table() []string { return []string{o.File.Servers, program} }

// putServer adds the MCP server to a TOML file, or corrects the path of a moved binary. A
// table that the user changed otherwise, or of another program, stays.
func (o Options) putServer(t *tomlText) (EntryChange, error) {
	change := EntryChange{ID: "mcp", Action: ActionKeep, Detail: o.Exe + " mcp"}
	var have map[string]any
	if err := t.decode(&have); err != nil {
		return change, err
	}
	lines, err := o.fill([]byte(o.File.Server))
	if err != nil {
		return change, err
	}
	found, command := member(have, o.table()...), ""
	if found != nil {
		command, _ = found["command"].(string)
	}
	switch {
	case found == nil && len(member(have, o.File.Servers)) > 0 && !t.has(o.File.Servers):
		return change, errTOML // an inline table, which cannot be extended
	case found == nil:
		change.Action = ActionAdd
		return change, t.append("["+strings.Join(o.table(), ".")+"]\n"+string(lines), o.table())
	case samePath(command, o.Exe, o.GOOS) || !isProgram(command, o.Exe, o.GOOS) || byName(command):
		return change, nil
	default:
		change.Action = ActionUpdate
		quoted, _ := json.Marshal(o.Exe)
		return change, t.setLine(o.table(), "command", string(quoted))
	}
}

// dropServer removes the MCP server and what Codex noted about it and about Strandline's
// hooks: the tools that were approved, the hooks that were trusted.
func (o Options) dropServer(t *tomlText) ([]EntryChange, error) {
	var have map[string]any
	if err := t.decode(&have); err != nil {
		return nil, err
	}
	var list []EntryChange
	if s, ok := member(have, o.table()...)["command"].(string); ok && isProgram(s, o.Exe, o.GOOS) {
		list = append(list, EntryChange{ID: "mcp", Action: ActionRemove, Detail: s + " mcp"})
		if err := t.cut(o.table()...); err != nil {
			return nil, err
		}
	}
	for _, key := range o.trustKeys() {
		if member(have, "hooks", "state", key) == nil {
			continue
		}
		list = append(list, EntryChange{ID: "trust/" + key, Action: ActionRemove, Detail: o.Client.Title + "'s note that you trust the hook"})
		if err := t.cut("hooks", "state", key); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	var left map[string]any
	if err := t.decode(&left); err != nil || len(member(left, "hooks", "state")) > 0 {
		return list, err
	}
	return list, t.cutEmpty("hooks", "state")
}

// trustKeys returns the names under which a client notes that Strandline's hooks are trusted.
// They hold each hook's place in its file.
func (o Options) trustKeys() (keys []string) {
	files := o.Client.Setup.Files
	if !slices.ContainsFunc(files, func(f transcript.SetupFile) bool { return f.Trust }) {
		return nil
	}
	for _, f := range files {
		path := filepath.Join(o.ClientDir, filepath.FromSlash(f.Path))
		data, err := readSettings(path)
		if err != nil || len(f.Hooks) == 0 {
			continue
		}
		doc, err := parseDoc(data)
		if err != nil {
			continue
		}
		for _, h := range o.hooksOf(f) {
			for _, x := range h.find(doc) {
				keys = append(keys, fmt.Sprintf("%s:%s:%d:%d", path, snakeCase(h.Event), x.path[2], x.path[4]))
			}
		}
	}
	return keys
}

// snakeCase returns an event's name as Codex writes it in config.toml.
func snakeCase(event string) string {
	var b strings.Builder
	for i, r := range event {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// member returns a nested table, nil if there is none.
func member(table map[string]any, path ...string) map[string]any {
	for _, key := range path {
		table, _ = table[key].(map[string]any)
	}
	return table
}

// trusted returns how many of Strandline's hooks the client may run, and how many there are.
// A client that runs all hooks has none.
func (o Options) trusted() (trusted, all int) {
	keys := o.trustKeys()
	for _, f := range o.Client.Setup.Files {
		if have := o.values(f.Path); f.Trust {
			for _, key := range keys {
				if member(have, "hooks", "state", key)["trusted_hash"] != nil {
					trusted++
				}
			}
		}
	}
	return trusted, len(keys)
}

func (o Options) allTrusted() bool {
	n, all := o.trusted()
	return n == all
}

// putTable plans the table of the MCP server in a TOML file.
func (in *Installer) putTable(p *Plan) (map[string]json.RawMessage, error) {
	t := &tomlText{src: p.Before}
	if in.opts.NoMCP {
		changes, err := in.opts.dropServer(t)
		if p.Entries = changes; err != nil {
			return nil, inTOML(p.Path, err)
		}
	} else {
		change, err := in.opts.putServer(t)
		if p.Entries = []EntryChange{change}; err != nil {
			return nil, inTOML(p.Path, err)
		}
	}
	p.After = t.src
	p.Parts = in.parts(*p, nil)
	return nil, nil
}

// withoutTable returns a TOML file without Strandline's tables.
func (in *Installer) withoutTable(p Plan) ([]byte, []EntryChange, error) {
	t := &tomlText{src: bytes.Clone(p.Before)}
	changes, err := in.opts.dropServer(t)
	if err != nil {
		return nil, nil, inTOML(p.Path, err)
	}
	return t.src, changes, nil
}

func inTOML(path string, err error) error {
	return &archive.Error{Code: archive.CodeInvalid, Msg: path + " cannot be changed", Err: err,
		Hint: "correct it, or add the MCP server `strandline mcp` by hand"}
}
