package install

import "encoding/json"

// statuslineEntry is the client's statusline. The client accepts one command, so Strandline's
// command runs the user's and prints its own line first. The user's command is a quoted
// argument, from which drop restores it.
type statuslineEntry struct{ exe, previous, goos string }

// statuslineKey is the client's setting. A plugin cannot set it.
const statuslineKey = "statusLine"

// withFlag precedes the user's command.
const withFlag = "--with"

// refreshSeconds is how often the client redraws the line between turns, so that it shows
// what was captured after the last hook. Clients that do not know the key ignore it.
const refreshSeconds = 30

func (l statuslineEntry) value() any {
	return map[string]any{"type": "command", "command": l.command(""), "refreshInterval": refreshSeconds}
}

// command returns Strandline's command, which also runs another one.
func (l statuslineEntry) command(with string) string {
	text := Quote(l.exe, l.goos) + " statusline"
	if with != "" {
		text += " " + withFlag + " " + Quote(with, l.goos)
	}
	return text
}

// lineCall is a statusline that runs Strandline.
type lineCall struct {
	call
	with string // the user's command, "" for none
}

// find returns the statusline command of a document; found is false without one. own
// is nil for a command that does not run Strandline.
func (l statuslineEntry) find(d *settingsDoc) (command string, own *lineCall, found bool) {
	command, found = d.text(statuslineKey, "command")
	if kind, _ := d.text(statuslineKey, "type"); kind != "command" || !found {
		return "", nil, false
	}
	for _, exe := range []string{l.exe, l.previous} {
		if c, ok := findCall(command, nil, "statusline", exe, l.goos); ok && exe != "" {
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
func (l statuslineEntry) put(d *settingsDoc, _ json.RawMessage) (Action, error) {
	if d.get(statuslineKey) == nil {
		return ActionAdd, d.set(l.value(), statuslineKey)
	}
	command, own, found := l.find(d)
	switch {
	case !found, own == nil && l.goos == "windows", own == nil && command == "":
		return ActionKeep, nil
	case own == nil:
		return ActionAdd, d.setItem(l.command(command), statuslineKey, "command")
	case samePath(own.path, l.exe, l.goos), byName(own.path):
		return ActionKeep, nil
	}
	moved := command[:own.start] + Quote(l.exe, l.goos) + command[own.end:]
	return ActionUpdate, d.setItem(moved, statuslineKey, "command")
}

// drop removes the statusline or restores the user's command.
func (l statuslineEntry) drop(d, base *settingsDoc) (Action, error) {
	_, own, _ := l.find(d)
	if own == nil {
		return ActionKeep, nil
	}
	if own.with == "" {
		return ActionRemove, d.delete(statuslineKey)
	}
	var back any = own.with
	if base != nil {
		// JSON has several spellings of a text.
		if text, ok := base.text(statuslineKey, "command"); ok && text == own.with {
			back = json.RawMessage(base.raw(statuslineKey, "command"))
		}
	}
	return ActionRemove, d.setItem(back, statuslineKey, "command")
}
