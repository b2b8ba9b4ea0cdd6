package install

import (
	"encoding/json"
	"strings"
)

// entry is one part of a settings file that Strandline writes.
type entry interface {
	// id names the entry in plans and in the manifest. It never changes.
	id() string
	// put adds or updates the entry. written is the value that Strandline wrote last,
	// nil if unknown; put keeps what the user changed since.
	put(d *settingsDoc, written json.RawMessage) (Action, error)
	// drop removes the entry, and containers that become empty unless they are in
	// base, the document before init (nil if unknown).
	drop(d, base *settingsDoc) (Action, error)
	// value is the entry as put adds it.
	value() any
	// detail describes the entry for the user.
	detail() string
}

// entries lists all possible entries in the order in which they are written. previous is
// the binary of an earlier init, whose entries are Strandline's, too.
func entries(o Options, previous string) []entry {
	var list []entry
	for _, h := range hooks(o.Exe, o.GOOS) {
		h.previous = previous
		list = append(list, h)
	}
	if o.Scope != ScopeProject { // the statusline is a user's choice
		list = append(list, statuslineEntry{exe: o.Exe, previous: previous, goos: o.GOOS})
	}
	return append(list, pluginEntries(o.Home)...)
}

// wanted reports whether the options include an entry.
func (o Options) wanted(e entry) bool {
	switch e.(type) {
	case memberEntry:
		return o.Plugin
	case statuslineEntry:
		return !o.NoStatusline
	}
	return true
}

// hookEntry is a command that the client runs at an event.
type hookEntry struct {
	event    string
	matcher  string
	timeout  int  // seconds, as the client counts
	async    bool // the client does not wait
	exe      string
	previous string // the binary in the manifest, "" if unknown
	goos     string
}

// hooks lists the hooks. The client waits for all but the asynchronous ones, so the
// timeouts are short; the hook's own deadline is much shorter.
func hooks(exe, goos string) []hookEntry {
	list := []hookEntry{
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

// hookCommand is a hook in the client's settings.
type hookCommand struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	Timeout int      `json:"timeout"`
	Async   bool     `json:"async,omitempty"`
}

// hookGroup is a list of hooks with a common matcher.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

func (h hookEntry) id() string { return "hook/" + h.event }

func (h hookEntry) detail() string {
	c := h.command()
	return strings.Join(append([]string{c.Command}, c.Args...), " ")
}

func (h hookEntry) value() any { return h.command() }

// command returns the hook as it is written. On Windows it uses the form with args,
// which needs no shell: the client uses any shell that it finds, and their quoting
// differs.
func (h hookEntry) command() hookCommand {
	c := hookCommand{Type: "command", Command: quote(h.exe, h.goos) + " hook", Timeout: h.timeout, Async: h.async}
	if h.goos == "windows" {
		c.Command, c.Args = h.exe, []string{"hook"}
	}
	return c
}
