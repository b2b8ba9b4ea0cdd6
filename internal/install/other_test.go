package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/client"
	"strandline/internal/transcript"
)

// sample is a client with a file of each kind.
func sample() transcript.Client {
	return transcript.Client{Name: "sample", Title: "Sample", Setup: transcript.Setup{Files: []transcript.SetupFile{
		{
			Path: "settings.json", Milliseconds: true, Hooks: []transcript.Hook{{Event: "BeforeAgent", Timeout: 5}},
			Servers: "mcpServers", Server: `{"command": ` + transcript.Program + `, "args": ["mcp"]}`,
		},
		{Path: "plugins/strandline.ts", Whole: "// strandline\nconst program = " + transcript.Program + ";\n", Part: transcript.SetupPart{Name: "plugin"}},
	}}}
}

// sampleSetup writes files and returns a function that runs init or uninstall.
func sampleSetup(t *testing.T, files map[string]string) (o Options, run func(exe string, uninstall bool)) {
	t.Helper()
	return setupOf(t, sample(), files)
}

// setupOf is sampleSetup for a client.
func setupOf(t *testing.T, c transcript.Client, files map[string]string) (o Options, run func(exe string, uninstall bool)) {
	t.Helper()
	o = Options{Client: c, ClientDir: filepath.Join(t.TempDir(), ".sample"), Home: t.TempDir(), GOOS: "linux"}
	for name, text := range files {
		path := filepath.Join(o.ClientDir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return o, func(exe string, uninstall bool) {
		t.Helper()
		list := slices.Clone(o.Client.Setup.Files)
		if uninstall {
			slices.Reverse(list)
		}
		for _, f := range list {
			o := o
			o.File, o.Exe = f, exe
			if _, err := New(o).Apply(context.Background(), Plan{Uninstall: uninstall}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOtherClientUninstallIsExact: every file is what it was, comments included, and files
// and folders that init made are gone.
func TestOtherClientUninstallIsExact(t *testing.T) {
	t.Parallel()
	const exe = "/opt/ann's/strandline"
	for name, before := range map[string]map[string]string{
		"nothing":       {},
		"empty":         {"settings.json": "{}"},
		"comments":      {"settings.json": "{\n  // mine\n  \"theme\": \"x\", }\n"},
		"other servers": {"settings.json": `{"mcpServers": {"a": {"command": "b"}}, "hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "c"}]}]}}`},
		"own plugin":    {"plugins/strandline.ts": "// Ann's\n", "plugins/other.ts": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, run := sampleSetup(t, before)
			settings, plugin := filepath.Join(o.ClientDir, "settings.json"), filepath.Join(o.ClientDir, "plugins", "strandline.ts")
			run(exe, false)
			for path, want := range map[string]string{settings: `"timeout": 5000`, plugin: `const program = "` + exe + `"`} {
				if !strings.Contains(readText(t, path), want) {
					t.Errorf("%q is not in\n%s", want, readText(t, path))
				}
			}
			if !strings.Contains(readText(t, settings), `"command": "`+exe+`"`) && !strings.Contains(readText(t, settings), `"command":"`+exe+`"`) {
				t.Errorf("no MCP server in\n%s", readText(t, settings))
			}
			wired := readText(t, settings)
			run(exe, false)
			if got := readText(t, settings); got != wired {
				t.Errorf("a second init changed\n%s", got)
			}
			run("/new/strandline", false)
			if got := readText(t, settings); strings.Contains(got, exe) || !strings.Contains(got, "/new/strandline") {
				t.Errorf("the old path is in\n%s", got)
			}
			run("/new/strandline", true)
			for _, path := range []string{"settings.json", "plugins/strandline.ts", "plugins/other.ts"} {
				want, ok := before[path]
				if !ok {
					want = "(missing)"
				}
				if got := readText(t, filepath.Join(o.ClientDir, path)); got != want {
					t.Errorf("%s is\n%q, was\n%q", path, got, want)
				}
			}
			if _, err := os.Stat(filepath.Join(o.ClientDir, "plugins")); err == nil && name != "own plugin" {
				t.Error("the folder that init made is left")
			}
		})
	}
}

// TestOtherClientKeepsTheUsersServer: an entry of another program under the same name stays;
// in one that the user changed, only the path of a moved binary changes.
func TestOtherClientKeepsTheUsersServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"other's": {`{"mcpServers":{"strandline":{"command":"docker"}}}`, `{"command":"docker"}`},
		"moved":   {`{"mcpServers":{"strandline":{"command":"/old/strandline","trust":true}}}`, `{"command":"/new/strandline","trust":true}`},
		"by name": {`{"mcpServers":{"strandline":{"command":"strandline"}}}`, `{"command":"strandline"}`},
	} {
		o, run := sampleSetup(t, map[string]string{"settings.json": c[0]})
		run("/new/strandline", false)
		if got := readText(t, filepath.Join(o.ClientDir, "settings.json")); !strings.Contains(got, c[1]) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestCheckOther: what doctor says about a client that is not connected, is, and is not
// called any more.
func TestCheckOther(t *testing.T) {
	t.Parallel()
	o, run := sampleSetup(t, map[string]string{"settings.json": "{}"})
	check := func() string {
		c := checker{opts: CheckOptions{Exe: "/new/strandline", GOOS: "linux"}}
		o := o
		o.Exe = "/new/strandline"
		c.checkOther(context.Background(), o)
		var said []string
		for _, f := range c.findings {
			said = append(said, string(f.Level)+" "+f.Msg)
		}
		return strings.Join(said, "\n")
	}
	has := func(want string) {
		t.Helper()
		if got := check(); !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	has("info Sample is installed here and not connected")
	run("/new/strandline", false)
	has("ok Sample calls Strandline")
	if err := os.Remove(filepath.Join(o.ClientDir, "plugins", "strandline.ts")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.ClientDir, "settings.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	has("fail Sample does not call Strandline at BeforeAgent, ")
	has("info Sample has no MCP server")
}

// TestUninstallOfEveryClientIsExact: the files of every client that init knows are written, and
// restored byte for byte.
func TestUninstallOfEveryClientIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range transcript.Connectable(client.All()) {
		if c.Setup.Files[0].Main {
			continue
		}
		files := map[string]string{}
		for _, f := range c.Setup.Files {
			if f.Whole == "" && !isTOML(f.Path) {
				files[f.Path] = "{\n   \"mine\": [1,2]\n}\n"
			}
		}
		o, run := setupOf(t, c, files)
		run("/opt/strandline", false)
		for _, f := range c.Setup.Files {
			if text := readText(t, filepath.Join(o.ClientDir, f.Path)); !strings.Contains(text, "/opt/strandline") {
				t.Errorf("%s: %s does not call strandline:\n%s", c.Name, f.Path, text)
			}
		}
		run("/opt/strandline", true)
		for _, f := range c.Setup.Files {
			want, ok := files[f.Path]
			if !ok {
				want = "(missing)"
			}
			if got := readText(t, filepath.Join(o.ClientDir, f.Path)); got != want {
				t.Errorf("%s: %s is\n%q, was\n%q", c.Name, f.Path, got, want)
			}
		}
	}
}
