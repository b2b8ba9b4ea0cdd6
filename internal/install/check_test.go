package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// world is a system to check: a client, a project and a binary.
type world struct {
	t    *testing.T
	opts CheckOptions
	env  map[string]string
}

// newWorld returns a system with a correct installation.
func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{t: t, env: map[string]string{}, opts: CheckOptions{
		ClientDir: filepath.Join(base, "client"), ProjectDir: filepath.Join(base, "project"),
		Home: filepath.Join(base, "home"), Exe: filepath.Join(base, "bin", "strandline"),
		ManagedDir: filepath.Join(base, "managed"), Version: "1.2.3", GOOS: "linux",
	}}
	w.opts.Getenv = func(name string) string { return w.env[name] }
	w.program(w.opts.Exe)
	w.init(ScopeUser, w.opts.Exe)
	return w
}

func (w *world) file(text string, elements ...string) string {
	w.t.Helper()
	path := filepath.Join(elements...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) program(path string) {
	w.t.Helper()
	if runtime.GOOS == "windows" {
		w.t.Skip("the paths and modes are those of Unix")
	}
	if err := os.Chmod(w.file("#!/bin/sh\n", path), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) init(scope Scope, exe string) {
	w.t.Helper()
	in := New(Options{
		ClientDir: w.opts.ClientDir, ProjectDir: w.opts.ProjectDir, Home: w.opts.Home, Exe: exe, Scope: scope, GOOS: "linux",
	})
	if _, err := in.Apply(w.t.Context(), Plan{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) settings() string { return filepath.Join(w.opts.ClientDir, "settings.json") }

// edit replaces text in the user's settings.
func (w *world) edit(from, to string) {
	w.t.Helper()
	data, err := os.ReadFile(w.settings())
	if err != nil {
		w.t.Fatal(err)
	}
	if !strings.Contains(string(data), from) {
		w.t.Fatalf("%q is not in the settings", from)
	}
	w.file(strings.ReplaceAll(string(data), from, to), w.settings())
}

// add inserts a member at the start of the user's settings.
func (w *world) add(member string) {
	w.t.Helper()
	w.edit("{\n  \"hooks\"", "{\n  "+member+",\n  \"hooks\"")
}

func stopHook(command string) string {
	return `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + command + `","timeout":5}]}]}}`
}

func TestCheckFindsNothingWrong(t *testing.T) {
	w := newWorld(t)
	var topics []string
	for _, f := range Check(t.Context(), w.opts) {
		if f.Level != LevelOK && f.Level != LevelInfo {
			t.Errorf("%+v", f)
		}
		topics = append(topics, f.Topic)
	}
	if got, want := strings.Join(topics, " "), "hooks binary timeouts retention plugin home"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		name  string
		setup func(w *world)
		level Level
		topic string
		says  string
	}{
		{"no settings", func(w *world) { must(w, os.Remove(w.settings())) }, LevelFail, "hooks", "does not call Strandline"},
		{"empty settings", func(w *world) { w.file("", w.settings()) }, LevelFail, "hooks", "does not call Strandline"},
		{"settings that are a list", func(w *world) { w.file("[]", w.settings()) }, LevelFail, "hooks", "does not call Strandline"},
		{"two events are missing", func(w *world) { w.edit(`"Stop"`, `"A"`); w.edit(`"PreCompact"`, `"B"`) }, LevelFail, "hooks", "at Stop, PreCompact"},
		{"broken settings", func(w *world) { w.file("{", w.settings()) }, LevelFail, "settings", "is not valid JSON"},
		{"comments", func(w *world) { w.edit("{\n  \"hooks\"", "{ // c\n  \"hooks\"") }, LevelFail, "settings", "holds comments"},
		{"hooks of other types", func(w *world) { w.edit(`"Stop": [`, `"Stop": [1, {"hooks": [1, {"timeout": "x"}]}, {"hooks": 1},`) }, LevelOK, "hooks", "all 9 events"},

		{"hooks of an earlier version", func(w *world) { w.edit(",\n            \"async\": true", "") }, LevelInfo, "hooks", "waits at PostToolUse, Stop, StopFailure"},

		{"disabled by the user", func(w *world) { w.add(`"disableAllHooks": true`) }, LevelFail, "hooks", "disableAllHooks in "},
		{"disabled by the project", func(w *world) { w.file(`{"disableAllHooks":true}`, w.opts.ProjectDir, ".claude", "settings.json") }, LevelFail, "hooks", "disableAllHooks in "},
		{"disabled by the administrator", func(w *world) {
			w.file(`{"disableAllHooks":true}`, w.opts.ManagedDir, "managed-settings.json")
			w.file(`{"disableAllHooks":false}`, w.opts.ProjectDir, ".claude", "settings.local.json")
		}, LevelFail, "hooks", "disableAllHooks in "},
		{"only the administrator's hooks", func(w *world) {
			w.file(`{"allowManagedHooksOnly":true}`, w.opts.ManagedDir, "managed-settings.d", "10.json")
		}, LevelFail, "hooks", "allowManagedHooksOnly in "},
		{"a client without hooks", func(w *world) { w.env["CLAUDE_CODE_SIMPLE"] = "1" }, LevelWarn, "hooks", "CLAUDE_CODE_SIMPLE is set in the environment"},
		{"a client without transcripts", func(w *world) { w.add(`"env": {"CLAUDE_CODE_SKIP_PROMPT_HISTORY": 1}`) }, LevelWarn, "hooks", "CLAUDE_CODE_SKIP_PROMPT_HISTORY is set in "},

		{"the same binary in both scopes", func(w *world) { w.init(ScopeProject, w.opts.Exe) }, LevelInfo, "hooks", "installed twice with the same command"},
		{"another binary in the project", func(w *world) { w.init(ScopeProject, "/other/strandline") }, LevelWarn, "hooks", "Strandline runs twice"},
		{"another binary in local settings", func(w *world) {
			w.file(stopHook("/other/strandline hook"), w.opts.ProjectDir, ".claude", "settings.local.json")
		}, LevelWarn, "hooks", "Strandline runs twice"},
		{"a plugin with a hook", func(w *world) { w.plugin("strandline@x", "${CLAUDE_PLUGIN_ROOT}/strandline hook", true) }, LevelWarn, "hooks", "Strandline runs twice"},

		{"a plugin's own binary", func(w *world) { w.plugin("strandline@x", "\\\"${CLAUDE_PLUGIN_ROOT}/strandline\\\" hook", true) }, LevelFail, "binary", filepath.Join("cache", "strandline", "strandline") + ", which does not exist"},

		{"the binary is gone", func(w *world) { must(w, os.Remove(w.opts.Exe)) }, LevelFail, "binary", "which does not exist"},
		{"the binary cannot be executed", func(w *world) { must(w, os.Chmod(w.opts.Exe, 0o600)) }, LevelFail, "binary", "cannot be executed"},
		{"the binary is a folder", func(w *world) { must(w, os.Remove(w.opts.Exe)); must(w, os.Mkdir(w.opts.Exe, 0o700)) }, LevelFail, "binary", "cannot be executed"},
		{"another binary", func(w *world) { w.otherBinary() }, LevelInfo, "binary", "which is not this binary"},
		{"another binary of this version", func(w *world) { w.otherBinary(); w.versionOf("1.2.3", nil) }, LevelOK, "binary", "of the same version"},
		{"another binary of another version", func(w *world) { w.otherBinary(); w.versionOf("1.0.0", nil) }, LevelWarn, "binary", "version 1.0.0; this is version 1.2.3"},
		{"a binary that fails", func(w *world) { w.otherBinary(); w.versionOf("", errors.New("boom")) }, LevelFail, "binary", "does not print its version: boom"},
		{"by name, not found", func(w *world) {
			w.edit(w.opts.Exe+" hook", "strandline hook")
			w.opts.LookPath = func(string) (string, error) { return "", errors.New("no") }
		}, LevelFail, "binary", "which is not in PATH"},
		{"by name, found", func(w *world) {
			w.edit(w.opts.Exe+" hook", "strandline hook")
			w.opts.LookPath = func(string) (string, error) { return w.opts.Exe, nil }
		}, LevelOK, "binary", "call this binary"},

		{"Strandline's timeout in milliseconds", func(w *world) { w.edit(`"timeout": 6`, `"timeout": 6000`) }, LevelWarn, "timeouts", "timeout of 6000 seconds"},
		{"another tool's timeout in milliseconds", func(w *world) {
			w.file(`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"node x.js","timeout":5000}]}]}}`, w.opts.ProjectDir, ".claude", "settings.json")
		}, LevelWarn, "timeouts", `the PreToolUse hook "node x.js" in `},

		{"default retention", func(*world) {}, LevelInfo, "retention", "after 30 days, its default"},
		{"retention set", func(w *world) { w.add(`"cleanupPeriodDays": 365`) }, LevelInfo, "retention", "after 365 days (cleanupPeriodDays in "},
		{"the project's retention counts", func(w *world) {
			w.add(`"cleanupPeriodDays": 365`)
			w.file(`{"cleanupPeriodDays":7}`, w.opts.ProjectDir, ".claude", "settings.json")
		}, LevelInfo, "retention", "after 7 days"},
		{"no retention", func(w *world) { w.add(`"cleanupPeriodDays": 0`) }, LevelFail, "retention", "cleanupPeriodDays is 0"},

		{"another memory tool's hooks", func(w *world) {
			w.file(stopHook("npx claude-flow@alpha hooks session-end"), w.opts.ProjectDir, ".claude", "settings.json")
		}, LevelInfo, "neighbours", "claude-flow has hooks too (Stop)"},
		{"the hooks of an earlier framework", func(w *world) {
			w.file(stopHook("uv run ~/.claude/hooks/auto_context_manager.py"), w.opts.ProjectDir, ".claude", "settings.json")
		}, LevelInfo, "neighbours", "claude-agentic-framework has hooks too (Stop)"},
		{"the hooks of an earlier service", func(w *world) {
			w.file(stopHook("bash /opt/context-manager/hooks/track-session-end.sh"), w.opts.ProjectDir, ".claude", "settings.json")
		}, LevelInfo, "neighbours", "claude-dcm has hooks too (Stop)"},
		{"another memory tool's plugin", func(w *world) { w.plugin("claude-mem@x", "node worker.js", true) }, LevelInfo, "neighbours", "claude-mem has hooks too (Stop)"},

		{"no folder yet", func(w *world) { must(w, os.RemoveAll(w.opts.Home)) }, LevelInfo, "home", "does not exist yet"},
		{"a file instead of the folder", func(w *world) { must(w, os.RemoveAll(w.opts.Home)); w.file("", w.opts.Home) }, LevelFail, "home", "is not a folder"},
		{"the folder is not private", func(w *world) { must(w, os.Chmod(w.opts.Home, 0o755)) }, LevelWarn, "home", "others can read "},
		{"two files are not private", func(w *world) {
			must(w, os.Chmod(w.file("x", w.opts.Home, "a"), 0o644))
			must(w, os.Chmod(w.file("x", w.opts.Home, "log", "b"), 0o640))
		}, LevelWarn, "home", " and 1 more"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			tc.setup(w)
			findings := Check(t.Context(), w.opts)
			for _, f := range findings {
				if f.Level == tc.level && f.Topic == tc.topic && strings.Contains(f.Msg, tc.says) {
					if f.Hint == "" && (f.Level == LevelWarn || f.Level == LevelFail) {
						t.Errorf("no hint: %+v", f)
					}
					return
				}
			}
			t.Errorf("no %s about %s with %q in %s", tc.level, tc.topic, tc.says, list(findings))
		})
	}
}

// TestCheckIsSilent has settings that are not reported.
func TestCheckIsSilent(t *testing.T) {
	for _, tc := range []struct {
		name  string
		setup func(w *world)
		not   string
	}{
		{"the user's switch is overridden", func(w *world) {
			w.add(`"disableAllHooks": true`)
			w.file(`{"disableAllHooks":false}`, w.opts.ProjectDir, ".claude", "settings.local.json")
		}, "disableAllHooks"},
		{"a plugin that is off", func(w *world) { w.plugin("strandline@x", "/x/strandline hook", false) }, "twice"},
		{"the project is the user's home", func(w *world) {
			w.opts.ProjectDir = filepath.Dir(w.opts.ClientDir)
			must(w, os.Rename(w.opts.ClientDir, filepath.Join(w.opts.ProjectDir, ".claude")))
			w.opts.ClientDir = filepath.Join(w.opts.ProjectDir, ".claude")
		}, "twice"},
		{"hooks with different matchers", func(w *world) {
			w.edit(`"SessionStart": [
      {`, `"SessionStart": [
      {"matcher": "compact", "hooks": [{"type": "command", "command": "`+w.opts.Exe+` hook"}]},
      {
        "matcher": "startup",`)
		}, "twice"},
		{"a variable that is off", func(w *world) { w.env["CLAUDE_CODE_SIMPLE"] = "0" }, "CLAUDE_CODE_SIMPLE"},
		{"an administrator's switch in user settings", func(w *world) { w.add(`"allowManagedHooksOnly": true`) }, "allowManagedHooksOnly"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			tc.setup(w)
			findings := Check(t.Context(), w.opts)
			if strings.Contains(list(findings), tc.not) {
				t.Errorf("reported: %s", list(findings))
			}
			if !strings.Contains(list(findings), "all 9 events") {
				t.Errorf("not wired: %s", list(findings))
			}
		})
	}
}

// TestCheckInvalidFiles: every file has an unexpected content.
func TestCheckInvalidFiles(t *testing.T) {
	w := newWorld(t)
	w.file(`{"plugins":{"a@b":1}}`, w.opts.ClientDir, "plugins", "installed_plugins.json")
	w.file(`{"hooks":[],"enabledPlugins":[]}`, w.opts.ProjectDir, ".claude", "settings.local.json")
	w.file(`nonsense`, w.opts.ManagedDir, "managed-settings.d", "x.json")
	if err := os.MkdirAll(filepath.Join(w.opts.ManagedDir, "managed-settings.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := list(Check(t.Context(), w.opts)); !strings.Contains(got, "all 9 events") {
		t.Errorf("got %s", got)
	}
	if got := Check(t.Context(), CheckOptions{}); len(got) == 0 {
		t.Error("a check without paths reports nothing")
	}
}

func TestManagedDir(t *testing.T) {
	for goos, want := range map[string]string{
		"linux": "/etc/claude-code", "darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`,
	} {
		if got := managedDir(goos); got != want {
			t.Errorf("%s: got %s", goos, got)
		}
	}
}

// plugin installs a plugin with a Stop hook.
func (w *world) plugin(id, command string, on bool) {
	w.t.Helper()
	name, _, _ := strings.Cut(id, "@")
	at := filepath.Join(w.opts.ClientDir, "plugins", "cache", name)
	w.file(stopHook(command), at, "hooks", "hooks.json")
	w.file(fmt.Sprintf(`{"version":2,"plugins":{%q:[{"scope":"user","installPath":%q}]}}`, id, at), w.opts.ClientDir, "plugins", "installed_plugins.json")
	w.add(fmt.Sprintf(`"enabledPlugins": {%q: %v}`, id, on))
}

func (w *world) otherBinary() {
	w.t.Helper()
	other := filepath.Join(filepath.Dir(w.opts.Home), "other", "strandline")
	w.program(other)
	w.edit(w.opts.Exe, other)
}

func (w *world) versionOf(version string, err error) {
	w.opts.VersionOf = func(context.Context, string) (string, error) { return version, err }
}

func must(w *world, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func list(findings []Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "\n%s %s: %s", f.Level, f.Topic, f.Msg)
	}
	return b.String()
}
