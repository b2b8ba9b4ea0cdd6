package install

import (
	"encoding/json"

	"strandline/internal/install/jsonc"
)

// line is the client's statusline. The client has room for one command only, so
// one that is there already is not replaced but taken along: ours runs it and
// puts its line before its own. It stands in ours as a word of the shell, and
// comes out of it again.
type line struct {
	exe, was, goos string
}

// lineKey is the setting of the client. A plugin cannot set it.
const lineKey = "statusLine"

// withFlag stands before the command that was there.
const withFlag = "--with"

func (l line) id() string { return "statusline" }

func (l line) value() any {
	return map[string]string{"type": "command", "command": l.command("")}
}

func (l line) detail() string { return l.command("") }

// command runs ours, and with it another one.
func (l line) command(with string) string {
	text := quote(l.exe, l.goos) + " statusline"
	if with != "" {
		text += " " + withFlag + " " + quote(with, l.goos)
	}
	return text
}

// lineCall is a statusline that runs Strandline.
type lineCall struct {
	call
	with string // the command that was there before, "" for none
}

// find reads the statusline of a document. ours is nil for somebody else's; there
// is false when no command stands there.
func (l line) find(d *jsonc.Doc) (command string, ours *lineCall, there bool) {
	if kind, _ := d.Text(lineKey, "type"); kind != "command" {
		return "", nil, false
	}
	if command, there = d.Text(lineKey, "command"); !there {
		return "", nil, false
	}
	for _, exe := range []string{l.exe, l.was} {
		if c, ok := findArgument(command, nil, "statusline", exe, l.goos); ok && exe != "" {
			return command, &lineCall{call: c, with: withOf(command)}, true
		}
	}
	return command, nil, true
}

// withOf is the word behind the flag in a command of ours.
func withOf(command string) string {
	list := words(command, false)
	for i, w := range list[:max(len(list)-1, 0)] {
		if w.text == withFlag && !w.separator {
			return list[i+1].text
		}
	}
	return ""
}

// put adds the statusline, or takes the one along that is there. What is no
// command, and what cannot be quoted for the shells of Windows, stays alone.
func (l line) put(d *jsonc.Doc, _ json.RawMessage) (Action, error) {
	if d.Get(lineKey) == nil {
		return ActionAdd, d.Set(l.value(), lineKey)
	}
	command, ours, there := l.find(d)
	switch {
	case !there, ours == nil && l.goos == "windows", ours == nil && command == "":
		return ActionKeep, nil
	case ours == nil:
		return ActionAdd, d.SetItem(l.command(command), lineKey, "command")
	case samePath(ours.path, l.exe, l.goos), byName(ours.path):
		return ActionKeep, nil
	}
	moved := command[:ours.start] + quote(l.exe, l.goos) + command[ours.end:]
	return ActionUpdate, d.SetItem(moved, lineKey, "command")
}

// drop takes ours out and gives the one back that was there.
func (l line) drop(d, base *jsonc.Doc) (Action, error) {
	_, ours, _ := l.find(d)
	if ours == nil {
		return ActionKeep, nil
	}
	if ours.with == "" {
		return ActionRemove, d.Delete(lineKey)
	}
	var back any = ours.with
	if base != nil {
		// The same text may be written in several ways.
		if text, ok := base.Text(lineKey, "command"); ok && text == ours.with {
			back = json.RawMessage(base.Raw(lineKey, "command"))
		}
	}
	return ActionRemove, d.SetItem(back, lineKey, "command")
}
