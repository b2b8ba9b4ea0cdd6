package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
	"strandline/internal/text"
)

// listedCompaction is a row of `strandline compactions --json`.
type listedCompaction struct {
	Session string `json:"session"`
	Trigger string `json:"trigger"`
	Ours    bool   `json:"ours"`
	Pre     int64  `json:"pre_tokens"`
	Post    int64  `json:"post_tokens"`
	Given   bool   `json:"given"`
}

// listed returns the compactions of all projects, newest first.
func (s *sandbox) listed() []listedCompaction {
	s.t.Helper()
	var rows []listedCompaction
	out := s.strandline("compactions", "--all", "--json").mustSucceed().stdout
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		s.t.Fatalf("compactions --json printed %q: %v", out, err)
	}
	return rows
}

// TestCompactionsAreListed compares the listed compactions with those that happened:
// in a tool loop and by hand, with and without the plugin.
func TestCompactionsAreListed(t *testing.T) {
	t.Parallel()
	for name, plugin := range map[string]bool{"the client's own": false, "ours": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			if plugin {
				s.installPlugin()
			} else {
				s.install()
			}
			id := newSession(t)
			s.scriptStory()
			s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
			s.resume(id, loopPrompt).mustAnswer("All done.").undisturbed()
			s.resume(id, rulePrompt).mustAnswer("Understood.").undisturbed()
			s.resume(id, "/compact").mustSucceed()
			s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed()

			rows := s.listed()

			if len(rows) != 2 {
				t.Fatalf("%d compactions are listed: %+v", len(rows), rows)
			}
			for i, want := range []struct {
				trigger string
				pre     int64
			}{{"manual", 1000}, {"auto", compactAt}} {
				r := rows[i]
				if r.Session != id || r.Trigger != want.trigger || r.Ours != plugin || !r.Given || r.Pre < want.pre || r.Pre > want.pre+20_000 {
					t.Errorf("row %d: %+v, want %s, ours %t, some %d tokens before", i, r, want.trigger, plugin, want.pre)
				}
				if r.Post <= 0 || r.Trigger == "auto" && r.Post >= r.Pre {
					t.Errorf("row %d: %d tokens before, %d after", i, r.Pre, r.Post)
				}
			}
			if table := s.strandline("compactions").mustSucceed().stdout; strings.Contains(table, "manual, ours") != plugin || strings.Count(table, "\n") != 3 {
				t.Errorf("the table:\n%s", table)
			}
		})
	}
}

// TestBlockAlways blocks every automatic compaction until the API refuses a turn,
// which is then compacted at once.
func TestBlockAlways(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write(filepath.Join(s.home, ".config", "strandline", "config.toml"), "[compaction]\nblock_auto = \"always\"\n")
	s.install()
	if report := s.run(s.program, "doctor").stdout; !strings.Contains(report, "block_auto") {
		t.Errorf("doctor does not warn:\n%s", report)
	}
	s.scriptStory()
	s.api.On("Fill the context.", mockapi.Say("Filled.").At(69_500))
	s.api.On("Go on.", mockapi.Say("Gone on.").At(74_000))
	s.api.On("And on.", mockapi.Say("Still going.").At(78_000))
	s.api.On("Once more.", mockapi.TooLong(), mockapi.Say("Done."))
	id := newSession(t)
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	s.resume(id, "Fill the context.").mustAnswer("Filled.").undisturbed()

	for _, turn := range [][2]string{{"Go on.", "Gone on."}, {"And on.", "Still going."}} {
		if held := s.resume(id, turn[0]).mustAnswer(turn[1]); len(held.compactions()) != 0 {
			t.Errorf("%s compactions %v: it was not blocked", turn[0], held.compactions())
		}
	}
	refused := s.resume(id, "Once more.").mustAnswer("Done.")

	if got := strings.Join(refused.compactions(), " "); got != "auto" {
		t.Errorf("compactions of the turn that was refused: %q, want auto", got)
	}
	if text := refused.requests[len(refused.requests)-1].Text(); !strings.Contains(text, portFact) {
		t.Errorf("the request after the compaction ends: %s", tail(text))
	}
	s.checkExported()
	s.checkLog()
}

// TestBlockAlwaysAllowsManualCompaction: a typed /compact is never blocked.
func TestBlockAlwaysAllowsManualCompaction(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write(filepath.Join(s.home, ".config", "strandline", "config.toml"), "[compaction]\nblock_auto = \"always\"\n")
	s.installPlugin()
	s.scriptStory()
	id := newSession(t)
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()

	s.resume(id, "/compact").mustSucceed()

	s.uncompacted()
	if rows := s.listed(); len(rows) != 1 || rows[0].Trigger != "manual" || !rows[0].Ours {
		t.Errorf("compactions: %+v", rows)
	}
}

// TestUncommittedChangesReachTheSummarizer changes a file of the project.
func TestUncommittedChangesReachTheSummarizer(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	s.scriptStory()
	id := newSession(t)
	s.start(id, plantPrompt).mustAnswer("Noted.").undisturbed()
	s.write(filepath.Join(s.project, "README.md"), "# Tide tables\n\nRounded down.\n")

	asked := s.resume(id, "/compact").mustSucceed().request(mockapi.Compaction, 0).Text()

	blocks, _ := records(asked)
	if len(blocks) != 1 || !strings.Contains(blocks[0], "## Uncommitted changes (git diff --stat HEAD)\n- README.md | 2 ++") {
		t.Errorf("our part of the compaction request: %q", blocks)
	}
}

// TestBothTextsFitTheClient: with more material than the client accepts from a hook,
// steering text and restored context still arrive complete.
func TestBothTextsFitTheClient(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.install()
	s.scriptStory()
	var said strings.Builder
	for i := range 300 {
		fmt.Fprintf(&said, "Gauge_%03d is read by `read_gauge_%03d --höhe=%d` because port_%d of harbour_%03d.toml is closed at night.\n", i, i, i*7, 4000+i, i)
	}
	s.api.On("Tell me all.", mockapi.Say(said.String()))
	id := newSession(t)
	s.start(id, "Tell me all.").mustSucceed().undisturbed()

	asked := s.resume(id, "/compact").mustSucceed().request(mockapi.Compaction, 0).Text()
	next := s.resume(id, nextPrompt).mustAnswer("54177, down.").undisturbed().request(mockapi.Turn, 0).Text()

	for what, body := range map[string]string{"to the summarizer": asked, "to the context": next} {
		for _, cut := range []string{"output cut:", "persisted-output", "Output too large"} {
			if strings.Contains(body, cut) {
				t.Errorf("what is said %s was cut: %q", what, cut)
			}
		}
		if strings.Count(body, text.FenceOpen) == 0 || strings.Count(body, text.FenceOpen) != strings.Count(body, text.FenceClose) {
			t.Errorf("%s: %d blocks begin, %d end", what, strings.Count(body, text.FenceOpen), strings.Count(body, text.FenceClose))
		}
	}
	_, from, _ := strings.Cut(next, "SessionStart hook additional context: ")
	if blocks, _ := records(from); len(blocks) == 0 || text.Units(blocks[0]) < 8000 {
		t.Error("the restored block is short: the test shows nothing")
	}
}
