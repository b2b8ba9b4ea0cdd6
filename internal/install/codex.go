package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// Codex CLI reads its hooks from hooks.json, in the form of Claude Code's settings, and
// its MCP servers from config.toml. Version 0.169.0 was measured.
const (
	ScopeCodexHooks  Scope = "codex hooks"  // <ClientDir>/hooks.json
	ScopeCodexConfig Scope = "codex config" // <ClientDir>/config.toml
)

// codexContext is how many tokens of four bytes Codex takes of what a hook adds, instead
// of 2,500: the restored context is limited in UTF-16 units, of up to three bytes each.
const codexContext = 8000

// codexHooks lists the hooks. Codex kills those of SessionEnd after 3 seconds.
func codexHooks(exe, goos string) []hookEntry {
	list := []hookEntry{
		{event: "SessionStart", timeout: 6, context: codexContext},
		{event: "UserPromptSubmit", timeout: 5, context: codexContext},
		{event: "PostToolUse", timeout: 5, async: true},
		{event: "Stop", timeout: 5},
		{event: "SubagentStop", timeout: 5},
		{event: "PreCompact", timeout: 6},
		{event: "PostCompact", timeout: 5},
		{event: "SessionEnd", timeout: 3},
	}
	for i := range list {
		list[i].exe, list[i].goos, list[i].client = exe, goos, "codex"
	}
	return list
}

// codexServer is the table of the MCP server in config.toml.
const codexServer = "mcp_servers.strandline"

// codexTable returns the lines of the MCP server's table.
func codexTable(exe string) (string, error) {
	command, err := json.Marshal(exe) // a TOML string, too
	return fmt.Sprintf("[%s]\ncommand = %s\nargs = [\"mcp\"]\n", codexServer, command), err
}

// putServer adds the MCP server to config.toml, or corrects the path of a moved binary. A
// table that the user changed otherwise, or of another program, stays.
func (o Options) putServer(t *tomlText) (EntryChange, error) {
	change := EntryChange{ID: "mcp", Action: ActionKeep, Detail: o.Exe + " mcp"}
	var have struct {
		Servers map[string]struct {
			Command string `toml:"command"`
		} `toml:"mcp_servers"`
	}
	if err := t.decode(&have); err != nil {
		return change, err
	}
	table, err := codexTable(o.Exe)
	if err != nil {
		return change, fmt.Errorf("encode path: %w", err)
	}
	switch s, found := have.Servers[program]; {
	case !found && len(have.Servers) > 0 && !t.has("mcp_servers"):
		return change, errTOML // an inline table, which cannot be extended
	case !found:
		change.Action = ActionAdd
		return change, t.append(table)
	case samePath(s.Command, o.Exe, o.GOOS) || !isProgram(s.Command, o.Exe, o.GOOS) || byName(s.Command):
		return change, nil
	default:
		change.Action = ActionUpdate
		command, _ := json.Marshal(o.Exe)
		return change, t.setLine(codexServer, "command", string(command))
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
	if s, ok := member(have, "mcp_servers", program)["command"].(string); ok && isProgram(s, o.Exe, o.GOOS) {
		list = append(list, EntryChange{ID: "mcp", Action: ActionRemove, Detail: s + " mcp"})
		if err := t.cut("mcp_servers", program); err != nil {
			return nil, err
		}
	}
	for _, key := range o.trustKeys() {
		if member(have, "hooks", "state", key) == nil {
			continue
		}
		list = append(list, EntryChange{ID: "trust/" + key, Action: ActionRemove, Detail: "Codex's note that you trust the hook"})
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

// trustKeys returns the names under which Codex notes that Strandline's hooks are trusted.
// They hold each hook's place in hooks.json.
func (o Options) trustKeys() (keys []string) {
	path := filepath.Join(o.ClientDir, "hooks.json")
	data, err := readSettings(path)
	if err != nil {
		return nil
	}
	doc, err := parseDoc(data)
	if err != nil {
		return nil
	}
	for _, h := range codexHooks(o.Exe, o.GOOS) {
		for _, x := range h.find(doc) {
			keys = append(keys, fmt.Sprintf("%s:%s:%d:%d", path, snakeCase(h.event), x.path[2], x.path[4]))
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

// trusted returns how many of Strandline's hooks Codex may run, and how many there are.
func (o Options) trusted() (trusted, all int) {
	keys := o.trustKeys()
	data, _ := readSettings(filepath.Join(o.ClientDir, "config.toml"))
	var have map[string]any
	if (&tomlText{src: data}).decode(&have) != nil {
		return 0, len(keys)
	}
	return len(keys) - len(slices.DeleteFunc(keys, func(k string) bool { return member(have, "hooks", "state", k)["trusted_hash"] != nil })), len(keys)
}

// planConfig is Plan for config.toml.
func (in *Installer) planConfig(p Plan) (Plan, error) {
	t := &tomlText{src: p.Before}
	if in.opts.NoMCP {
		changes, err := in.opts.dropServer(t)
		if p.Entries = changes; err != nil {
			return p, inTOML(p.Path, err)
		}
	} else {
		change, err := in.opts.putServer(t)
		if p.Entries = []EntryChange{change}; err != nil {
			return p, inTOML(p.Path, err)
		}
	}
	p.After = t.src
	record, err := in.newRecord(p)
	p.record = record
	p.Parts = []Part{{"Codex MCP server", p.Entries[0].Action, "gives the model search and recall", "--no-mcp"}}
	if in.opts.NoMCP {
		p.Parts[0].Action = ActionOff
	}
	return p, err
}

// withoutServer returns config.toml without Strandline's tables.
func (in *Installer) withoutServer(p Plan) ([]byte, []EntryChange, error) {
	t := &tomlText{src: bytes.Clone(p.Before)}
	changes, err := in.opts.dropServer(t)
	if err != nil {
		return nil, nil, inTOML(p.Path, err)
	}
	return t.src, changes, nil
}

func inTOML(path string, err error) error {
	return &archive.Error{Code: archive.CodeInvalid, Msg: path + " cannot be changed", Err: err,
		Hint: "correct it, or add the MCP server by hand: `codex mcp add strandline -- strandline mcp`"}
}

// noteTrust adds a warning to an init while Codex does not run the hooks yet.
func (in *Installer) noteTrust(p *Plan) {
	if n, all := in.opts.trusted(); n < all || p.Changed() {
		p.Warnings = append(p.Warnings, trustHint)
	}
}

const trustHint = "Codex runs hooks only after you trust them, once: start `codex`, which asks to review them, and choose \"Trust all\" (later: /hooks)"

// codexParts describes the hooks of a planned init.
func (o Options) codexParts(action Action) []Part {
	events := len(codexHooks(o.Exe, o.GOOS))
	return []Part{{"Codex hooks", cmp.Or(action, ActionKeep), fmt.Sprintf("record at %d events, restore context after compactions", events), "strandline uninstall --client codex"}}
}

// CodexScopes returns the scopes in the order of an init, or of an uninstall, which reads
// hooks.json for the notes in config.toml.
func CodexScopes(uninstall bool) []Scope {
	if uninstall {
		return []Scope{ScopeCodexConfig, ScopeCodexHooks}
	}
	return []Scope{ScopeCodexHooks, ScopeCodexConfig}
}
