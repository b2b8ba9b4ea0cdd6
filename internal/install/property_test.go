package install

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// layout writes random values in a random style of indentation, line ends, comments
// and trailing commas.
type layout struct {
	t       *rapid.T
	newline string
	unit    string
	loose   bool // with comments and trailing commas
}

func drawLayout(t *rapid.T) layout {
	return layout{
		t:       t,
		newline: rapid.SampledFrom([]string{"\n", "\r\n", ""}).Draw(t, "newline"),
		unit:    rapid.SampledFrom([]string{"", " ", "  ", "\t", "    "}).Draw(t, "unit"),
		loose:   rapid.Bool().Draw(t, "loose"),
	}
}

// gap returns random blanks and comments between two tokens.
func (l layout) gap(depth int) string {
	s := ""
	if rapid.IntRange(0, 9).Draw(l.t, "gap") > 0 {
		s = l.newline + strings.Repeat(l.unit, depth)
	}
	if l.loose && rapid.IntRange(0, 5).Draw(l.t, "comment") == 0 {
		switch {
		case l.newline != "" && rapid.Bool().Draw(l.t, "line comment"):
			s = " // c" + l.newline + s
		default:
			s += "/* d */ "
		}
	}
	return s
}

// list returns items between brackets.
func (l layout) list(open, closing string, items []string, depth int) string {
	var b strings.Builder
	b.WriteString(open)
	for i, item := range items {
		b.WriteString(l.gap(depth + 1))
		b.WriteString(item)
		if i < len(items)-1 || l.loose && rapid.Bool().Draw(l.t, "trailing comma") {
			b.WriteString(l.gapless() + ",")
		}
	}
	b.WriteString(l.gap(depth))
	return b.String() + closing
}

func (l layout) gapless() string {
	return rapid.SampledFrom([]string{"", "", "", " "}).Draw(l.t, "blank")
}

func (l layout) member(key, value string) string {
	raw, err := json.Marshal(key)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(raw) + ":" + l.gapless() + value
}

func (l layout) value(depth int) string {
	kind := rapid.IntRange(0, 6).Draw(l.t, "kind")
	if depth > 4 {
		kind %= 4
	}
	switch kind {
	case 0:
		raw, err := json.Marshal(rapid.String().Draw(l.t, "text"))
		if err != nil {
			l.t.Fatal(err)
		}
		return string(raw)
	case 1:
		return fmt.Sprint(rapid.Int().Draw(l.t, "number"))
	case 2, 3:
		return rapid.SampledFrom([]string{"true", "null", "1e9", `"// no"`, `"/* no"`, `"a, }"`}).Draw(l.t, "word")
	}
	items := make([]string, rapid.IntRange(0, 3).Draw(l.t, "items"))
	for i := range items {
		items[i] = l.value(depth + 1)
		if kind == 4 {
			items[i] = l.member(rapid.StringMatching(`[a-zé" ]{1,4}`).Draw(l.t, "key"), items[i])
		}
	}
	if kind == 4 {
		return l.list("{", "}", items, depth)
	}
	return l.list("[", "]", items, depth)
}

// hookSettings returns a member "hooks" with other tools' hooks.
func (l layout) hookSettings() string {
	var events []string
	for _, event := range []string{"Stop", "PreToolUse", "PostToolUse", "SessionStart"} {
		if !rapid.Bool().Draw(l.t, event) {
			continue
		}
		groups := make([]string, rapid.IntRange(0, 2).Draw(l.t, "groups"))
		for i := range groups {
			commands := make([]string, rapid.IntRange(0, 2).Draw(l.t, "commands"))
			for j := range commands {
				commands[j] = l.list("{", "}", []string{l.member("type", `"command"`), l.member("command", `"x"`)}, 5)
			}
			groups[i] = l.list("{", "}", []string{l.member("matcher", `"a"`), l.member("hooks", l.list("[", "]", commands, 4))}, 3)
		}
		events = append(events, l.member(event, l.list("[", "]", groups, 2)))
	}
	return l.member("hooks", l.list("{", "}", events, 1))
}

// lineSettings returns a member "statusLine" with a user's command or another value.
func (l layout) lineSettings() string {
	command := rapid.StringMatching(`[a-z~/.'"$(){}|;é -]{1,12}x`).Draw(l.t, "command")
	raw, err := json.Marshal(command)
	if err != nil {
		l.t.Fatal(err)
	}
	kind := rapid.SampledFrom([]string{`"command"`, `"command"`, `"static"`}).Draw(l.t, "type")
	items := []string{l.member("type", kind), l.member("padding", "0"), l.member("command", string(raw))}
	return l.member(statuslineKey, l.list("{", "}", items, 1))
}

// settings returns a whole document.
func (l layout) settings() string {
	var members []string
	for i := range rapid.IntRange(0, 3).Draw(l.t, "members") {
		members = append(members, l.member(fmt.Sprintf("key%d", i), l.value(1)))
	}
	if rapid.Bool().Draw(l.t, "hooks") {
		at := rapid.IntRange(0, len(members)).Draw(l.t, "place")
		members = append(members[:at], append([]string{l.hookSettings()}, members[at:]...)...)
	}
	if rapid.Bool().Draw(l.t, "statusline") {
		at := rapid.IntRange(0, len(members)).Draw(l.t, "place of the statusline")
		members = append(members[:at], append([]string{l.lineSettings()}, members[at:]...)...)
	}
	prefix := rapid.SampledFrom([]string{"", "", "\ufeff", "\n"}).Draw(l.t, "prefix")
	return prefix + l.list("{", "}", members, 0) + rapid.SampledFrom([]string{"", l.newline, "  "}).Draw(l.t, "end")
}

// memoryPlan applies init to a document in memory.
func memoryPlan(t *rapid.T, text, path string) string {
	doc, err := parseDoc([]byte(text))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	for _, e := range entries(Options{Exe: path, GOOS: "linux"}, "") {
		if _, err := e.put(doc, nil); err != nil {
			t.Fatal(err)
		}
	}
	return string(doc.src)
}

// TestAnySettings: init adds exactly its entries to random settings, a second init
// adds nothing, and dropping the entries restores the values.
func TestAnySettings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawLayout(t).settings()
		after := memoryPlan(t, before, exe)
		if again := memoryPlan(t, after, exe); again != after {
			t.Fatalf("a second init changes %q to %q", after, again)
		}
		want, ok := plain(t, before).(map[string]any)
		if !ok {
			t.Fatalf("%q is not an object", before)
		}
		addEntries(t, want)
		if got := plain(t, after); !sameJSON(got, want) {
			t.Fatalf("a client reads %v, want %v\n%q", got, want, after)
		}

		moved, err := parseDoc([]byte(memoryPlan(t, after, "/elsewhere/strandline")))
		if err != nil {
			t.Fatal(err)
		}
		base, err := parseDoc([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries(Options{Exe: exe, GOOS: "linux"}, "") {
			if _, err := e.drop(moved, base); err != nil {
				t.Fatal(err)
			}
		}
		if got := plain(t, string(moved.src)); !sameJSON(got, plain(t, before)) {
			t.Fatalf("%q became %q", before, moved.src)
		}
	})
}

// TestInitOnlyInserts: every byte of the settings stays, in order.
func TestInitOnlyInserts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := drawLayout(t).settings()
		after := memoryPlan(t, before, exe)
		at := 0
		for _, c := range strings.Join(strings.Fields(before), "") {
			next := strings.IndexRune(after[at:], c)
			if next < 0 {
				t.Fatalf("%q lost %q in %q", before, c, after)
			}
			at += next + len(string(c))
		}
	})
}

// TestUninstallRestoresEveryByte after init, with files.
func TestUninstallRestoresEveryByte(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLayout(rt)
		l.loose = false // init refuses what the client does not read
		before := l.settings()
		p := newPlace(t)
		p.write(before)
		p.init()
		p.uninstall()
		if got, ok := p.read(); !ok || got != before {
			rt.Fatalf("%q became %q", before, got)
		}
	})
}

func plain(t *rapid.T, text string) any {
	doc, err := parseDoc([]byte(text))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	var v any
	if err := json.Unmarshal(doc.plain, &v); err != nil {
		t.Fatalf("%v in %q", err, doc.plain)
	}
	return v
}

// addEntries adds Strandline's entries to decoded settings.
func addEntries(t *rapid.T, settings map[string]any) {
	events, ok := settings["hooks"].(map[string]any)
	if !ok {
		events = map[string]any{}
		settings["hooks"] = events
	}
	mine := (statuslineEntry{exe: exe, goos: "linux"})
	if have, ok := settings[statuslineKey].(map[string]any); !ok {
		settings[statuslineKey] = map[string]any{"type": "command", "command": mine.command(""), "refreshInterval": float64(refreshSeconds)}
	} else if theirs, ok := have["command"].(string); ok && have["type"] == "command" {
		have["command"] = mine.command(theirs)
	}
	for _, m := range pluginEntries("") {
		raw, err := json.Marshal(map[string]any{m.key: m.want})
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		settings[m.container] = v
	}
	for _, h := range mainHooks(exe) {
		raw, err := json.Marshal(hookGroup{Matcher: h.Matcher, Hooks: []hookCommand{h.command()}})
		if err != nil {
			t.Fatal(err)
		}
		var group any
		if err := json.Unmarshal(raw, &group); err != nil {
			t.Fatal(err)
		}
		list, ok := events[h.Event].([]any)
		if !ok && events[h.Event] != nil {
			t.Fatalf("%s is not a list", h.Event)
		}
		events[h.Event] = append(list, group)
	}
}
