package install

import (
	"encoding/json"

	"strandline/internal/install/jsonc"
)

// entry is one thing that Strandline wants to stand in a settings file. A list
// of entries is all that an Installer knows about the file's content.
type entry interface {
	// id names the entry in plans and in the manifest; it never changes.
	id() string
	// put brings the entry into the document or up to date. written is what the
	// manifest says Strandline wrote last, nil if nothing is known: what differs
	// from it was changed by hand and is respected.
	put(d *jsonc.Doc, written json.RawMessage) (Action, error)
	// drop takes the entry out. Containers that are left empty go too, unless
	// base, the document before Strandline came, had them.
	drop(d, base *jsonc.Doc) (Action, error)
	// value is what put writes into a document that has nothing of it.
	value() any
	// detail describes the entry for people.
	detail() string
}

// hook is a command that the client runs at an event.
type hook struct {
	event   string
	matcher string // empty: none is written
	timeout int    // seconds, as the client counts
	async   bool   // the client does not wait
	exe     string
	was     string // the binary that the manifest names, empty if it names none
	goos    string
}

// hooks lists what the client has to call. The client waits for every one of
// them except the asynchronous, so the limits are short; the hook itself keeps a
// much shorter one.
func hooks(exe, goos string) []hook {
	list := []hook{
		{event: "SessionStart", timeout: 6},
		{event: "UserPromptSubmit", timeout: 5},
		{event: "PostToolUse", matcher: "*", timeout: 5, async: true},
		{event: "Stop", timeout: 5},
		{event: "StopFailure", timeout: 5},
		{event: "SubagentStop", timeout: 5},
		{event: "PreCompact", timeout: 6},
		{event: "PostCompact", timeout: 5},
		{event: "SessionEnd", timeout: 5},
	}
	for i := range list {
		list[i].exe, list[i].goos = exe, goos
	}
	return list
}

// entries lists everything that Strandline may want in the order in which it is
// written, whether o wants it or not. What was written for the binary was is
// known as ours, too.
func entries(o Options, was string) []entry {
	var list []entry
	for _, h := range hooks(o.Exe, o.GOOS) {
		h.was = was
		list = append(list, h)
	}
	if o.Scope != ScopeProject { // everybody in the project has a line of their own
		list = append(list, line{exe: o.Exe, was: was, goos: o.GOOS})
	}
	return append(list, pluginEntries(o.Home)...)
}

// wanted reports whether o wants an entry in the settings.
func (o Options) wanted(e entry) bool {
	switch e.(type) {
	case member:
		return o.Plugin
	case line:
		return !o.NoStatusline
	}
	return true
}

// hookCommand is a hook as the client's settings hold it.
type hookCommand struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout int      `json:"timeout"`
	Async   bool     `json:"async,omitempty"`
}

// hookGroup is a list of hooks with a common condition.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

func (h hook) id() string { return "hook/" + h.event }

func (h hook) detail() string {
	if h.goos == "windows" {
		return h.exe + " hook"
	}
	return quote(h.exe, h.goos) + " hook"
}

func (h hook) value() any { return h.command() }

// command is the hook as it is written. On Windows the client runs commands
// with whatever shell it finds, and those disagree about quotes; the form with
// args needs no shell.
func (h hook) command() hookCommand {
	c := hookCommand{Type: "command", Command: quote(h.exe, h.goos) + " hook", Timeout: h.timeout, Async: h.async}
	if h.goos == "windows" {
		c.Command, c.Args = h.exe, []string{"hook"}
	}
	return c
}

func (h hook) group() hookGroup {
	return hookGroup{Matcher: h.matcher, Hooks: []hookCommand{h.command()}}
}
