package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// world holds the sources of settings.
type world struct {
	env, flags, files map[string]string
}

func (w world) inputs() config.Inputs {
	return config.Inputs{
		Env:   func(name string) string { return w.env[name] },
		Home:  "/home/me",
		Cwd:   "/work/project",
		Flags: w.flags,
		OS:    "linux",
		ReadFile: func(path string) ([]byte, error) {
			if text, ok := w.files[filepath.ToSlash(path)]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
	}
}

const (
	userFile    = "/home/me/.config/strandline/config.toml"
	projectFile = "/work/project/.strandline.toml"
)

func TestDefaults(t *testing.T) {
	c, err := config.Load(world{}.inputs())
	if err != nil || len(c.Problems()) != 0 {
		t.Fatal(err, c.Problems())
	}
	if c.Restore != (config.Restore{Budget: 9500, OnClear: "pointer", OnStartup: "pointer", Learn: "names"}) ||
		c.Compaction != (config.Compaction{InstructionBudget: 9500, BlockAuto: "never"}) ||
		c.Hook != (config.Hook{Deadline: time.Second, PostToolInterval: 10 * time.Second}) ||
		c.Autopilot != (config.Autopilot{Enabled: true, Report: "change", Warn: 0.7, Prune: 0.85}) ||
		!c.Capture.Enabled || !c.Redact.Enabled || c.Search.Limit != 10 {
		t.Errorf("%+v", c)
	}
	for _, e := range c.Entries() {
		if e.Source != "default" || e.Value == "" || e.Note == "" {
			t.Errorf("entry %+v", e)
		}
	}
}

func TestPrecedence(t *testing.T) {
	w := world{
		flags: map[string]string{"restore.budget": "1"},
		env:   map[string]string{"STRANDLINE_RESTORE_BUDGET": "2", "CLAUDE_FLOW_COMPACT_RESTORE_BUDGET": "3"},
		files: map[string]string{projectFile: "[restore]\nbudget = 4", userFile: "[restore]\nbudget = 5"},
	}
	steps := []struct {
		want   int
		source string
		drop   func()
	}{
		{1, "flag", func() { w.flags = nil }},
		{2, "env STRANDLINE_RESTORE_BUDGET", func() { delete(w.env, "STRANDLINE_RESTORE_BUDGET") }},
		{3, "env CLAUDE_FLOW_COMPACT_RESTORE_BUDGET", func() { w.env = nil }},
		{4, projectFile, func() { delete(w.files, projectFile) }},
		{5, userFile, func() { w.files = nil }},
		{9500, "default", func() {}},
	}
	for _, step := range steps {
		c, err := config.Load(w.inputs())
		if err != nil {
			t.Fatal(err)
		}
		if e := c.Entries()[0]; c.Restore.Budget != step.want || filepath.ToSlash(e.Source) != step.source {
			t.Errorf("budget %d from %q, want %d from %q", c.Restore.Budget, e.Source, step.want, step.source)
		}
		step.drop()
	}
}

func TestNamesOfOlderSystems(t *testing.T) {
	tests := []struct {
		name, value string
		got         func(*config.Config) any
		want        any
	}{
		{"CLAUDE_FLOW_COMPACT_RESTORE_BUDGET", "4000", func(c *config.Config) any { return c.Restore.Budget }, 4000},
		{"CLAUDE_FLOW_COMPACT_INSTRUCTION_BUDGET", "2000", func(c *config.Config) any { return c.Compaction.InstructionBudget }, 2000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Load(world{env: map[string]string{tt.name: tt.value}}.inputs())
			if err != nil || tt.got(c) != tt.want {
				t.Errorf("%v, %v, want %v", tt.got(c), err, tt.want)
			}
		})
	}
}

func TestInvalidValues(t *testing.T) {
	tests := []struct {
		name string
		w    world
		want []string // in the message
	}{
		{"not a number", world{env: map[string]string{"STRANDLINE_RESTORE_BUDGET": "lots"}},
			[]string{"restore.budget", `"lots"`, "STRANDLINE_RESTORE_BUDGET", "from 0 to 10000"}},
		{"above the client's limit", world{flags: map[string]string{"restore.budget": "10001"}},
			[]string{"restore.budget", "flag", "10000"}},
		{"a fraction", world{files: map[string]string{userFile: "[search]\nlimit = 2.5"}}, []string{"search.limit", `"2.5"`, "whole number"}},
		{"an unknown mode", world{files: map[string]string{userFile: "[restore]\non_clear = 'all'"}},
			[]string{"restore.on_clear", `"all"`, "config.toml", "pointer, block or off"}},
		{"a list", world{files: map[string]string{userFile: "[restore]\non_clear = ['off']"}}, []string{"restore.on_clear"}},
		{"an invalid duration", world{env: map[string]string{"STRANDLINE_HOOK_DEADLINE": "1"}}, []string{"hook.deadline", "50ms to 5s"}},
		{"neither true nor false", world{env: map[string]string{"STRANDLINE_CAPTURE_ENABLED": "maybe"}}, []string{"capture.enabled", "true or false"}},
		{"invalid TOML", world{files: map[string]string{userFile: "[restore\n"}}, []string{userFile}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.Load(tt.w.inputs())
			if archive.ErrorCode(err) != archive.CodeInvalid || archive.ErrorHint(err) == "" {
				t.Fatalf("error %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(filepath.ToSlash(err.Error()), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if len(c.Problems()) != 1 {
				t.Errorf("problems %+v", c.Problems())
			}
			if def, _ := config.Load(world{}.inputs()); c.Restore != def.Restore || c.Hook != def.Hook || c.Capture != def.Capture {
				t.Errorf("the defaults are not in force: %+v", c)
			}
		})
	}
	w := world{env: map[string]string{"STRANDLINE_RESTORE_BUDGET": "x"}, files: map[string]string{userFile: "[restore]\nbudget = 77"}}
	if c, err := config.Load(w.inputs()); err == nil || c.Restore.Budget != 77 {
		t.Errorf("budget %d, %v: the file's value should be in force", c.Restore.Budget, err)
	}
}

// TestRemovedLearningRule checks that a removed value of restore.learn is still
// accepted and turns learning off.
func TestRemovedLearningRule(t *testing.T) {
	c, err := config.Load(world{env: map[string]string{"STRANDLINE_RESTORE_LEARN": "confidence"}}.inputs())
	if err != nil || len(c.Problems()) != 0 || c.Restore.Learn != config.LearnOff {
		t.Errorf("%q, %v, %v", c.Restore.Learn, err, c.Problems())
	}
}

// TestProjectRights covers every key. A project's file comes with a cloned repository.
func TestProjectRights(t *testing.T) {
	tests := []struct {
		key, value string
		ok         bool
	}{
		{"restore.budget", "100", true},
		{"restore.on_clear", "'off'", true},
		{"restore.on_startup", "'block'", true},
		{"restore.learn", "'off'", true},
		{"restore.learn", "'confidence'", true},
		{"compaction.instruction_budget", "100", true},
		{"compaction.block_auto", "'headroom'", false},
		{"autopilot.enabled", "false", true},
		{"autopilot.enabled", "true", false},
		{"autopilot.report", "'always'", true},
		{"autopilot.warn", "0.5", true},
		{"autopilot.prune", "0.9", true},
		{"autopilot.window", "150000", true},
		{"autopilot.compact_early", "0.8", true},
		{"statusline.template", "'{percent}'", false},
		{"statusline.ascii", "true", false},
		{"segments.disabled", "true", true},
		{"segments.force_check", "true", false},
		{"segments.queue_at", "50", true},
		{"segments.summarise_at", "60", true},
		{"segments.archive_at", "90", true},
		{"segments.every", "5", true},
		{"segments.cold_after", "30", true},
		{"segments.messages", "9", true},
		{"segments.archive_after", "90", true},
		{"segments.keep", "'24h'", true},
		{"recall.unasked", "false", true},
		{"recall.unasked", "true", false},
		{"search.limit", "5", true},
		{"capture.enabled", "false", true},
		{"capture.enabled", "true", false},
		{"redact.enabled", "false", false},
		{"hook.deadline", "'5s'", false},
		{"lifecycle.auto", "false", false},
		{"lifecycle.decay", "1", false},
		{"retention.days", "1", false},
		{"retention.max_bytes", "'1MB'", false},
		{"retention.delete", "true", false},
		{"embed.model", "'http'", false},
		{"embed.url", "'https://example.org/v1'", false},
		{"embed.endpoint_model", "'m'", false},
		{"embed.helper", "'/tmp/x'", false},
		{"embed.library", "'/tmp/x.so'", false},
		{"embed.wait", "'1m'", false},
		{"hook.post_tool_interval", "'1h'", false},
		{"gateway.prune_at", "1", false},
		{"gateway.prune_keep", "0", false},
		{"gateway.prune_chars", "0", false},
		{"gateway.prune_text", "true", false},
		{"gateway.compact", "false", false},
		{"gateway.active", "true", false},
		{"postgres.url", "'postgres://h/d'", false},
		{"postgres.host", "'h'", false},
		{"postgres.port", "1", false},
		{"postgres.database", "'d'", false},
		{"postgres.user", "'u'", false},
		{"postgres.ssl", "'disable'", false},
		{"postgres.schema", "'s'", false},
		{"postgres.author", "'somebody else'", false},
		{"postgres.read", "true", false},
		{"postgres.auto", "true", false},
	}
	seen := map[string]bool{}
	for _, tt := range tests {
		seen[tt.key] = true
		t.Run(tt.key+"="+tt.value, func(t *testing.T) {
			c, err := config.Load(world{files: map[string]string{projectFile: tt.key + " = " + tt.value}}.inputs())
			if err != nil {
				t.Errorf("a project's file fails the command: %v", err)
			}
			for _, e := range c.Entries() {
				if e.Key != tt.key {
					continue
				}
				if (filepath.ToSlash(e.Source) == projectFile) != tt.ok || (len(c.Problems()) == 0) != tt.ok {
					t.Errorf("%+v, problems %+v", e, c.Problems())
				}
			}
		})
	}
	c, _ := config.Load(world{}.inputs())
	for _, e := range c.Entries() {
		if !seen[e.Key] {
			t.Errorf("no case for %s", e.Key)
		}
	}
}

func TestProjectCannotChangePathsOrFailCommands(t *testing.T) {
	plain, _ := config.Load(world{}.inputs())
	for _, text := range []string{"home = '/tmp/x'", "[paths]\nhome = '/tmp/x'", "client_dir = '/x'", "not toml [", "[restore]\nbudget = -1", "STRANDLINE_HOME = 'x'"} {
		c, err := config.Load(world{files: map[string]string{projectFile: text}}.inputs())
		if err != nil || c.Paths != plain.Paths || c.Restore != plain.Restore {
			t.Errorf("%q: %v, %+v", text, err, c)
		}
		if p := c.Problems(); len(p) != 1 || !p[0].Warning {
			t.Errorf("%q: problems %+v", text, p)
		}
	}
}

func TestUnknownKeysAreWarnings(t *testing.T) {
	c, err := config.Load(world{files: map[string]string{userFile: "[restore]\nbugdet = 1\nbudget = 2"}}.inputs())
	if err != nil || c.Restore.Budget != 2 || len(c.Problems()) != 1 || !strings.Contains(c.Problems()[0].Msg, "restore.bugdet") {
		t.Errorf("%v, %+v", err, c.Problems())
	}
}

func TestOnlySmallRegularFilesAreRead(t *testing.T) {
	load := func(t *testing.T, create func(path string) error) *config.Config {
		dir := t.TempDir()
		if err := create(filepath.Join(dir, config.ProjectFile)); err != nil {
			t.Skip("cannot create it:", err)
		}
		c, err := config.Load(config.Inputs{Home: filepath.Join(dir, "home"), Cwd: dir})
		if err != nil {
			t.Error(err)
		}
		return c
	}
	tests := []struct {
		name string
		make func(path string) error
		ok   bool
	}{
		{"a file", func(p string) error { return os.WriteFile(p, []byte("[restore]\nbudget = 5"), 0o600) }, true},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, false},
		{"a device", func(p string) error { return os.Symlink(os.DevNull, p) }, false},
		{"a link to itself", func(p string) error { return os.Symlink(p, p) }, false},
		{"a huge file", func(p string) error { return os.WriteFile(p, make([]byte, config.MaxFile+1), 0o600) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, tt.make)
			if (c.Restore.Budget == 5) != tt.ok || (len(c.Problems()) == 0) != tt.ok {
				t.Errorf("budget %d, problems %+v", c.Restore.Budget, c.Problems())
			}
		})
	}
}

func TestPaths(t *testing.T) {
	tests := []struct {
		name, os     string
		env          map[string]string
		home, config string
		client       string
	}{
		{"plain", "linux", nil, "/home/me/.local/share/strandline", "/home/me/.config/strandline", "/home/me/.claude"},
		{"mac", "darwin", nil, "/home/me/.local/share/strandline", "/home/me/.config/strandline", "/home/me/.claude"},
		{"windows", "windows", nil, "/home/me/AppData/Local/strandline", "/home/me/AppData/Roaming/strandline", "/home/me/.claude"},
		{"windows folders", "windows", map[string]string{"LocalAppData": abs("/l"), "AppData": abs("/r")}, "/l/strandline", "/r/strandline", "/home/me/.claude"},
		{"XDG", "linux", map[string]string{"XDG_DATA_HOME": abs("/d"), "XDG_CONFIG_HOME": abs("/c")}, "/d/strandline", "/c/strandline", "/home/me/.claude"},
		{"relative XDG is ignored", "linux", map[string]string{"XDG_DATA_HOME": "d"}, "/home/me/.local/share/strandline", "/home/me/.config/strandline", "/home/me/.claude"},
		{"own", "linux", map[string]string{"STRANDLINE_HOME": abs("/s/"), "CLAUDE_CONFIG_DIR": abs("/k")}, "/s", "/home/me/.config/strandline", "/k"},
		{"tilde", "linux", map[string]string{"STRANDLINE_HOME": "~/s"}, "/home/me/s", "/home/me/.config/strandline", "/home/me/.claude"},
		{"relative", "linux", map[string]string{"STRANDLINE_HOME": "s"}, "/home/me/s", "/home/me/.config/strandline", "/home/me/.claude"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := world{env: tt.env}.inputs()
			in.OS = tt.os
			c, err := config.Load(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []struct{ got, want string }{{c.Home, tt.home}, {c.ConfigDir, tt.config}, {c.ClientDir, tt.client}} {
				if got := strings.TrimPrefix(filepath.ToSlash(p.got), filepath.VolumeName(p.got)); got != p.want {
					t.Errorf("got %q, want %q", got, p.want)
				}
			}
		})
	}
}

// abs makes a path absolute on this system.
func abs(path string) string {
	p, _ := filepath.Abs(path)
	return p
}

func TestWithoutHomeFolder(t *testing.T) {
	c, err := config.Load(config.Inputs{})
	if err == nil || c == nil || c.Home != "" || c.Restore.Budget != 9500 {
		t.Errorf("%v, %+v", err, c)
	}
	c, err = config.Load(config.Inputs{Env: func(name string) string {
		return map[string]string{"STRANDLINE_HOME": abs("/s")}[name]
	}})
	if err != nil || c.Home != abs("/s") {
		t.Errorf("%v, %+v", err, c.Paths)
	}
}

func BenchmarkLoadWithoutFiles(b *testing.B) {
	dir := b.TempDir()
	in := config.Inputs{Env: os.Getenv, Home: dir, Cwd: dir}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := config.Load(in); err != nil {
			b.Fatal(err)
		}
	}
}

func TestBlockAuto(t *testing.T) {
	for value, want := range map[string]config.Block{"headroom": "headroom", "ALWAYS": "always", "never": "never", "sometimes": "never", "": "never"} {
		c, err := config.Load(world{files: map[string]string{userFile: "[compaction]\nblock_auto = \"" + value + "\""}}.inputs())
		if c.Compaction.BlockAuto != want || (err != nil) != (value == "sometimes") {
			t.Errorf("%q: %q, %v", value, c.Compaction.BlockAuto, err)
		}
	}
}

// `strandline config` would print a password.
func TestAddressWithPasswordIsRejected(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"postgres://ann@db.example.org/archive":      true,
		"postgres://ann@[::1]:5432/archive":          true,
		"postgres://db.example.org:5432/archive":     true,
		"host=/run/pg user=ann dbname=archive":       true,
		"postgres://ann:geheim@db.example.org/x":     false,
		"postgres://ann:geheim@db.example.org:5432/": false,
		"host=/run/pg password=geheim":               false,
	} {
		env := map[string]string{"STRANDLINE_POSTGRES_URL": value}
		c, err := config.Load(config.Inputs{Env: func(name string) string { return env[name] }, Home: t.TempDir()})
		if (c.Postgres.URL == value) != want || (err == nil) != want {
			t.Errorf("%q: %q, %v", value, c.Postgres.URL, err)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("the error has the password: %v", err)
		}
	}
}

// The systems that had these variables took any number.
func TestOlderVariablesAreClamped(t *testing.T) {
	t.Parallel()
	env := map[string]string{"CLAUDE_FLOW_AUTOPILOT_WARN": "70", "CLAUDE_FLOW_COMPACT_RESTORE_BUDGET": "-5", "STRANDLINE_AUTOPILOT_PRUNE": "0.9"}
	c, err := config.Load(config.Inputs{Env: func(name string) string { return env[name] }, Home: t.TempDir()})
	if err != nil || c.Autopilot.Warn != 1 || c.Restore.Budget != 0 || c.Autopilot.Prune != 0.9 || len(c.Problems()) != 2 {
		t.Errorf("%+v, %v, %v", c.Autopilot, c.Problems(), err)
	}
	env["STRANDLINE_AUTOPILOT_PRUNE"] = "90"
	if _, err = config.Load(config.Inputs{Env: func(name string) string { return env[name] }, Home: t.TempDir()}); err == nil {
		t.Error("a value out of range is taken")
	}
}

func TestSSLModes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"true": "require", "false": "disable", "Verify-Full": "verify-full", "maybe": ""} {
		env := map[string]string{"RUVECTOR_SSL": value}
		c, err := config.Load(config.Inputs{Env: func(name string) string { return env[name] }, Home: t.TempDir()})
		if c.Postgres.SSL != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", value, c.Postgres.SSL, err)
		}
	}
}
