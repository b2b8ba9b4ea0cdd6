package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPlugin: init writes the plugin's files and two entries, a second init changes
// nothing, and uninstall restores the settings byte for byte.
func TestPlugin(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	p.opts.Plugin = true
	p.opts.Exe = `/home/ann's "tools"/strandline`
	p.init()
	after, _ := p.read()
	var settings struct {
		Markets map[string]struct {
			Source struct{ Source, Path string } `json:"source"`
		} `json:"extraKnownMarketplaces"`
		Enabled map[string]bool `json:"enabledPlugins"`
	}
	if err := json.Unmarshal([]byte(after), &settings); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.opts.Home, "plugin")
	if s := settings.Markets["strandline-local"].Source; s.Source != "directory" || s.Path != dir || !settings.Enabled["strandline@strandline-local"] {
		t.Errorf("settings: %s", after)
	}
	for _, rel := range []string{".claude-plugin/marketplace.json", "strandline/.claude-plugin/plugin.json", "strandline/hooks/hooks.json", "strandline/hooks/register.ts", "strandline/.mcp.json", "strandline/skills/strandline/SKILL.md"} {
		path := filepath.Join(dir, filepath.FromSlash(rel))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(rel) == ".json" && !json.Valid(data) {
			t.Errorf("%s is no JSON", rel)
		}
		if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%s: %v, %v", rel, info.Mode(), err)
		}
	}
	module, err := os.ReadFile(filepath.Join(dir, "strandline", "hooks", "register.ts"))
	if err != nil || !strings.Contains(string(module), `const program = "/home/ann's \"tools\"/strandline"`) {
		t.Errorf("the module does not call the binary: %v\n%s", err, module)
	}
	hooks, err := os.ReadFile(filepath.Join(dir, "strandline", "hooks", "hooks.json"))
	if err != nil || strings.Contains(string(hooks), "command") {
		t.Errorf("the plugin has hooks: %v %s", err, hooks)
	}
	var servers struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	data, err := os.ReadFile(filepath.Join(dir, "strandline", ".mcp.json"))
	if err != nil || json.Unmarshal(data, &servers) != nil {
		t.Fatalf("the plugin's servers: %v\n%s", err, data)
	}
	if s := servers.Servers["strandline"]; s.Command != `/home/ann's "tools"/strandline` || len(s.Args) != 1 || s.Args[0] != "mcp" {
		t.Errorf("the plugin's server: %+v", s)
	}
	if again := p.init(); again.Changed() {
		t.Errorf("a second init changes:\n%s", again.Diff())
	}

	p.uninstall()
	if got, _ := p.read(); got != someSettings {
		t.Errorf("after uninstall: %q", got)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the plugin is still there: %v", err)
	}
}

// TestInitWithoutPluginRemovesIt and keeps the hooks.
func TestInitWithoutPluginRemovesIt(t *testing.T) {
	p := newPlace(t)
	p.write(someSettings)
	p.init()
	want, _ := p.read()
	p.opts.Plugin = true
	p.init()
	p.opts.Plugin = false
	p.init()
	if got, _ := p.read(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(p.opts.Home, "plugin")); !os.IsNotExist(err) {
		t.Errorf("the plugin is still there: %v", err)
	}
}

// TestOtherPluginSettingsAreKept: a plugin that the user switched off, other
// marketplaces and other plugins.
func TestOtherPluginSettingsAreKept(t *testing.T) {
	for name, tt := range map[string]struct{ before, want string }{
		"others":       {`{"enabledPlugins": {"a@b": true}, "extraKnownMarketplaces": {}}`, `"a@b": true, "strandline@strandline-local": true`},
		"switched off": {`{"enabledPlugins": {"strandline@strandline-local": false}}`, `{"strandline@strandline-local": false}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write(tt.before)
			p.opts.Plugin = true
			p.init()
			if got, _ := p.read(); !strings.Contains(got, tt.want) {
				t.Errorf("got:\n%s", got)
			}
			p.uninstall()
			if got, _ := p.read(); got != tt.before {
				t.Errorf("%q became %q", tt.before, got)
			}
		})
	}
}

func TestPluginRefusesUnexpectedSettings(t *testing.T) {
	p := newPlace(t)
	p.write(`{"enabledPlugins": []}`)
	p.opts.Plugin = true
	if _, err := New(p.opts).Plan(); err == nil || !strings.Contains(err.Error(), "enabledPlugins") {
		t.Errorf("got %v", err)
	}
}
