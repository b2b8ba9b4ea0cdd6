package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/client/codex"
)

// codexSetup writes Codex's files and returns a function that runs init or uninstall as
// the app does.
func codexSetup(t *testing.T, files map[string]string) (dir string, run func(exe string, uninstall bool) error) {
	t.Helper()
	dir, home := filepath.Join(t.TempDir(), ".codex"), t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(exe string, uninstall bool) error {
		files := codex.Client().Setup.Files
		if uninstall {
			slices.Reverse(files)
		}
		for _, f := range files {
			in := New(Options{Client: codex.Client(), File: f, ClientDir: dir, Home: home, Exe: exe, GOOS: "linux"})
			if _, err := in.Apply(context.Background(), Plan{Uninstall: uninstall}); err != nil {
				return err
			}
		}
		return nil
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return "(missing)"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const annsConfig = "# Ann's\nmodel = \"gpt-5.5\"   # legacy\n\n[mcp_servers.other]\ncommand = \"x\"\n\n# the end\n"

// TestCodexUninstallIsExact: both files are what they were, also if Codex or the user
// changed config.toml in between.
func TestCodexUninstallIsExact(t *testing.T) {
	t.Parallel()
	const exe = "/opt/ann's/strandline"
	for name, c := range map[string]struct{ config, hooks string }{
		"no files":     {},
		"comments":     {config: annsConfig},
		"line ends":    {config: strings.ReplaceAll(annsConfig, "\n", "\r\n")},
		"no line end":  {config: strings.TrimSpace(annsConfig)},
		"empty":        {config: "\n", hooks: "{}\n"},
		"in a string":  {config: "note = '''\n[mcp_servers.strandline]\ncommand = 1\n'''\n"},
		"own hooks":    {config: annsConfig, hooks: `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}`},
		"arrays":       {config: "[[skills.config]]\npath = \"a\"\n[[skills.config]]\npath = \"b\"\n"},
		"comment last": {config: "[tui]\nx = 1\n\n# [mcp_servers.strandline]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			want := map[string]string{"config.toml": "(missing)", "hooks.json": "(missing)"}
			for file, text := range map[string]string{"config.toml": c.config, "hooks.json": c.hooks} {
				if text != "" {
					files[file], want[file] = text, text
				}
			}
			dir, run := codexSetup(t, files)
			config, hooks := filepath.Join(dir, "config.toml"), filepath.Join(dir, "hooks.json")
			check := func(when string, err error) {
				t.Helper()
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				for file, text := range want {
					if got := readText(t, filepath.Join(dir, file)); got != text {
						t.Errorf("%s: %s is\n%q, was\n%q", when, file, got, text)
					}
				}
			}
			if err := run(exe, false); err != nil {
				t.Fatal(err)
			}
			wired := readText(t, config)
			for text, in := range map[string]string{`command = "` + exe + `"`: wired, `hook --client codex"`: readText(t, hooks)} {
				if !strings.Contains(in, text) {
					t.Errorf("%q is not in\n%s", text, in)
				}
			}
			if err := run(exe, false); err != nil || readText(t, config) != wired {
				t.Errorf("a second init changed config.toml (%v)", err)
			}
			check("unchanged", run(exe, true))

			// Codex notes trusted hooks and approved tools, the user adds a table.
			if err := run(exe, false); err != nil {
				t.Fatal(err)
			}
			stop := "0:0"
			if name == "own hooks" {
				stop = "1:0"
			}
			eol := (&tomlText{src: []byte(wired)}).eol()
			text := readText(t, config) + strings.ReplaceAll(`
[mcp_servers.strandline.tools.search]
approval_mode = "approve"

[hooks.state]

[hooks.state."`+hooks+`:session_start:0:0"]
trusted_hash = "sha256:00"

[hooks.state."`+hooks+`:stop:`+stop+`"]
trusted_hash = "sha256:01"
`, "\n", eol)
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, all := (Options{Client: codex.Client(), ClientDir: dir, Exe: exe, GOOS: "linux"}).trusted(); got != 2 || all != 8 {
				t.Errorf("%d of %d hooks are trusted, want 2 of 8", got, all)
			}
			if name == "no line end" { // init added it
				want["config.toml"] += eol
			}
			check("after trust", run(exe, true))
		})
	}
}

// TestCodexKeepsTheUsersServer: a table under the same name, of a moved binary, of another
// program, or in a form that cannot be edited.
func TestCodexKeepsTheUsersServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after, err string }{
		"moved":    {"[mcp_servers.strandline]\ncommand = \"/old/strandline\" # mine\nenabled = false\n", "[mcp_servers.strandline]\ncommand = \"/new/strandline\" # mine\nenabled = false\n", ""},
		"by name":  {"[mcp_servers.strandline]\ncommand = 'strandline'\n", "[mcp_servers.strandline]\ncommand = 'strandline'\n", ""},
		"other's":  {"[mcp_servers.strandline]\ncommand = \"docker\"\n", "[mcp_servers.strandline]\ncommand = \"docker\"\n", ""},
		"inline":   {"mcp_servers = { x = { command = \"y\" } }\n", "", "config.toml cannot be changed"},
		"not TOML": {"a = \n", "", "config.toml cannot be changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, run := codexSetup(t, map[string]string{"config.toml": c.before})
			err := run("/new/strandline", false)
			if c.err != "" {
				c.after = c.before
			}
			if got := readText(t, filepath.Join(dir, "config.toml")); got != c.after {
				t.Errorf("config.toml is\n%s", got)
			}
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

// FuzzTOMLText: an edit changes no other value.
func FuzzTOMLText(f *testing.F) {
	f.Add([]byte(annsConfig))
	f.Add([]byte("a = '''\n[b]\n'''\n[b]\n[[c]]\n[c.d]\n[mcp_servers.strandline.x]\ny=1"))
	f.Fuzz(func(t *testing.T, src []byte) {
		o := Options{Client: codex.Client(), File: codex.Client().Setup.Files[1], ClientDir: "/c", Exe: "/x/strandline", GOOS: "linux"}
		doc := &tomlText{src: src}
		before := map[string]any{}
		if doc.decode(&before) != nil {
			return
		}
		had := member(before, "mcp_servers", program) != nil
		if _, err := o.putServer(doc); err != nil {
			return
		}
		var after map[string]any
		if err := doc.decode(&after); err != nil {
			t.Fatalf("init breaks the file: %v", err)
		}
		if _, err := o.dropServer(doc); err == nil && !had && strings.TrimSpace(string(doc.src)) != strings.TrimSpace(string(src)) {
			t.Errorf("%q became %q", src, doc.src)
		}
	})
}
