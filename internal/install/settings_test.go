package install

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update the golden files")

const (
	exe    = "/opt/strandline/bin/strandline"
	oldExe = "/home/ann/go/bin/strandline"
)

// place holds empty folders of a client and of Strandline.
type place struct {
	t        *testing.T
	opts     Options
	settings string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base := t.TempDir()
	p := &place{t: t, opts: Options{
		ClientDir: filepath.Join(base, "client"), Home: filepath.Join(base, "home"), Exe: exe, GOOS: "linux",
	}}
	p.settings = filepath.Join(p.opts.ClientDir, "settings.json")
	return p
}

func (p *place) write(text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.settings), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.settings, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the settings; false if there is no file.
func (p *place) read() (string, bool) {
	p.t.Helper()
	data, err := os.ReadFile(p.settings)
	if os.IsNotExist(err) {
		return "", false
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data), true
}

func (p *place) init() Plan {
	p.t.Helper()
	in := New(p.opts)
	plan, err := in.Plan()
	if err != nil {
		p.t.Fatal(err)
	}
	done, err := in.Apply(p.t.Context(), plan)
	if err != nil {
		p.t.Fatal(err)
	}
	if !bytes.Equal(done.After, plan.After) {
		p.t.Fatal("Apply differs from the plan")
	}
	return done
}

func (p *place) uninstall() Plan {
	p.t.Helper()
	done, err := New(p.opts).Apply(p.t.Context(), Plan{Uninstall: true})
	if err != nil {
		p.t.Fatal(err)
	}
	return done
}

// ours returns a hook as an earlier init wrote it.
func ours(exe string) string {
	return `{"type":"command","command":"` + exe + ` hook","timeout":5}`
}

const foreign = `{"type":"command","command":"notify-send done","timeout":10}`

// variants are typical settings. "left" is the result of an uninstall if the settings
// had Strandline's entries before the first init.
func variants() []struct{ name, before, left string } {
	return []struct{ name, before, left string }{
		{"empty", "", ""},
		{"blank", "\n\n", ""},
		{"object", "{}", ""},
		{"object-with-line-end", "{}\n", ""},
		{"open-object", "{\n}\n", ""},
		{"two-spaces", "{\n  \"model\": \"opus\"\n}\n", ""},
		{"four-spaces", "{\n    \"model\": \"opus\",\n    \"env\": {\n        \"A\": \"1\"\n    }\n}", ""},
		{"tabs", "{\n\t\"model\": \"opus\",\n\t\"env\": {\n\t\t\"A\": \"1\"\n\t}\n}\n", ""},
		{"no-indentation", "{\n\"model\": \"opus\"\n}\n", ""},
		{"crlf", "{\r\n  \"model\": \"opus\"\r\n}\r\n", ""},
		{"byte-order-mark", "\ufeff{\n  \"model\": \"opus\"\n}\n", ""},
		{"byte-order-mark-alone", "\ufeff", ""},
		{"unicode", "{\n  \"größe\": \"日本 🌊 \\u00e9 <&>\"\n}\n", ""},
		{"minified", `{"model":"opus","env":{"A":"1"}}`, ""},
		{"one-line", `{ "model": "opus" }` + "\n", ""},
		{"closing-brace-in-line", "{\n  \"model\": \"opus\" }\n", ""},
		{"trailing-blanks", "{  \n  \"model\": \"opus\"\t  \n}  \n", ""},
		{"hooks-empty", "{\n  \"hooks\": {},\n  \"model\": \"opus\"\n}\n", ""},
		{"hooks-open", "{\n  \"hooks\": {\n  },\n  \"model\": \"opus\"\n}\n", ""},
		{"event-empty", "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"PreToolUse\": []\n  }\n}\n", ""},
		{"foreign-hooks", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          " + foreign + "\n        ]\n      }\n    ]\n  },\n  \"model\": \"opus\"\n}\n", ""},
		{"foreign-hooks-in-line", "{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [" + foreign + "]}]\n  }\n}\n", ""},
		{"foreign-hooks-hugging", "{\n  \"hooks\": {\n    \"Stop\": [{\n      \"hooks\": [{\n        \"type\": \"command\",\n        \"command\": \"x\"\n      }]\n    }]\n  }\n}\n", ""},
		{"foreign-hooks-minified", `{"hooks":{"Stop":[{"hooks":[` + foreign + `]}]},"model":"opus"}`, ""},
		{"nested-matchers", "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\n        \"matcher\": \"Edit|Write\",\n        \"hooks\": [\n          " + foreign + ",\n          " + foreign + "\n        ]\n      },\n      {\n        \"matcher\": \"*\",\n        \"hooks\": []\n      }\n    ]\n  }\n}\n", ""},
		{"unexpected-types", "{\n  \"hooks\": {\n    \"Stop\": [null, 1, {}, {\"hooks\": null}, {\"hooks\": [null, {\"command\": 1}]}]\n  }\n}\n", ""},
		{"duplicate-key", "{\n  \"hooks\": {\"Stop\": []},\n  \"hooks\": {}\n}\n", ""},
		{"duplicate-key-with-hooks", "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [" + foreign + "]}]},\n  \"hooks\": {}\n}\n", ""},
		{"lookalikes", "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"echo strandline hook\"},{\"type\":\"command\",\"command\":\"strandline-notify hook\"},{\"type\":\"command\",\"command\":\"x; strandline hook\"},{\"type\":\"command\",\"command\":\"strandline status\"}]}]}}", ""},
		{
			"our-old-path",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          " + ours(oldExe) + "\n        ]\n      }\n    ]\n  }\n}\n",
			"{}\n",
		},
		{
			"our-old-path-twice-beside-foreign",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          " + ours(oldExe) + ",\n          " + foreign + "\n        ]\n      },\n      {\n        \"hooks\": [\n          " + ours(exe) + "\n        ]\n      }\n    ]\n  }\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          " + foreign + "\n        ]\n      }\n    ]\n  }\n}\n",
		},
		{
			"ours-edited-by-hand",
			"{\n  \"hooks\": {\n    \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"STRANDLINE_HOME=/data '" + oldExe + "' hook || true\", \"timeout\": 20}]}],\n    \"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"strandline hook\", \"timeout\": 5000}]}]\n  }\n}\n",
			"{}\n",
		},
		{
			"user-statusline",
			"{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"~/bin/line 'a b' \\\"$(date)\\\" | head -1\",\n    \"padding\": 0\n  },\n  \"model\": \"opus\"\n}\n", "",
		},
		{
			"user-statusline-escaped",
			"{\"statusLine\": {\"command\": \"\\u007e/bin/l\\u00efne \\/x\", \"type\": \"command\"}}\n", "",
		},
		{
			"ours-split-by-matcher",
			"{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"matcher\": \"startup\", \"hooks\": [" + ours(exe) + "]},\n      {\"matcher\": \"compact\", \"hooks\": [" + ours(exe) + "]}\n    ]\n  }\n}\n",
			"{}\n",
		},
	}
}

// TestSettings runs init, a second init and uninstall on every variant.
func TestSettings(t *testing.T) {
	for _, tc := range variants() {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(tc.before)
			p.init()
			after, _ := p.read()
			golden(t, tc.name, after)
			wantInstalled(t, after)

			manifest, err := os.ReadFile(manifestPath(p.opts.Home))
			if err != nil {
				t.Fatal(err)
			}
			if again := p.init(); again.Changed() || again.Diff() != "" {
				t.Errorf("a second init changes something:\n%s", again.Diff())
			}
			if now, _ := p.read(); now != after {
				t.Errorf("a second init wrote:\n%s", now)
			}
			if now, err := os.ReadFile(manifestPath(p.opts.Home)); err != nil || !bytes.Equal(now, manifest) {
				t.Errorf("a second init wrote another manifest: %v", err)
			}

			p.uninstall()
			want := tc.before
			if tc.left != "" {
				want = tc.left
			}
			if got, ok := p.read(); !ok || got != want {
				t.Errorf("after uninstall:\n%q\nwant:\n%q", got, want)
			}
		})
	}
}

// TestSettingsWithoutManifest runs uninstall without a manifest. It restores the
// values, and every byte except in containers that become empty.
func TestSettingsWithoutManifest(t *testing.T) {
	exceptions := map[string]string{
		"empty":                   "{}\n",
		"blank":                   "{}\n",
		"open-object":             "{}\n",
		"byte-order-mark-alone":   "\ufeff{}\n",
		"closing-brace-in-line":   "{\n  \"model\": \"opus\"\n  }\n",
		"hooks-empty":             "{\n  \"model\": \"opus\"\n}\n",
		"hooks-open":              "{\n  \"model\": \"opus\"\n}\n",
		"user-statusline-escaped": "{\"statusLine\": {\"command\": \"~/bin/lïne /x\", \"type\": \"command\"}}\n",
		"event-empty":             "{\n  \"hooks\": {\n    \"PreToolUse\": []\n  }\n}\n",
	}
	for _, tc := range variants() {
		t.Run(tc.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(tc.before)
			p.init()
			if err := os.Remove(manifestPath(p.opts.Home)); err != nil {
				t.Fatal(err)
			}
			p.uninstall()
			got, _ := p.read()
			want := tc.before
			if tc.left != "" {
				want = tc.left
			}
			if g, w := decode(t, got), decode(t, want); !sameJSON(prune(g), prune(w)) {
				t.Errorf("got %s, want %s", got, want)
			}
			if text, ok := exceptions[tc.name]; ok {
				want = text
			}
			if got != want {
				t.Errorf("got:\n%q\nwant:\n%q", got, want)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".json")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// wantInstalled checks that a client finds all hooks.
func wantInstalled(t *testing.T, text string) {
	t.Helper()
	doc, err := parseDoc([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range mainHooks(exe) {
		if len(h.find(doc)) == 0 {
			t.Errorf("%s is not installed", h.Event)
		}
	}
	if _, ours, _ := (statuslineEntry{exe: exe, goos: "linux"}).find(doc); ours == nil {
		t.Error("the statusline is not installed")
	}
}

// decode reads settings with comments and trailing commas.
func decode(t testing.TB, text string) any {
	t.Helper()
	doc, err := parseDoc([]byte(text))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	plain := doc.plain
	if strings.TrimSpace(string(plain)) == "" {
		return map[string]any{}
	}
	var v any
	if err := json.Unmarshal(plain, &v); err != nil {
		t.Fatalf("%v in %q", err, plain)
	}
	return v
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// prune removes empty lists of hooks, which the client ignores.
func prune(v any) any {
	root, ok := v.(map[string]any)
	if !ok {
		return v
	}
	events, ok := root["hooks"].(map[string]any)
	if !ok {
		return v
	}
	for event, groups := range events {
		if list, ok := groups.([]any); ok && len(list) == 0 {
			delete(events, event)
		}
	}
	if len(events) == 0 {
		delete(root, "hooks")
	}
	return v
}

// mainHooks lists the hooks of Claude Code.
func mainHooks(exe string) []hookEntry {
	o := Options{Exe: exe, GOOS: "linux"}.withDefaults()
	return o.hooksOf(o.File)
}
