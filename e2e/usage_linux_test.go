package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/e2e/mockapi"
	"strandline/internal/usage"
)

// clientUsage is the client's input to a statusline.
type clientUsage struct {
	Session string `json:"session_id"`
	Model   struct {
		ID string `json:"id"`
	} `json:"model"`
	Window struct {
		Tokens int64 `json:"total_input_tokens"`
		Size   int64 `json:"context_window_size"`
		Used   *int  `json:"used_percentage"`
	} `json:"context_window"`
}

// usageLog compares the figures of both.
type usageLog struct {
	s     *sandbox
	file  string      // the client's statusline inputs, one per line
	seen  int         // lines already read
	last  clientUsage // the latest input
	what  string      // and its moment
	table []string
}

// watchUsage configures a statusline command that records its input and installs
// strandline, which wraps it.
func watchUsage(s *sandbox) *usageLog {
	g := &usageLog{s: s, file: filepath.Join(filepath.Dir(s.project), "client.jsonl")}
	settings := strings.Replace(userSettings, "{\n", fmt.Sprintf("{\n    \"statusLine\": {\"type\": \"command\", \"command\": %q},\n",
		fmt.Sprintf(`printf '%%s\n' "$(tr -d '\n')" >> %s; echo mine`, g.file)), 1) // one write, because the client may call concurrently
	s.write(s.settingsFile(), settings)
	s.env = slices.DeleteFunc(s.env, func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CODE_AUTO_COMPACT_WINDOW=") })
	s.env = append(s.env, "STRANDLINE_AUTOPILOT_REPORT=always", "STRANDLINE_HOOK_DEADLINE=5s") // as for other clients
	s.install()
	return g
}

// await returns the next statusline input that match accepts.
func (g *usageLog) await(what string, match func(clientUsage) bool) clientUsage {
	g.s.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(g.file)
		if err != nil && !os.IsNotExist(err) {
			g.s.t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, line := range lines[min(g.seen, len(lines)):] {
			var x clientUsage
			if json.Unmarshal([]byte(line), &x) == nil && match(x) {
				g.seen += i + 1
				return x
			}
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			g.s.t.Fatalf("%s: the client did not say it:\n%s", what, data)
		}
	}
}

// known reads a session's stored usage until settled accepts it: the client does not
// wait for hooks before it draws its statusline.
func (g *usageLog) known(session string, settled func(known) bool) known {
	g.s.t.Helper()
	deadline := time.NewTimer(hookPatience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var k known
		data := g.s.read(filepath.Join(g.s.store, "state", session+".json"))
		if err := json.Unmarshal([]byte(data), &k); err != nil {
			g.s.t.Fatal(err)
		}
		if settled(k) {
			return k
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return k // the comparison reports the difference
		}
	}
}

// hookPatience bounds the wait for the hooks of a turn.
const hookPatience = 10 * time.Second

// waitFor waits until the client reports that many tokens to its statusline.
func (g *usageLog) waitFor(what string, tokens int64) {
	g.s.t.Helper()
	g.last = g.await(what, func(x clientUsage) bool { return x.Window.Tokens == tokens && (tokens == 0 || x.Window.Used != nil) })
	g.what = what
}

// compare checks the client's latest figures against those of the hooks and against
// the report in the next prompt.
func (g *usageLog) compare() {
	g.s.t.Helper()
	report := "-"
	if text := g.s.lastRequest(mockapi.Turn).Text(); strings.Contains(text, reportMark) {
		report, _, _ = strings.Cut(text[strings.LastIndex(text, reportMark)+len(reportMark):], "\n")
		_, report, _ = strings.Cut(report, "] ")
	}
	w := g.last.Window
	g.counted(report)
	if w.Tokens == 0 { // the client has no figure yet: strandline's is an estimate and marked as one
		if report != "-" && !strings.HasPrefix(report, "~") {
			g.s.t.Errorf("%s: the model receives %q", g.what, report)
		}
		return
	}
	want := fmt.Sprintf("%d%% %s/%s", *w.Used, usage.FormatTokens(w.Tokens), usage.FormatTokens(w.Size))
	if report != want && !strings.HasPrefix(report, want+" ") {
		g.s.t.Errorf("%s: the model receives %q, the client says %q", g.what, report, want)
	}
}

// counted checks the client's latest figures against those of the hooks.
func (g *usageLog) counted(report string) {
	g.s.t.Helper()
	w := g.last.Window
	k := g.known(g.last.Session, func(k known) bool { return w.Tokens == 0 || k.counted(w.Tokens) })
	percent, ours := 0, "-"
	if w.Used != nil {
		percent = *w.Used
	}
	switch {
	case w.Tokens == 0:
	case k.counted(w.Tokens):
		ours = fmt.Sprint(w.Tokens)
	default:
		ours = "no"
		g.s.t.Errorf("%s: %d tokens were not counted: %+v", g.what, w.Tokens, k)
	}
	g.table = append(g.table, fmt.Sprintf("| %-25s | %7d | %3d %% | %7d | %7s | %7d, %-6s | %s |",
		g.what, w.Tokens, percent, w.Size, ours, k.Window, k.From, report))
	if k.Window != w.Size || k.From != "client" {
		g.s.t.Errorf("%s: a window of %d by the word of the %s, the client says %d", g.what, k.Window, k.From, w.Size)
	}
}

// reportMark is the start of a usage report.
const reportMark = usage.ReportPrefix + " ["

// TestUsageEqualsTheClients runs sessions with a small and a large window over a
// compaction, a resume and /clear, and compares strandline's figures with those that
// the client reports to its statusline.
func TestUsageEqualsTheClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		model  string
		window int64
	}{{"claude-haiku-4-5", 200_000}, {"claude-opus-5-5", 1_000_000}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			g := watchUsage(s)
			part := func(percent int64) int64 { return c.window*percent/100 + 123 }
			for prompt, percent := range map[string]int64{
				"first": 15, "second": 43, "third": 71, "fourth": 86, "after": 9, "resumed": 12, "once more": 20, "cleared": 4, "at last": 5,
			} {
				s.api.On(prompt, mockapi.Say("I did that.").At(part(percent)))
			}
			s.api.On("a tool", mockapi.Use(mockapi.Bash("echo one")).At(part(44)), mockapi.Say("It says one.").At(part(45)))
			s.api.Summarize("We worked.")

			ready := "effort:"
			if c.model == "claude-haiku-4-5" {
				ready = "manual mode on"
			}
			term := s.openUntil(ready, "--model", c.model)
			term.say("first")
			g.waitFor("first turn", part(15))
			term.say("second")
			g.compare()
			g.waitFor("second turn", part(43))
			term.say("a tool")
			g.compare()
			g.waitFor("a turn with a tool", part(45))
			term.say("third")
			g.compare()
			g.waitFor("third turn", part(71))
			term.say("fourth")
			g.compare()
			g.waitFor("fourth turn", part(86))
			term.say("/compact")
			g.counted("(compacted)")
			g.waitFor("right after /compact", 0)
			if k := g.known(g.last.Session, func(k known) bool { return k.Tokens < part(15) }); k.Seen != part(86) || k.Tokens >= part(15) || len(k.History) > 0 {
				t.Errorf("after /compact: %+v", k)
			}
			term.say("after")
			g.compare()
			g.waitFor("first turn after it", part(9))
			session := s.onlySession()
			term.leave()
			g.counted("(left)")
			s.awaitProcesses() // of SessionEnd: hooks do not count a turn while its catch-up indexes

			term = s.openUntil(ready, "--model", c.model, "--resume", session)
			g.waitFor("resumed", part(9))
			term.say("resumed")
			g.compare()
			g.waitFor("first turn of the resumed", part(12))
			term.say("once more")
			g.compare()
			g.waitFor("second of the resumed", part(20))
			term.say("/clear")
			g.await("a new session", func(x clientUsage) bool { return x.Session != session })
			s.awaitProcesses() // as above
			term.say("cleared")
			g.waitFor("first turn after /clear", part(4))
			term.say("at last")
			g.compare()
			term.leave()

			t.Logf("%s\n| moment | the client: tokens | used | window | counted by the hooks | window, by | report for the model |\n%s",
				c.model, strings.Join(g.table, "\n"))
			s.checkHooks(term.debug)
			s.checkHookRows()
		})
	}
}

// onlySession returns the id of the only session.
func (s *sandbox) onlySession() string {
	s.t.Helper()
	if len(s.transcripts()) != 1 {
		s.t.Fatalf("%d transcripts, want one", len(s.transcripts()))
	}
	for path := range s.transcripts() {
		return strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	return ""
}

// TestThePluginCompactsBetweenTurns: with compact_early the module compacts after a
// turn, before the client would and without the API.
func TestThePluginCompactsBetweenTurns(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	g := watchUsage(s)
	s.env = append(s.env, "STRANDLINE_AUTOPILOT_COMPACT_EARLY=0.8")
	s.strandline("init").mustSucceed() // with the plugin
	s.api.On("remember the port 18443", mockapi.Say("I will remember the port 18443.").At(700_000))
	s.api.On("go on", mockapi.Say("I went on.").At(810_000))
	s.api.On("which port?", mockapi.Say("18443.").At(30_000))

	term := s.open("--model", "claude-opus-5-5")
	term.say("remember the port 18443")
	g.waitFor("below", 700_000)
	term.say("go on")
	g.waitFor("compacted", 0) // often before the client draws its statusline with 810,000
	term.say("which port?")
	g.waitFor("afterwards", 30_000)
	term.leave()

	s.uncompacted()
	req := s.lastRequest(mockapi.Turn)
	if all := ours(req); len(all) != 1 || !strings.Contains(req.Text(), "18443") {
		t.Errorf("%d records in the request after an early compaction", len(all))
	}
	// The client records a compaction started by a plugin as manual.
	if rows := s.listed(); len(rows) != 1 || rows[0].Trigger != "manual" || !rows[0].Ours {
		t.Errorf("compactions: %+v", rows)
	}
	s.checkHooks(term.debug)
	s.checkHookRows()
}
