package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/install/jsonc"
)

// maxTimeout is the number of seconds above which a hook's limit is taken for
// milliseconds. The client's own default is 600.
const maxTimeout = 600

// wired is a hook of ours that stands in a document.
type wired struct {
	group, index int
	matcher      string
	call         call
}

// find lists the hooks of ours at an event.
func (h hook) find(d *jsonc.Doc, event string) []wired {
	var list []wired
	groups := d.Get("hooks", event)
	if groups == nil {
		return nil
	}
	for g := range groups.Items {
		commands := d.Get("hooks", event, g, "hooks")
		if commands == nil {
			continue
		}
		matcher, _ := d.Text("hooks", event, g, "matcher")
		for i := range commands.Items {
			path := []any{"hooks", event, g, "hooks", i}
			command, ok := d.Text(append(path, "command")...)
			if !ok {
				continue
			}
			var args []string
			if raw := d.Raw(append(path, "args")...); raw != nil && json.Unmarshal(raw, &args) != nil {
				continue
			}
			c, ok := findCall(command, args, h.exe, h.goos)
			if !ok && h.was != "" {
				c, ok = findCall(command, args, h.was, h.goos)
			}
			if ok {
				list = append(list, wired{group: g, index: i, matcher: matcher, call: c})
			}
		}
	}
	return list
}

// put adds the hook or brings the one that stands there up to date.
func (h hook) put(d *jsonc.Doc, written json.RawMessage) (Action, error) {
	if err := h.checkShape(d); err != nil {
		return "", err
	}
	found := h.find(d, h.event)
	if len(found) == 0 {
		return ActionAdd, h.add(d)
	}
	before := d.Bytes()
	// From the last to the first: what goes must not shift what is still to do.
	for i, w := range slices.Backward(found) {
		var err error
		if twin(found[:i], w) {
			err = remove(d, nil, h.event, w)
		} else {
			err = h.update(d, w, written)
		}
		if err != nil {
			return "", err
		}
	}
	if bytes.Equal(before, d.Bytes()) {
		return ActionKeep, nil
	}
	return ActionUpdate, nil
}

// twin reports whether an earlier hook has the same condition. A person may have
// split one into several conditions, and those stay.
func twin(earlier []wired, w wired) bool {
	return slices.ContainsFunc(earlier, func(e wired) bool {
		return e.matcher == w.matcher || always(e.matcher) && always(w.matcher)
	})
}

func always(matcher string) bool { return matcher == "" || matcher == "*" }

func (h hook) add(d *jsonc.Doc) error {
	switch groups := []hookGroup{h.group()}; {
	case d.Get("hooks") == nil:
		return d.Set(map[string][]hookGroup{h.event: groups}, "hooks")
	case d.Get("hooks", h.event) == nil:
		return d.Set(groups, h.event, "hooks")
	}
	return d.Append(h.group(), "hooks", h.event)
}

// update lets w run this binary. What Strandline wrote itself becomes what it
// would write today; of what a person has changed only the path of a moved
// binary and a limit in milliseconds are corrected.
func (h hook) update(d *jsonc.Doc, w wired, written json.RawMessage) error {
	path := []any{"hooks", h.event, w.group, "hooks", w.index}
	if want := h.command(); written != nil && same(d.Raw(path...), written) {
		raw, err := json.Marshal(want)
		if err != nil {
			return fmt.Errorf("encode hook: %w", err)
		}
		if same(d.Raw(path...), raw) {
			return nil
		}
		return d.SetItem(want, path...)
	}
	if !samePath(w.call.path, h.exe, h.goos) && !byName(w.call.path) {
		command, _ := d.Text(append(path, "command")...)
		exe := h.exe
		if d.Get(append(path, "args")...) == nil {
			exe = quote(h.exe, h.goos)
		}
		if err := d.SetItem(command[:w.call.start]+exe+command[w.call.end:], append(path, "command")...); err != nil {
			return err
		}
	}
	var timeout float64
	if raw := d.Raw(append(path, "timeout")...); raw != nil && json.Unmarshal(raw, &timeout) == nil && timeout > maxTimeout {
		return d.Set(h.timeout, "timeout", path...)
	}
	return nil
}

// same reports whether two texts are the same JSON, blanks aside.
func same(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// drop removes every hook of ours from the event.
func (h hook) drop(d, base *jsonc.Doc) (Action, error) {
	found := h.find(d, h.event)
	if len(found) == 0 {
		return ActionKeep, nil
	}
	for _, w := range slices.Backward(found) {
		if err := remove(d, base, h.event, w); err != nil {
			return "", err
		}
	}
	return ActionRemove, nil
}

// remove takes one hook out, and the containers that it leaves empty.
func remove(d, base *jsonc.Doc, event string, w wired) error {
	path := []any{"hooks", event, w.group, "hooks", w.index}
	if err := d.Delete(path...); err != nil {
		return err
	}
	had := func(path ...any) bool { return base != nil && base.Get(path...) != nil }
	for n := len(path) - 1; n > 0; n-- {
		v := d.Get(path[:n]...)
		if n == 4 { // a group goes when its list of hooks is empty
			if len(v.Items) > 0 {
				return nil
			}
			continue
		}
		if n < 3 && (len(v.Items) > 0 || had(path[:n]...) || d.Hides(path[:n]...)) {
			return nil
		}
		if err := d.Delete(path[:n]...); err != nil {
			return err
		}
	}
	return nil
}

// checkShape refuses settings that the client itself would pass over.
func (h hook) checkShape(d *jsonc.Doc) error {
	for _, place := range []struct {
		path []any
		kind jsonc.Kind
		name string
	}{
		{nil, jsonc.Object, "object"},
		{[]any{"hooks"}, jsonc.Object, "object"},
		{[]any{"hooks", h.event}, jsonc.Array, "list"},
	} {
		v := d.Get(place.path...)
		if v != nil && v.Kind != place.kind {
			what := "the document"
			for i, step := range place.path {
				if i == 0 {
					what = ""
				} else {
					what += "."
				}
				what += fmt.Sprint(step)
			}
			return archive.Invalid(fmt.Sprintf("%s is not the %s that the client expects", what, place.name), "correct it or take it out, then run the command again")
		}
	}
	return nil
}
