package usage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"strandline/internal/usage"
)

// lineFixture is a client's terminal and an archive.
type lineFixture struct {
	t *testing.T
	usage.Statusline
	env  map[string]string
	path string // of the transcript
}

func newLineFixture(t *testing.T) *lineFixture {
	t.Helper()
	dir := t.TempDir()
	d := &lineFixture{t: t, env: map[string]string{"NO_COLOR": "1"}, path: filepath.Join(dir, session+".jsonl")}
	getenv := func(name string) string { return d.env[name] }
	d.Statusline = usage.Statusline{
		Getenv: getenv, Now: func() time.Time { return time.Now().Add(2 * time.Minute) }, Store: usage.Store{Dir: filepath.Join(dir, "state")},
		Monitor: usage.Monitor{Zones: usage.Zones{Warn: 0.70, Prune: 0.85}, Getenv: getenv},
	}
	return d
}

// print runs one call of the client.
func (d *lineFixture) print(stdin string) string {
	d.t.Helper()
	var out bytes.Buffer
	d.Stdin, d.Stdout = strings.NewReader(stdin), &out
	if err := d.Print(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	line, found := strings.CutSuffix(out.String(), "\n")
	if !found || strings.Contains(line, "\n") {
		d.t.Fatalf("printed %q, want one line", out.String())
	}
	return line
}

// payload returns the client's payload for a number of tokens and a window.
func (d *lineFixture) payload(tokens, size int) string {
	data, err := json.Marshal(map[string]any{
		"session_id": session, "transcript_path": d.path, "model": map[string]string{"id": "claude-haiku-4-5", "display_name": "Haiku 4.5"},
		"context_window": map[string]any{"total_input_tokens": tokens, "context_window_size": size},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// captured writes a transcript and the session's record.
func (d *lineFixture) captured(text string, change func(s *usage.Session)) {
	d.t.Helper()
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.state(func(s *usage.Session) { s.Captured = int64(len(text)); change(s) })
}

func (d *lineFixture) state(change func(s *usage.Session)) {
	d.t.Helper()
	if err := d.Store.Update(d.t.Context(), session, func(s *usage.Session) bool { change(s); return true }); err != nil {
		d.t.Fatal(err)
	}
}

func (d *lineFixture) health(part, of int64) {
	d.t.Helper()
	if err := d.Store.WriteHealth(usage.Health{Captured: &usage.Share{Part: part, Of: of}}); err != nil {
		d.t.Fatal(err)
	}
}

func unchanged(*usage.Session) {}

const aTurn = `{"type":"user"}` + "\n" + `{"type":"assistant"}` + "\n"

func TestDefaultLine(t *testing.T) {
	d := newLineFixture(t)
	d.captured(aTurn, unchanged)
	d.health(86, 100)
	if got, want := d.print(d.payload(86_700, 200_000)), "🛡️ 43% · 87K/200K"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	d.state(func(s *usage.Session) { s.PruneCount = 2 })
	if got, want := d.print(d.payload(172_000, 200_000)), "🛡️ 86% · 172K/200K"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestClientPayloads uses payloads of version 2.1.329 of the client.
func TestClientPayloads(t *testing.T) {
	for name, want := range map[string]string{
		"startup":             "🛡️",
		"after-turn":          "🛡️ 21% · 210K/967K",
		"right-after-compact": "🛡️",
		"200k-window":         "🛡️ 84% · 168K/200K",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			d := newLineFixture(t)
			if got := d.print(string(data)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestInvalidInput(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"empty":                    {"", "⏳"},
		"random bytes":             {"\x00\xff{{{", "⏳"},
		"cut off":                  {`{"session_id":"` + session, "⏳"},
		"a list":                   {`[]`, "⏳"},
		"null":                     {`null`, "⏳"},
		"null fields":              {`{"session_id":null,"model":null,"context_window":{"total_input_tokens":null,"context_window_size":200000,"current_usage":null}}`, "⏳"},
		"no window":                {`{"session_id":"` + session + `","context_window":null}`, "⏳"},
		"other types":              {`{"session_id":7,"model":"m","context_window":{"total_input_tokens":"many","context_window_size":200000}}`, "⏳"},
		"lists instead of objects": {`{"context_window":[],"model":[]}`, "⏳"},
		"negative tokens":          {`{"context_window":{"total_input_tokens":-5,"context_window_size":200000}}`, "⏳"},
		"more than any window":     {`{"context_window":{"total_input_tokens":1e300,"context_window_size":200000}}`, "⏳"},
		"a window of 0":            {`{"context_window":{"total_input_tokens":50,"context_window_size":0}}`, "⏳"},
		"a path as the session":    {`{"session_id":"../../etc/passwd","context_window":{"total_input_tokens":50000,"context_window_size":200000}}`, "⏳ 29% · 50K/167K"},
		"terminal sequences":       {`{"model":{"id":"\u001b[2J"},"context_window":{"total_input_tokens":50000,"context_window_size":200000}}`, "⏳ 29% · 50K/167K"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newLineFixture(t)
			if got := d.print(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestBrokenPipes: stdin stays open, and stdout is closed.
func TestBrokenPipes(t *testing.T) {
	d := newLineFixture(t)
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	d.Stdin, d.Stdout = r, &out
	if err := d.Print(ctx); err != nil || out.String() != "⏳\n" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
	d.Stdin, d.Stdout = strings.NewReader(""), broken{}
	if err := d.Print(t.Context()); err == nil {
		t.Error("no error")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

// Without usage in the payload, the record's tokens are shown as an estimate.
func TestUsageFromTheRecord(t *testing.T) {
	d := newLineFixture(t)
	d.captured(aTurn, func(s *usage.Session) { s.LastTokenEstimate, s.Model = 18_000, "claude-haiku-4-5" })
	if got, want := d.print(d.payload(0, 200_000)), "🛡️ ~9% · ~18K/200K"; got != want {
		t.Errorf("right after a compaction: got %q, want %q", got, want)
	}
	if got, want := d.print(`{"session_id":"`+session+`","transcript_path":"`+filepath.ToSlash(d.path)+`"}`), "🛡️ ~9% · ~18K/200K"; got != want {
		t.Errorf("without a window: got %q, want %q", got, want)
	}
}

func TestCaptureStatus(t *testing.T) {
	big := strings.Repeat(" ", 300<<10)
	for name, c := range map[string]struct {
		set  func(d *lineFixture)
		want string
	}{
		"no transcript yet":             {func(*lineFixture) {}, "🛡️"},
		"no record":                     {func(d *lineFixture) { d.grow(aTurn) }, "⏳"},
		"no record, a young transcript": {func(d *lineFixture) { d.grow(aTurn); d.Now = time.Now }, "🛡️"},
		"a young reply followed":        {func(d *lineFixture) { d.captured(aTurn, unchanged); d.grow(aTurn); d.Now = time.Now }, "🛡️"},
		"captured":                      {func(d *lineFixture) { d.captured(aTurn, unchanged) }, "🛡️"},
		"rows of the client followed": {func(d *lineFixture) {
			d.captured(aTurn, unchanged)
			d.grow(`{"type":"system","subtype":"turn_duration"}` + "\n")
		}, "🛡️"},
		"a prompt followed":         {func(d *lineFixture) { d.captured(aTurn, unchanged); d.grow(`{"parentUuid":null,"type":"user"}` + "\n") }, "⏳"},
		"a reply followed":          {func(d *lineFixture) { d.captured(aTurn, unchanged); d.grow(`{"type":"assistant"}` + "\n") }, "⏳"},
		"much text followed":        {func(d *lineFixture) { d.captured(aTurn, unchanged); d.grow(big) }, "⏳"},
		"the transcript is shorter": {func(d *lineFixture) { d.captured(aTurn, func(s *usage.Session) { s.Captured += 5 }) }, "⏳"},
		"the capture failed":        {func(d *lineFixture) { d.captured(aTurn, func(s *usage.Session) { s.CaptureFailed = true }) }, "⚠️"},
		"a deleted transcript": {func(d *lineFixture) {
			d.captured(aTurn, unchanged)
			if err := os.Remove(d.path); err != nil {
				d.t.Fatal(err)
			}
		}, "🛡️"},
		"the transcript is a folder": {func(d *lineFixture) {
			d.state(func(s *usage.Session) { s.Captured = 5 })
			if err := os.Mkdir(d.path, 0o700); err != nil {
				d.t.Fatal(err)
			}
		}, "⏳"},
		"another transcript": {func(d *lineFixture) {
			d.captured(aTurn, unchanged)
			d.path = filepath.Join(filepath.Dir(d.path), "other.jsonl")
		}, "⏳"},
		"a damaged record": {func(d *lineFixture) {
			d.captured(aTurn, unchanged)
			if err := os.WriteFile(filepath.Join(d.Store.Dir, session+".json"), []byte(`{"sess`), 0o600); err != nil {
				d.t.Fatal(err)
			}
		}, "⏳"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newLineFixture(t)
			c.set(d)
			if got, _, _ := strings.Cut(d.print(d.payload(86_700, 200_000)), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// grow appends uncaptured text to the transcript.
func (d *lineFixture) grow(text string) {
	d.t.Helper()
	f, err := os.OpenFile(d.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestWindowIsStored(t *testing.T) {
	d := newLineFixture(t)
	d.print(d.payload(50_000, 1_000_000))
	s, ok := d.Store.Session(session)
	if !ok || s.ClientWindow != 1_000_000 || s.ClientModel != "claude-haiku-4-5" || s.Window != 1_000_000 || s.WindowFrom != "client" {
		t.Fatalf("%+v, %v", s, ok)
	}
	path := filepath.Join(d.Store.Dir, session+".json")
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	d.print(d.payload(60_000, 1_000_000))
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("written again without a change: %v", err)
	}
	d.print(d.payload(60_000, 200_000))
	if s, _ := d.Store.Session(session); s.ClientWindow != 200_000 {
		t.Errorf("%+v", s)
	}
}

func TestColours(t *testing.T) {
	d := newLineFixture(t)
	d.env = map[string]string{}
	for tokens, code := range map[int]string{86_700: "32", 150_000: "33", 180_000: "31"} {
		if got := d.print(d.payload(tokens, 200_000)); strings.Count(got, "\x1b["+code+"m") != 2 || strings.Count(got, "\x1b[0m") != 2 {
			t.Errorf("%d tokens: %q", tokens, got)
		}
	}
	for _, env := range []map[string]string{{"NO_COLOR": "1"}, {"TERM": "dumb"}} {
		d.env = env
		if got := d.print(d.payload(180_000, 200_000)); strings.Contains(got, "\x1b") {
			t.Errorf("%v: %q", env, got)
		}
	}
}

// TestLineTurnsLeft uses turns of 5K tokens in a window of 200K.
func TestLineTurnsLeft(t *testing.T) {
	d := newLineFixture(t)
	d.captured(aTurn, func(s *usage.Session) {
		for turn := range 4 {
			s.Append(usage.Point{Turns: turn, Tokens: int64(70_000 + 5_000*turn)})
		}
	})
	for tokens, want := range map[int]string{
		87_000: "🛡️ 43% · 87K/200K · ~22 turns", 194_000: "🛡️ 97% · 194K/200K · ~1 turn", 198_000: "🛡️ 99% · 198K/200K · compaction next",
	} {
		if got := d.print(d.payload(tokens, 200_000)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got, want := d.print(d.payload(9_000, 1_000_000)), "🛡️ 0% · 9K/967K"; got != want {
		t.Errorf("far ahead: got %q, want %q", got, want)
	}
}

// The client's settings lower the point at which it compacts.
func TestWindowInSettings(t *testing.T) {
	d := newLineFixture(t)
	d.captured(aTurn, unchanged)
	dir := t.TempDir()
	for i, c := range []struct{ local, user, want string }{
		{`{}`, `{"autoCompactWindow": 200000}`, "🛡️ 51% · 87K/167K"},
		{`{"autoCompactWindow": 150000}`, `{"autoCompactWindow": 200000}`, "🛡️ 74% · 87K/117K"},
		{`{"autoCompactWindow": 5}`, ``, "🛡️ 129% · 87K/67K"},
		{`{"modelSettings":{"claude-opus-5":{"autoCompactWindow":"auto"}}}`, `{"autoCompactWindow": 200000}`, "🛡️ 8% · 87K/967K"},
		{`{"modelSettings":{"claude-opus-5-5":{"autoCompactWindow":150000}}}`, `{"autoCompactWindow": 200000}`, "🛡️ 51% · 87K/167K"},
		{`{"autoCompactEnabled": false}`, `{"autoCompactWindow": "many"}`, "🛡️ 8% · 87K/977K"},
		{`{"autoCompactWindow": `, `[]`, "🛡️ 8% · 87K/967K"},
	} {
		d.Monitor.Settings = []string{filepath.Join(dir, "absent.json"), filepath.Join(dir, fmt.Sprint(i, "local.json")), filepath.Join(dir, fmt.Sprint(i, "user.json"))}
		for file, text := range map[string]string{d.Monitor.Settings[1]: c.local, d.Monitor.Settings[2]: c.user} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := d.print(strings.Replace(d.payload(86_700, 1_000_000), "claude-haiku-4-5", "claude-opus-5-20260601", 1)); got != c.want {
			t.Errorf("%s, %s: got %q, want %q", c.local, c.user, got, c.want)
		}
	}
}

// A client that compacts early reaches the last zone early.
func TestZonesFollowTheClientsLimits(t *testing.T) {
	d := newLineFixture(t)
	d.env = map[string]string{"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}
	if got := d.print(d.payload(420_000, 1_000_000)); !strings.Contains(got, "\x1b[31m85%") {
		t.Errorf("420K of a window that is compacted at 490K: %q", got)
	}
}

func TestPlainCharacters(t *testing.T) {
	for name, c := range map[string]struct {
		env   map[string]string
		force bool
		want  string
	}{
		"the C locale":          {map[string]string{"LANG": "C"}, false, "[ok] 43% | 87K/200K"},
		"LC_ALL overrides LANG": {map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, false, "[ok] 43% | 87K/200K"},
		"by setting":            {map[string]string{"LANG": "en_US.UTF-8"}, true, "[ok] 43% | 87K/200K"},
		"UTF-8":                 {map[string]string{"LANG": "de_DE.utf8"}, false, "🛡️ 43% · 87K/200K"},
		"no locale":             {map[string]string{}, false, "🛡️ 43% · 87K/200K"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newLineFixture(t)
			d.captured(aTurn, unchanged)
			d.health(86, 100)
			d.env, d.ASCII = c.env, c.force
			d.env["NO_COLOR"] = "1"
			if got := d.print(d.payload(86_700, 200_000)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestNarrowTerminals(t *testing.T) {
	d := newLineFixture(t)
	d.captured(aTurn, unchanged)
	d.health(86, 100)
	for columns, want := range map[string]string{
		"200": "🛡️ 43% · 87K/200K", "17": "🛡️ 43% · 87K/200K", "16": "🛡️ 43%", "6": "🛡️ 43%", "5": "43%", "3": "43%", "2": "43",
		"0": "🛡️ 43% · 87K/200K", "wide": "🛡️ 43% · 87K/200K",
	} {
		d.env["COLUMNS"] = columns
		if got := d.print(d.payload(86_700, 200_000)); got != want {
			t.Errorf("%s columns: %q, want %q", columns, got, want)
		}
	}
	d.Template, d.env["COLUMNS"] = "{percent} of my window and more", "12"
	if got := d.print(d.payload(86_700, 200_000)); got != "43% of my wi" {
		t.Errorf("a template is clipped: %q", got)
	}
	delete(d.env, "NO_COLOR")
	d.Template, d.env["COLUMNS"] = "{percent}{tokens}", "5"
	if got := d.print(d.payload(86_700, 200_000)); got != "\x1b[32m43%\x1b[0m\x1b[32m87\x1b[0m" {
		t.Errorf("an open colour: %q", got)
	}
}

func TestTemplates(t *testing.T) {
	d := newLineFixture(t)
	d.captured(aTurn, func(s *usage.Session) {
		for turn := range 4 {
			s.Append(usage.Point{Turns: turn, Tokens: int64(70_000 + 5_000*turn)})
		}
	})
	d.health(86, 100)
	for template, want := range map[string]string{
		"{percent} of {window} in {model}":     "43% of 200K in Haiku 4.5",
		"{bar} {trend} {turns} {zone}":         "████░░░░░░ +5K/turn ~22 ok",
		"{shield}{brain}{dot}{health}{cycles}": "🛡️🧠·86%⊘",
		"{unknown} {percent":                   "{unknown} {percent",
		"{{percent}}":                          "{43%}",
		"{}":                                   "{}",
		"plain":                                "plain",
	} {
		d.Template = template
		if got := d.print(d.payload(86_700, 200_000)); got != want {
			t.Errorf("%s: %q, want %q", template, got, want)
		}
	}
	for _, name := range []string{
		"shield", "percent", "tokens", "window", "limit", "bar", "trend", "turns", "left", "zone", "cycles", "brain", "health", "model", "dot",
	} {
		d.Template = "{" + name + "}"
		if got := d.print(d.payload(86_700, 200_000)); got == d.Template || got == "" {
			t.Errorf("%s is replaced by %q", d.Template, got)
		}
	}
}

func TestUserCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test uses a POSIX shell")
	}
	const own = "🛡️ 43% · 87K/200K"
	for name, c := range map[string]struct{ command, want string }{
		"one line":                 {"echo mine", "mine │ " + own},
		"several":                  {"printf '\\n  \\nmine\\nsecond\\n'", "mine │ " + own},
		"it receives the payload":  {"sed 's/.*\"display_name\":\"\\([^\"]*\\)\".*/\\1/'", "Haiku 4.5 │ " + own},
		"exit status 3":            {"exit 3", own},
		"output and exit status 3": {"echo mine; exit 3", "mine │ " + own},
		"no output":                {"true", own},
		"a missing command":        {"/nonexistent/statusline", own},
		"output on stderr":         {"echo mine >&2", own},
		"an open colour":           {"printf '\\033[35mmine'", "\x1b[35mmine\x1b[0m │ " + own},
	} {
		t.Run(name, func(t *testing.T) {
			d := newLineFixture(t)
			d.Command = c.command
			if got := d.print(d.payload(86_700, 200_000)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
	d := newLineFixture(t)
	d.Command, d.env["COLUMNS"] = "echo mine", "16"
	if got := d.print(d.payload(86_700, 200_000)); got != "mine │ 🛡️ 43%" {
		t.Errorf("in 16 columns: %q", got)
	}
	d.Command, d.env["COLUMNS"] = "yes | head -c 100000 | tr -d '\\n'", "100"
	if got := d.print(d.payload(86_700, 200_000)); len(got) > 20<<10 {
		t.Errorf("%d bytes of the command's output", len(got))
	}
}

// A command that hangs is killed with its background processes.
func TestUserCommandTimesOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test uses a POSIX shell")
	}
	d := newLineFixture(t)
	d.Command = "echo early; sleep 600 & sleep 600"
	if got := d.print(d.payload(86_700, 200_000)); got != "early │ 🛡️ 43% · 87K/200K" {
		t.Errorf("printed %q", got)
	}
}

func FuzzRun(f *testing.F) {
	for _, name := range []string{"startup", "after-turn", "right-after-compact", "200k-window"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"context_window":{"total_input_tokens":1e999}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newLineFixture(t)
		d.env["COLUMNS"] = "30"
		line := d.print(string(data))
		if strings.ContainsAny(line, "\x1b\x00\r") {
			t.Errorf("printed %q", line)
		}
	})
}
