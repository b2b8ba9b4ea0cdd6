package install

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

func TestUninstallDeletesACreatedFile(t *testing.T) {
	p := newPlace(t)
	if plan := p.init(); plan.Before != nil || !strings.HasPrefix(plan.Diff(), "--- /dev/null\n") {
		t.Errorf("the plan does not say that the file is new:\n%s", plan.Diff())
	}
	if runtime.GOOS != "windows" {
		for _, path := range []string{p.settings, manifestPath(p.opts.Home)} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	if plan := p.uninstall(); !strings.Contains(plan.Diff(), "+++ /dev/null\n") {
		t.Errorf("the plan does not say that the file goes:\n%s", plan.Diff())
	}
	if _, err := os.Stat(p.opts.ClientDir); !os.IsNotExist(err) {
		t.Errorf("the client's folder is still there: %v", err)
	}
	if _, err := os.Stat(manifestPath(p.opts.Home)); !os.IsNotExist(err) {
		t.Errorf("the manifest is still there: %v", err)
	}
}

// The client keeps a list of plugins that Strandline did not write.
func TestUninstallNamesTheClientsList(t *testing.T) {
	p := newPlace(t)
	p.init()
	list := filepath.Join(p.opts.ClientDir, "plugins", "installed_plugins.json")
	for content, want := range map[string]int{`{"plugins":{"` + pluginName + `":[]}}`: 1, `{"plugins":{}}`: 0} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(list), 0o700), os.WriteFile(list, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		if plan, err := New(p.opts).PlanUninstall(); err != nil || len(plan.Warnings) != want {
			t.Errorf("%s: %q, %v", content, plan.Warnings, err)
		}
	}
}

func TestUninstallKeepsACreatedFileWithOtherSettings(t *testing.T) {
	p := newPlace(t)
	p.init()
	after, _ := p.read()
	p.write(strings.Replace(after, "{\n", "{\n  \"model\": \"opus\",\n", 1))
	p.opts.Exe = "/usr/local/bin/strandline" // a second init from elsewhere
	p.init()
	p.uninstall()
	if got, ok := p.read(); !ok || got != someSettings {
		t.Errorf("got %q", got)
	}
}

func TestUninstallKeepsAFolderWithOtherFiles(t *testing.T) {
	p := newPlace(t)
	p.init()
	other := filepath.Join(p.opts.ClientDir, "CLAUDE.md")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.uninstall()
	if _, ok := p.read(); ok {
		t.Error("the settings are still there")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

func TestUninstallKeepsOtherChanges(t *testing.T) {
	for _, tc := range []struct{ name, from, to, want string }{
		{"in front", "{\n", "{\n  \"env\": {},\n", "{\n  \"env\": {},\n  \"model\": \"opus\"\n}\n"},
		{"a value", "opus", "haiku", "{\n  \"model\": \"haiku\"\n}\n"},
		{"a hook of theirs", "\"hooks\": {\n", "\"hooks\": {\n    \"Notification\": [],\n", "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Notification\": []\n  }\n}\n"},
		{"after ours", "\n  }\n}\n", "\n  },\n  \"z\": 1\n}\n", "{\n  \"model\": \"opus\",\n  \"z\": 1\n}\n"},
		{"a hook beside ours", "\"Stop\": [\n      {\n        \"hooks\": [\n", "\"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"x\"},\n", "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"x\"}\n        ]\n      }\n    ]\n  }\n}\n"},
		{"a limit of ours", "\"timeout\": 6", "\"timeout\": 60", someSettings},
		{"all of ours", "strandline hook", "strandline hook --verbose", someSettings},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(someSettings)
			p.init()
			after, _ := p.read()
			changed := strings.ReplaceAll(after, tc.from, tc.to)
			if tc.name == "in front" {
				changed = strings.Replace(after, tc.from, tc.to, 1)
			}
			if changed == after {
				t.Fatal("nothing was changed")
			}
			p.write(changed)
			p.uninstall()
			if got, _ := p.read(); got != tc.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tc.want)
			}
		})
	}
}

func TestUninstallWithoutInit(t *testing.T) {
	p := newPlace(t)
	if plan := p.uninstall(); plan.Changed() {
		t.Errorf("it would change\n%s", plan.Diff())
	}
	p.write(someSettings)
	if plan := p.uninstall(); plan.Changed() || len(plan.Entries) != 0 {
		t.Errorf("it would change\n%s", plan.Diff())
	}
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}

func TestUninstallRefusesInvalidJSON(t *testing.T) {
	p := newPlace(t)
	p.init()
	p.write("{")
	_, err := New(p.opts).Apply(t.Context(), Plan{Uninstall: true})
	wantCode(t, err, archive.CodeInvalid)
	if got, _ := p.read(); got != "{" {
		t.Errorf("got %q", got)
	}
}

func TestUninstallWithDamagedManifest(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	p.init()
	if err := os.WriteFile(manifestPath(p.opts.Home), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("got %q", got)
	}
}

func TestManifestOfANewerVersionIsKept(t *testing.T) {
	p := newPlace(t)
	p.init()
	if err := os.WriteFile(manifestPath(p.opts.Home), []byte(`{"version":99,"files":{}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(p.opts).Plan()
	wantCode(t, err, archive.CodeInvalid)
}

func TestManifest(t *testing.T) {
	p := newPlace(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.opts.Now = func() time.Time { return now }
	p.write(someSettings)
	p.init()
	after, _ := p.read()
	m, err := readManifest(p.opts.Home)
	if err != nil {
		t.Fatal(err)
	}
	r := m.Files[p.settings]
	if string(r.Original) != someSettings || r.BeforeSHA256 != checksum([]byte(someSettings)) ||
		r.AfterSHA256 != checksum([]byte(after)) || r.Created || !r.Time.Equal(now) || r.Exe != exe || len(r.Entries) != 10 {
		t.Errorf("got %+v", r)
	}
}
