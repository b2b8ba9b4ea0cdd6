package install

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"strandline/internal/archive"
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
	groups := d.get("hooks", h.event)
	if groups == nil {
		return nil
	}
	for g := range groups.items {
		commands := d.get("hooks", h.event, g, "hooks")
		if commands == nil {
			continue
		}
		matcher, _ := d.text("hooks", h.event, g, "matcher")
		for i := range commands.items {
			x := existing{path: []any{"hooks", h.event, g, "hooks", i}, matcher: matcher}
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
	x.call, ok = findCall(x.command, args, h.exe, h.goos)
	if !ok && h.previous != "" {
		x.call, ok = findCall(x.command, args, h.previous, h.goos)
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
	return ActionUpdate, nil
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
	switch groups := []hookGroup{{Matcher: h.matcher, Hooks: []hookCommand{h.command()}}}; {
	case d.get("hooks") == nil:
		return d.set(map[string][]hookGroup{h.event: groups}, "hooks")
	case d.get("hooks", h.event) == nil:
		return d.set(groups, h.event, "hooks")
	default:
		return d.append(groups[0], "hooks", h.event)
	}
}

// update makes an existing hook run this binary. A hook as Strandline wrote it
// becomes the current one. In a hook that the user changed, update corrects only the
// path of a moved binary and a timeout in milliseconds.
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
			exe = quote(h.exe, h.goos)
		}
		if err := d.setItem(x.command[:x.call.start]+exe+x.command[x.call.end:], x.at("command")...); err != nil {
			return err
		}
	}
	var timeout float64
	if raw := d.raw(x.at("timeout")...); raw != nil && json.Unmarshal(raw, &timeout) == nil && timeout > maxTimeout {
		return d.set(h.timeout, "timeout", x.path...)
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
	return ActionRemove, nil
}

// remove removes one hook and the containers that become empty: the group, the
// event's list and "hooks", except for lists and objects that base has.
func remove(d, base *settingsDoc, x existing) error {
	if err := d.delete(x.path...); err != nil || len(d.get(x.path[:4]...).items) > 0 {
		return err
	}
	for n := 3; n > 0; n-- { // the group, the event's list, "hooks"
		path := x.path[:n]
		if n < 3 && (len(d.get(path...).items) > 0 || base != nil && base.get(path...) != nil || d.hides(path...)) {
			return nil
		}
		if err := d.delete(path...); err != nil {
			return err
		}
	}
	return nil
}

// checkShape returns an error for settings that the client would ignore.
func (h hookEntry) checkShape(d *settingsDoc) error {
	return cmp.Or(d.checkKind("the document", kindObject), d.checkKind("hooks", kindObject, "hooks"),
		d.checkKind("hooks."+h.event, kindArray, "hooks", h.event))
}

// checkKind returns an error if the value at path is of another kind; name is for
// the user.
func (d *settingsDoc) checkKind(name string, kind jsonKind, path ...any) error {
	if v := d.get(path...); v != nil && v.kind != kind {
		return wrongShape(name, map[jsonKind]string{kindObject: "object", kindArray: "list"}[kind])
	}
	return nil
}

func wrongShape(name, want string) error {
	return archive.Invalid(name+" is not the "+want+" that the client expects", "correct or remove it, then run the command again")
}
