package install

import (
	"encoding/json"

	"strandline/internal/install/jsonc"
)

// line is the client's statusline. The client accepts one command, so Strandline's
// command runs the user's and prints its line first. The user's command is a quoted
// argument, from which drop restores it.
type line struct {
	exe, was, goos string
}

// lineKey is the client's setting. A plugin cannot set it.
const lineKey = "statusLine"

// withFlag precedes the user's command.
const withFlag = "--with"

func (l line) id() string { return "statusline" }

func (l line) value() any {
	return map[string]string{"type": "command", "command": l.command("")}
}

func (l line) detail() string { return l.command("") }

// command returns Strandline's command, which also runs another one.
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
	with string // the user's command, "" for none
}

// find returns the statusline command of a document; there is false without one.
// ours is nil for a command that does not run Strandline.
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

// withOf returns the user's command in a command of Strandline's.
func withOf(command string) string {
	list := words(command, false)
	for i, w := range list[:max(len(list)-1, 0)] {
		if w.text == withFlag && !w.separator {
			return list[i+1].text
		}
	}
	return ""
}

// put adds the statusline, or includes the existing command. It keeps a statusline
// that is not a command, and on Windows, where quoting differs between shells, any
// existing one.
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

// drop removes the statusline or restores the user's command.
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
		// JSON has several spellings of a text.
		if text, ok := base.Text(lineKey, "command"); ok && text == ours.with {
			back = json.RawMessage(base.Raw(lineKey, "command"))
		}
	}
	return ActionRemove, d.SetItem(back, lineKey, "command")
}
