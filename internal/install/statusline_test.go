package install

import (
	"strings"
	"testing"
)

func TestStatusline(t *testing.T) {
	const mine = exe + " statusline"
	settings := func(command string) string {
		return `{"statusLine": {"type": "command", "command": "` + command + `"}}`
	}
	for name, c := range map[string]struct{ before, after, dropped string }{
		"none":                   {`{}`, `{"statusLine": {"type": "command", "command": "` + mine + `", "refreshInterval": 30}}`, `{}`},
		"ours":                   {settings(mine), settings(mine), `{}`},
		"ours, moved":            {settings(oldExe + " statusline"), settings(mine), `{}`},
		"ours, found by name":    {settings("strandline statusline"), settings("strandline statusline"), `{}`},
		"ours, with a variable":  {settings("LANG=C " + mine), settings("LANG=C " + mine), `{}`},
		"ours, after theirs":     {settings(mine + " --with 'my line'"), settings(mine + " --with 'my line'"), settings("my line")},
		"theirs":                 {settings("my line"), settings(mine + " --with 'my line'"), settings("my line")},
		"theirs, with quotes":    {settings(`echo 'it'\\''s' \"$x\"`), settings(mine + ` --with 'echo '\\''it'\\''\\'\\'''\\''s'\\'' \"$x\"'`), settings(`echo 'it'\\''s' \"$x\"`)},
		"theirs, which calls us": {settings("my | strandline statusline"), settings(mine + " --with 'my | strandline statusline'"), settings("my | strandline statusline")},
		"another strandline's":   {settings("/opt/strandline/bin/strandline status"), settings(mine + " --with '/opt/strandline/bin/strandline status'"), settings("/opt/strandline/bin/strandline status")},
		"an empty command":       {settings(""), settings(""), settings("")},
		"no command":             {`{"statusLine": {"type": "static"}}`, `{"statusLine": {"type": "static"}}`, `{"statusLine": {"type": "static"}}`},
		"null":                   {`{"statusLine": null}`, `{"statusLine": null}`, `{"statusLine": null}`},
		"a word":                 {`{"statusLine": "mine"}`, `{"statusLine": "mine"}`, `{"statusLine": "mine"}`},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := parseDoc([]byte(c.before))
			if err != nil {
				t.Fatal(err)
			}
			l := statuslineEntry{exe: exe, previous: oldExe, goos: "linux"}
			if _, err := l.put(doc, nil); err != nil {
				t.Fatal(err)
			}
			if !sameJSON(decode(t, string(doc.src)), decode(t, c.after)) {
				t.Errorf("got  %s\nwant %s", doc.src, c.after)
			}
			wired := string(doc.src)
			if action, err := l.put(doc, nil); err != nil || action != ActionKeep || string(doc.src) != wired {
				t.Errorf("a second time: %s, %v, %s", action, err, doc.src)
			}
			if _, err := l.drop(doc, nil); err != nil {
				t.Fatal(err)
			}
			if !sameJSON(decode(t, string(doc.src)), decode(t, c.dropped)) {
				t.Errorf("dropped: got %s, want %s", doc.src, c.dropped)
			}
		})
	}
}

// Quoting differs between the shells that a client uses on Windows.
func TestUserStatuslineOnWindows(t *testing.T) {
	const theirs = `{"statusLine": {"type": "command", "command": "powershell -File C:\\line.ps1"}}`
	p := newPlace(t)
	p.opts.GOOS, p.opts.Exe = "windows", `C:\strandline.exe`
	p.write(theirs)
	p.init()
	if got, _ := p.read(); !strings.Contains(got, `"command": "powershell -File C:\\line.ps1"`) {
		t.Errorf("got %s", got)
	}
	p.uninstall()
	if got, _ := p.read(); got != theirs {
		t.Errorf("got %s", got)
	}
}

// The statusline is a user's choice.
func TestProjectScopeHasNoStatusline(t *testing.T) {
	p := newPlace(t)
	p.opts.Scope, p.opts.ProjectDir = ScopeProject, t.TempDir()
	for _, e := range p.init().Entries {
		if e.ID == "statusline" {
			t.Errorf("%+v", e)
		}
	}
}

// Uninstall restores the user's command after other changes of the settings.
func TestUserStatuslineIsRestoredAfterOtherChanges(t *testing.T) {
	p := newPlace(t)
	p.write("{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"\\u007e/line\"}\n}\n")
	p.init()
	after, _ := p.read()
	p.write(strings.Replace(after, "{\n", "{\n  \"model\": \"opus\",\n", 1))
	p.uninstall()
	want := "{\n  \"model\": \"opus\",\n  \"statusLine\": {\"type\": \"command\", \"command\": \"\\u007e/line\"}\n}\n"
	if got, _ := p.read(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
