package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/archive"
)

const someSettings = "{\n  \"model\": \"opus\"\n}\n"

func wantCode(t *testing.T, err error, code archive.Code) {
	t.Helper()
	if archive.ErrorCode(err) != code {
		t.Errorf("got %v (%s), want %s", err, archive.ErrorCode(err), code)
	}
	if err != nil && archive.ErrorHint(err) == "" {
		t.Errorf("%v has no hint", err)
	}
}

func TestMovedBinary(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	p.init()
	before, _ := p.read()
	p.opts.Exe = "/home/ann's tools/strandline"
	plan := p.init()
	for _, e := range plan.Entries {
		if e.Action != ActionUpdate {
			t.Errorf("%s: %s", e.ID, e.Action)
		}
	}
	after, _ := p.read()
	if want := strings.ReplaceAll(before, exe+" ", `'/home/ann'\\''s tools/strandline' `); after != want {
		t.Errorf("got:\n%s", after)
	}
	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("after uninstall: %q", got)
	}
}

// TestRenamedBinary: the manifest identifies a binary of another name.
func TestRenamedBinary(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	p.opts.Exe = "/opt/sl"
	p.init()
	p.opts.Exe = "/opt/sl2"
	p.init()
	after, _ := p.read()
	if strings.Contains(after, "/opt/sl hook") || strings.Count(after, "/opt/sl2 hook") != 9 {
		t.Errorf("got:\n%s", after)
	}
	p.write(strings.Replace(after, "opus", "haiku", 1))
	p.opts.Exe = "/opt/sl3"
	p.uninstall()
	if got, _ := p.read(); got != strings.Replace(someSettings, "opus", "haiku", 1) {
		t.Errorf("after uninstall:\n%s", got)
	}
}

// TestUnchangedEntriesAreUpdated: an entry as init wrote it becomes the current one,
// for example with another timeout.
// A thousand hooks of an older binary become one, and those of others stay. Each removal
// used to read the document again.
func TestManyDuplicates(t *testing.T) {
	p := newPlace(t)
	var groups []string
	for i := range 1000 {
		groups = append(groups, fmt.Sprintf(`{"hooks": [{"type": "command", "command": "/old/%d/strandline hook"}, {"type": "command", "command": "/usr/bin/tool-%d"}]}`, i, i))
	}
	p.write("{\"hooks\": {\"Stop\": [\n" + strings.Join(groups, ",\n") + "\n]}}\n")
	p.init()
	text, _ := p.read()
	if n := strings.Count(text, "/usr/bin/tool-"); n != 1000 || strings.Contains(text, "/old/1/") {
		t.Errorf("%d hooks of others are left, and /old/1: %v", n, strings.Contains(text, "/old/1/"))
	}
	wantInstalled(t, text)
	p.uninstall()
	if text, _ = p.read(); strings.Count(text, "/usr/bin/tool-") != 1000 || strings.Contains(text, "strandline") {
		t.Error("an uninstall removes hooks of others, or leaves its own")
	}
}

func TestUnchangedEntriesAreUpdated(t *testing.T) {
	p := newPlace(t)
	p.init()
	m, err := readManifest(p.opts.Home)
	if err != nil {
		t.Fatal(err)
	}
	old := json.RawMessage(`{"type":"command","command":"` + exe + ` hook","timeout":99,"async":true}`)
	m.Files[p.settings].Entries["hook/Stop"] = old
	if err := m.save(p.opts.Home); err != nil {
		t.Fatal(err)
	}
	after, _ := p.read()
	at := strings.Index(after, `"Stop"`)
	p.write(after[:at] + strings.Replace(after[at:], `"timeout": 5`, `"timeout": 99`, 1))
	p.init()
	if got, _ := p.read(); got != after {
		t.Errorf("got:\n%s\nwant:\n%s", got, after)
	}
}

func TestWindowsHooksNeedNoShell(t *testing.T) {
	p := newPlace(t)
	p.opts.GOOS, p.opts.Exe = "windows", `C:\My Tools\strandline.exe`
	p.init()
	after, _ := p.read()
	want := `"command": "C:\\My Tools\\strandline.exe",
            "args": [
              "hook"
            ],`
	if !strings.Contains(after, want) {
		t.Errorf("got:\n%s", after)
	}
	p.opts.Exe = `D:\strandline.exe`
	p.init()
	moved, _ := p.read()
	want = strings.ReplaceAll(after, `C:\\My Tools\\`, `D:\\`)
	if want = strings.ReplaceAll(want, `\"C:/My Tools/strandline.exe\"`, `D:/strandline.exe`); moved != want || !strings.Contains(want, `"D:/strandline.exe statusline"`) {
		t.Errorf("got:\n%s", moved)
	}
}

func TestProjectScope(t *testing.T) {
	p := newPlace(t)
	p.opts.Scope, p.opts.ProjectDir = ScopeProject, filepath.Dir(p.opts.ClientDir)
	p.init()
	path := filepath.Join(p.opts.ProjectDir, ".claude", "settings.local.json")
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	p.opts.Scope = ScopeUser
	p.init()
	p.uninstall()
	if _, err := os.Stat(path); err != nil {
		t.Error("uninstall in one scope took the other's entries")
	}
	p.opts.Scope = ScopeProject
	p.uninstall()
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the project's folder is still there: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		name, settings, says string
		change               func(*Options)
	}{
		{"no JSON", "{\"a\": }", "line 1, column 7", nil},
		{"UTF-16", "\xff\xfe{\x00}\x00", "not valid JSON", nil},
		{"comments", "{\n  // mine\n  \"model\": \"opus\"\n}", "holds comments", nil},
		{"a trailing comma", `{"model": "opus",}`, "holds trailing commas", nil},
		{"nothing but a comment", "// none yet", "holds comments", nil},
		{"a list", "[]", "the document is not the object", nil},
		{"hooks are a list", `{"hooks":[]}`, "hooks is not the object", nil},
		{"hooks are null", `{"hooks":null}`, "hooks is not the object", nil},
		{"an event is an object", `{"hooks":{"Stop":{}}}`, "hooks.Stop is not the list", nil},
		{"no binary", "{}", "binary is not known", func(o *Options) { o.Exe = "" }},
		{"a relative binary", "{}", "binary is not known", func(o *Options) { o.Exe = "strandline" }},
		{"an unknown scope", "{}", `"all" is not a scope`, func(o *Options) { o.Scope = "all" }},
		{"no client", "{}", "folder of the client's settings is not known", func(o *Options) { o.ClientDir = "" }},
		{"no project", "{}", "folder of the client's settings is not known", func(o *Options) { o.Scope = ScopeProject }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(tc.settings)
			if tc.change != nil {
				tc.change(&p.opts)
			}
			_, err := New(p.opts).Plan()
			wantCode(t, err, archive.CodeInvalid)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
			_, err = New(p.opts).Apply(t.Context(), Plan{})
			wantCode(t, err, archive.CodeInvalid)
			if got, _ := p.read(); got != tc.settings {
				t.Errorf("wrote %q", got)
			}
			if _, err := os.Stat(manifestPath(p.opts.Home)); !os.IsNotExist(err) {
				t.Errorf("wrote a manifest: %v", err)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	p := newPlace(t)
	p.opts.Exe = "/tmp/go-build123/b001/exe/strandline"
	if plan := p.init(); len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "temporary") {
		t.Errorf("got %q", plan.Warnings)
	}
}
