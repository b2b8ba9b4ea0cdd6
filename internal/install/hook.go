package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// maxTimeout is the number of seconds above which a hook's timeout is taken for
// milliseconds. The client's default is 600.
const maxTimeout = 600

// existing is a hook in a document that runs Strandline.
type existing struct {
	path    []any // of the hook
	matcher string
	command string
	args    bool // the hook has arguments
	call    call
}

// find lists the hooks of the event that run Strandline.
func (h hookEntry) find(d *settingsDoc) []existing {
	var list []existing
	for g := range d.items("hooks", h.Event) {
		matcher, _ := d.text("hooks", h.Event, g, "matcher")
		for i := range d.items("hooks", h.Event, g, "hooks") {
			x := existing{path: []any{"hooks", h.Event, g, "hooks", i}, matcher: matcher}
			if h.read(d, &x) {
				list = append(list, x)
			}
		}
	}
	return list
}

// read completes a hook and reports whether it runs Strandline.
func (h hookEntry) read(d *settingsDoc, x *existing) (ok bool) {
	if x.command, ok = d.text(x.at("command")...); !ok {
		return false
	}
	var args []string
	raw := d.raw(x.at("args")...)
	if x.args = raw != nil; x.args && json.Unmarshal(raw, &args) != nil {
		return false
	}
	x.call, ok = findCall(x.command, args, "hook", h.exe, h.goos)
	if !ok && h.previous != "" {
		x.call, ok = findCall(x.command, args, "hook", h.previous, h.goos)
	}
	return ok
}

// at returns the path of a member of the hook.
func (x existing) at(key string) []any { return append(slices.Clip(x.path), key) }

// put adds the hook or updates the existing ones.
func (h hookEntry) put(d *settingsDoc, written json.RawMessage) (Action, error) {
	if err := h.checkShape(d); err != nil {
		return "", err
	}
	found := h.find(d)
	if len(found) == 0 {
		return ActionAdd, h.add(d)
	}
	before := d.src
	for i, x := range slices.Backward(found) { // a removal shifts later hooks
		var err error
		if duplicate(found[:i], x) {
			err = remove(d, nil, x)
		} else {
			err = h.update(d, x, written)
		}
		if err != nil {
			return "", err
		}
	}
	if bytes.Equal(before, d.src) {
		return ActionKeep, nil
	}
	return ActionUpdate, d.reparse(d.src)
}

// duplicate reports whether an earlier hook has the same matcher. Hooks that the
// user split by matcher stay.
func duplicate(earlier []existing, x existing) bool {
	return slices.ContainsFunc(earlier, func(e existing) bool {
		return e.matcher == x.matcher || matchesAll(e.matcher) && matchesAll(x.matcher)
	})
}

func matchesAll(matcher string) bool { return matcher == "" || matcher == "*" }

func (h hookEntry) add(d *settingsDoc) error {
	switch groups := []hookGroup{{Matcher: h.Matcher, Hooks: []hookCommand{h.command()}}}; {
	case d.get("hooks") == nil:
		return d.set(map[string][]hookGroup{h.Event: groups}, "hooks")
	case d.get("hooks", h.Event) == nil:
		return d.set(groups, h.Event, "hooks")
	default:
		return d.append(groups[0], "hooks", h.Event)
	}
}

// update makes an existing hook run this binary. A hook as Strandline wrote it
// becomes the current one. In a hook that the user changed, update corrects only the
// path of a moved binary and a timeout in milliseconds, and adds a missing "async", which
// earlier versions did not write.
func (h hookEntry) update(d *settingsDoc, x existing, written json.RawMessage) error {
	if want := h.command(); written != nil && sameJSONText(d.raw(x.path...), written) {
		raw, err := json.Marshal(want)
		if err != nil || sameJSONText(d.raw(x.path...), raw) {
			return err
		}
		return d.setItem(want, x.path...)
	}
	if !samePath(x.call.path, h.exe, h.goos) && !byName(x.call.path) {
		exe := h.exe
		if !x.args {
			exe = Quote(h.exe, h.goos)
		}
		if err := d.setItem(x.command[:x.call.start]+exe+x.command[x.call.end:], x.at("command")...); err != nil {
			return err
		}
	}
	if h.client != "" && !strings.Contains(x.command, "--client") { // copied from Claude Code's settings
		if err := d.setItem(h.command().Command, x.at("command")...); err != nil {
			return err
		}
	}
	var timeout float64
	if raw := d.raw(x.at("timeout")...); raw != nil && json.Unmarshal(raw, &timeout) == nil && timeout > float64(maxTimeout*h.unit) {
		if err := d.set(h.Timeout*h.unit, "timeout", x.path...); err != nil {
			return err
		}
	}
	if h.Async && d.raw(x.at("async")...) == nil {
		return d.set(true, "async", x.path...)
	}
	return nil
}

// sameJSONText reports whether two JSON texts are equal except for blanks.
func sameJSONText(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// drop removes Strandline's hooks of the event.
func (h hookEntry) drop(d, base *settingsDoc) (Action, error) {
	found := h.find(d)
	if len(found) == 0 {
		return ActionKeep, nil
	}
	for _, x := range slices.Backward(found) {
		if err := remove(d, base, x); err != nil {
			return "", err
		}
	}
	return ActionRemove, d.reparse(d.src)
}

// remove removes one hook and the containers that become empty: the group, the
// event's list and "hooks", except for lists and objects that base has. The caller reads
// the document again after the last one.
func remove(d, base *settingsDoc, x existing) error {
	if err := d.cut(x.path...); err != nil || len(d.items(x.path[:4]...)) > 0 {
		return err
	}
	for n := 3; n > 0; n-- { // the group, the event's list, "hooks"
		path := x.path[:n]
		if n < 3 && (len(d.items(path...)) > 0 || base != nil && base.get(path...) != nil || d.hides(path...)) {
			return nil
		}
		if err := d.cut(path...); err != nil {
			return err
		}
	}
	return nil
}

// checkShape returns an error for settings that the client would ignore.
func (h hookEntry) checkShape(d *settingsDoc) error {
	return cmp.Or(d.checkKind("the document", kindObject), d.checkKind("hooks", kindObject, "hooks"),
		d.checkKind("hooks."+h.Event, kindArray, "hooks", h.Event))
}

// checkKind returns an error if the value at path is of another kind; name is for
// the user.
func (d *settingsDoc) checkKind(name string, kind jsonKind, path ...any) error {
	if v := d.get(path...); v != nil && v.kind != kind {
		want := map[jsonKind]string{kindObject: "object", kindArray: "list"}[kind]
		return archive.Invalid(name+" is not the "+want+" that the client expects", "correct or remove it, then run the command again")
	}
	return nil
}

// entry is one part of a settings file that Strandline writes.
type entry struct {
	id     string // names the entry in plans and in the manifest; never changes
	detail string // describes the entry for the user
	value  any    // the entry as put adds it
	wanted bool   // the options include it
	// put adds or updates the entry. written is the value that Strandline wrote last,
	// nil if unknown; put keeps the user's later changes.
	put func(d *settingsDoc, written json.RawMessage) (Action, error)
	// drop removes the entry, and containers that become empty unless they are in
	// base, the document before init (nil if unknown).
	drop func(d, base *settingsDoc) (Action, error)
}

// entries lists all possible entries of a JSON file in the order in which they are written.
// previous is the binary of an earlier init, whose entries are Strandline's, too.
func entries(o Options, previous string) []entry {
	o = o.withDefaults()
	f := o.File
	var list []entry
	for _, h := range o.hooksOf(f) {
		h.previous = previous
		c := h.command()
		list = append(list, entry{"hook/" + h.Event, strings.Join(append([]string{c.Command}, c.Args...), " "), c, true, h.put, h.drop})
	}
	if f.Main && o.Scope == ScopeUser { // the statusline is a user's choice
		l := statuslineEntry{exe: o.Exe, previous: previous, goos: o.GOOS}
		list = append(list, entry{"statusline", l.command(""), l.value(), !o.NoStatusline, l.put, l.drop})
	}
	if f.Servers != "" {
		m := o.serverEntry(previous)
		list = append(list, entry{m.name, m.text, m.want, !o.NoMCP, m.put, m.drop})
	}
	if f.Main {
		for _, m := range pluginEntries(o.Home) {
			list = append(list, entry{m.name, m.text, m.want, o.Plugin, m.put, m.drop})
		}
	}
	return list
}

// hookEntry is one of the client's hooks.
type hookEntry struct {
	transcript.Hook
	unit     int    // a second in the client's unit
	client   string // "" for Claude Code
	exe      string
	previous string // the binary in the manifest, "" if unknown
	goos     string
}

// hooksOf lists the hooks of a file.
func (o Options) hooksOf(f transcript.SetupFile) []hookEntry {
	list := make([]hookEntry, len(f.Hooks))
	for i, h := range f.Hooks {
		list[i] = hookEntry{Hook: h, unit: 1, client: o.Client.Name, exe: o.Exe, goos: o.GOOS}
		if f.Milliseconds {
			list[i].unit = 1000
		}
		if f.Main {
			list[i].client = ""
		}
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
	Context int      `json:"additionalContextLimit,omitempty"`
}

// hookGroup is a list of hooks with a common matcher.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

// command returns the hook as it is written. On Windows it uses the form with args,
// which needs no shell: the client uses any shell that it finds, and their quoting
// differs.
func (h hookEntry) command() hookCommand {
	c := hookCommand{Type: "command", Command: Quote(h.exe, h.goos) + " hook", Timeout: h.Timeout * h.unit, Async: h.Async, Context: h.Context}
	switch {
	case h.client != "":
		c.Command += " --client " + h.client
	case h.goos == "windows":
		c.Command, c.Args = h.exe, []string{"hook"}
	}
	return c
}
