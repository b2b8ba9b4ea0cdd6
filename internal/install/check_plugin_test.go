package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pluginWorld returns a system with the compactor plugin.
func pluginWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	in := New(Options{ClientDir: w.opts.ClientDir, Home: w.opts.Home, Exe: w.opts.Exe, GOOS: "linux", Plugin: true})
	if _, err := in.Apply(t.Context(), Plan{}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestCheckPlugin: every way in which the client was seen not to use the plugin has a
// finding with a cure.
func TestCheckPlugin(t *testing.T) {
	managed := func(text string) func(w *world) {
		return func(w *world) {
			home, err := json.Marshal(pluginDir(w.opts.Home))
			must(w, err)
			w.file(strings.ReplaceAll(text, `"DIR"`, string(home)), w.opts.ManagedDir, "managed-settings.json")
		}
	}
	off := func(w *world) {
		w.file(`{"cachedGrowthBookFeatures":{"tengu_plugin_hooks_modules":false}}`, w.opts.ClientDir+".json")
	}
	for _, tc := range []struct {
		name  string
		setup func(w *world)
		level Level
		says  string
	}{
		{"all is well", func(*world) {}, LevelOK, "2.1.330"},
		{"not switched on", func(w *world) { w.edit(`"`+pluginName+`": true`, `"`+pluginName+`": false`) }, LevelInfo, "is not switched on"},
		{"no files", func(w *world) { must(w, os.RemoveAll(pluginDir(w.opts.Home))) }, LevelWarn, "its files are missing"},
		{"an old client", func(w *world) { w.opts.ClientVersion = "2.1.286" }, LevelWarn, "client 2.1.286 has no plugin modules"},
		{"the first client with modules", func(w *world) { w.opts.ClientVersion = "2.1.287" }, LevelOK, "switched on"},
		{"a later client", func(w *world) { w.opts.ClientVersion = "2.2.0" }, LevelOK, "switched on"},
		{"an unreadable version", func(w *world) { w.opts.ClientVersion = "dev" }, LevelOK, "switched on"},
		{"managed modules only", managed(`{"pluginConfigs":{"cc-plugin-sec-default@builtin":{"options":{"allowManagedModsOnly":true}}}}`), LevelWarn, "allowManagedModsOnly in "},
		{"no marketplace", managed(`{"strictKnownMarketplaces":[]}`), LevelWarn, "strictKnownMarketplaces in "},
		{"other marketplaces", managed(`{"strictKnownMarketplaces":[{"source":"github","repo":"a/b"}]}`), LevelWarn, "strictKnownMarketplaces in "},
		{"this marketplace", managed(`{"strictKnownMarketplaces":[{"source":"directory","path":"DIR"}]}`), LevelOK, "switched on"},
		{"a blocked marketplace", managed(`{"blockedMarketplaces":[{"source":"directory","path":"DIR"}]}`), LevelWarn, "blockedMarketplaces in "},
		{"no side-loading", managed(`{"disableSideloadFlags":true}`), LevelOK, "switched on"},
		{"no side-loading, explained", managed(`{"disableSideloadFlags":true}`), LevelInfo, "refuses --plugin-dir"},
		{"no hooks", func(w *world) { w.add(`"disableAllHooks": true`) }, LevelWarn, "keeps plugin modules from being loaded"},
		{"safe mode", func(w *world) { w.env["CLAUDE_CODE_SAFE_MODE"] = "1" }, LevelWarn, "in safe mode the client loads no plugin modules"},
		{"bare mode", func(w *world) { w.add(`"env": {"CLAUDE_CODE_SIMPLE": "1"}`) }, LevelWarn, "in bare mode the client loads no plugin modules"},
		{"switched off remotely", off, LevelWarn, "switched plugin modules off (tengu_plugin_hooks_modules"},
		{"switched off, without telemetry", func(w *world) { off(w); w.env["DISABLE_TELEMETRY"] = "1" }, LevelOK, "switched on"},
		{"switched on", func(w *world) {
			w.file(`{"cachedGrowthBookFeatures":{"tengu_plugin_hooks_modules":true}}`, w.opts.ClientDir+".json")
		}, LevelOK, "switched on"},
		{"another compactor", func(w *world) { w.module("on('session.compact', x)") }, LevelWarn, "another plugin answers compactions as well"},
		{"another module", func(w *world) { w.module("on('turn.complete', x)") }, LevelOK, "switched on"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := pluginWorld(t)
			tc.setup(w)
			findings := Check(t.Context(), w.opts)
			for _, f := range findings {
				if f.Topic == "plugin" && f.Level == tc.level && strings.Contains(f.Msg, tc.says) {
					if f.Hint == "" && f.Level == LevelWarn {
						t.Errorf("no cure: %+v", f)
					}
					return
				}
			}
			t.Errorf("no %s with %q in %s", tc.level, tc.says, list(findings))
		})
	}
}

// module enables another plugin with a module.
func (w *world) module(source string) {
	w.t.Helper()
	at := filepath.Join(w.opts.ClientDir, "plugins", "cache", "other")
	w.file(`{"hooks":{},"modules":["./other.ts"]}`, at, "hooks", "hooks.json")
	w.file(source, at, "hooks", "other.ts")
	data, err := json.Marshal(map[string]any{"plugins": map[string]any{"other@x": []map[string]string{{"installPath": at}}}})
	must(w, err)
	w.file(string(data), w.opts.ClientDir, "plugins", "installed_plugins.json")
	w.edit(`"`+pluginName+`": true`, `"`+pluginName+`": true, "other@x": true`)
}

// TestFix: safe causes are removed, and what the user decided is not.
func TestFix(t *testing.T) {
	for _, tc := range []struct {
		name  string
		setup func(w *world)
		topic string
	}{
		{"an event is missing", func(w *world) { w.edit(`"Stop"`, `"A"`) }, "hooks"},
		{"the plugin's files are gone", func(w *world) { must(w, os.RemoveAll(pluginDir(w.opts.Home))) }, "plugin"},
		{"the folder is not private", func(w *world) { must(w, os.Chmod(w.opts.Home, 0o755)) }, "home"},
		{"a shared file names this machine", func(w *world) {
			w.file(stopHook(w.opts.Exe+" hook"), w.opts.ProjectDir, ".claude", "settings.json")
		}, "hooks"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := pluginWorld(t)
			tc.setup(w)
			n := 0
			for _, f := range Check(t.Context(), w.opts) {
				if f.Fix != nil {
					n++
					must(w, f.Fix())
				}
			}
			if n == 0 {
				t.Fatal("nothing can be fixed")
			}
			for _, f := range Check(t.Context(), w.opts) {
				if f.Topic == tc.topic && (f.Level == LevelWarn || f.Level == LevelFail) {
					t.Errorf("left: %+v", f)
				}
			}
		})
	}
	w := newWorld(t)
	in := New(Options{ClientDir: w.opts.ClientDir, Home: w.opts.Home, Exe: w.opts.Exe, GOOS: "linux"})
	_, err := in.Apply(t.Context(), Plan{Uninstall: true})
	must(w, err)
	for _, f := range Check(t.Context(), w.opts) {
		if f.Fix != nil {
			t.Errorf("fixable without an installation: %+v", f)
		}
	}
}
