package compact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/transcript"
)

// restoreCase is a session, and parts of its restored context of 9,500 units.
type restoreCase struct {
	add      func(m *memory)
	want     []string // each exactly once
	unwanted []string
}

func checkRestored(t *testing.T, cases map[string]restoreCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			c.add(m)
			text := restore(t, m, compact.Request{Budget: 9500}).Text
			for _, want := range c.want {
				if strings.Count(text, want) != 1 {
					t.Errorf("%q is not in it exactly once", want)
				}
			}
			if strings.Count(text, "0042_discount_codes.sql was not applied") > 1 {
				t.Error("a sentence appears twice")
			}
			for _, unwanted := range c.unwanted {
				if strings.Contains(text, unwanted) {
					t.Errorf("%q is in it", unwanted)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// Cases in which a restored context could mislead its reader.
func TestRestoreIsNotMisleading(t *testing.T) {
	t.Parallel()
	checkRestored(t, map[string]restoreCase{
		"an answer with its question": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.reply("The retryBudget is in internal/retry.go.\nI can double it, or wait longer.\n\n**Shall I double it?**")
				m.prompt("yep, do that")
				m.reply("Doubling the retryBudget now.")
			},
			want: []string{"Latest request: yep, do that", "The retryBudget is in internal/retry.go. I can double it, or wait longer. Shall I double it?\n"},
		},
		"a prompt sent twice": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.prompt("Does entire_resume take the same path?")
				m.prompt("Does entire_resume take the same path?")
				m.reply("It does, in internal/resume.go.")
			},
			want:     []string{"[2] Latest request: Does entire_resume"},
			unwanted: []string{"[1]"},
		},
		"short assent stays with what it answers": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.reply("Shall I double the retryBudget?")
				m.prompt("yes")
				m.prompt("Now the download in internal/download.go, please.")
				m.reply("The download is in internal/download.go.")
			},
			want: []string{"User: Make the upload retry.\n  [0.0] Shall I double the retryBudget?\n- [1] User: yes\n"},
		},
		"a refusal is not an error": {
			add: func(m *memory) {
				m.prompt("Bring the branch up to date.")
				m.call(archive.Call{Name: "Bash", Kind: archive.CallCommand, Command: "git merge origin/main", Failed: true, Error: archive.ErrorRefused + ": merge from origin/dev", LineUse: m.line, LineResult: m.line})
				m.reply("Merging from origin/dev instead.")
			},
			want:     []string{"did not run `git merge origin/main`, refused by the user: merge from origin/dev"},
			unwanted: []string{"## Errors", "failed"},
		},
		"a dropped call was not run": {
			add: func(m *memory) {
				m.prompt("Check it all.")
				m.run("make lint", 1, "internal/a.go: error: unused parameter retryBudget")
				m.call(archive.Call{Name: "Bash", Kind: archive.CallCommand, Command: "make build", Failed: true, Error: archive.ErrorDropped, LineUse: m.line, LineResult: m.line})
				m.reply("The linter complains about retryBudget.")
			},
			want:     []string{"ran `make lint`, failed (exit 1)"},
			unwanted: []string{"ran `make build`", "not run: a call beside it failed\n  "},
		},
		"a wrong file name is not an error": {
			add: func(m *memory) {
				m.prompt("Where is the limiter?")
				m.call(archive.Call{Name: "Read", Kind: archive.CallRead, Files: []string{"/home/ada/shop/limit.go"}, Failed: true, Error: "File does not exist.", LineUse: m.line, LineResult: m.line})
				m.read("/home/ada/shop/api/limit.go", "func gatewayLimiter() int")
				m.read("/home/ada/shop/api/use.go", "var used = gatewayLimiter()")
				m.read("/home/ada/shop/api/more.go", "var more = gatewayLimiter()")
			},
			unwanted: []string{"## Errors"},
		},
		"no sentence twice": {
			add: func(m *memory) {
				m.prompt("Why does it fail?")
				m.run("make check", 1, "internal/a.go: error: table is missing")
				m.reply("The root cause is that 0042_discount_codes.sql was not applied.")
			},
			want: []string{"Last words: The root cause is"},
		},
		"bold text and lists": {
			add: func(m *memory) {
				m.prompt("What did you find?")
				m.reply("I looked at it.\n- **Root cause:** `retryBudget` is never reset in the loop\n- The fix is to set `queueDepth` instead of `retryBudget`")
				m.run("make check", 0, "ok")
				m.reply("All is well.")
				m.reply("And still is.")
			},
			want: []string{"- Root cause: `retryBudget` is never reset in the loop\n  - The fix is to set `queueDepth`"},
		},
	})
}

// A summary in several passages is announced once.
func TestOldSummaryIsAnnouncedOnce(t *testing.T) {
	m := newMemory()
	m.prompt("Go on.")
	m.reply("The retryBudget is in internal/retry.go now.")
	m.compact("We found the queueDepth of internal/omega.go.\nIt limits the calls that wait at once.")
	more := m.passages[len(m.passages)-1]
	more.Seq++
	more.Text = "Then we found the maxBackoff that internal/retry.go holds."
	m.passages = append(m.passages, more)
	m.prompt("Go on with internal/retry.go.")
	m.reply("Going on.")
	text := restore(t, m, compact.Request{Budget: 9500}).Text
	if strings.Count(text, "Summary by the client") != 1 || !strings.Contains(text, "It limits the calls") || !strings.Contains(text, "maxBackoff") {
		t.Errorf("the summary is not announced once:\n%s", text)
	}
}

// A check that was refused does not hide its last outcome, and a comment in code
// is not a decision.
func TestPreserveChecksAndDecisions(t *testing.T) {
	m := newMemory()
	m.prompt("Check it all.")
	m.run("make test", 0, "ok")
	m.reply("It passes, because the queueDepth is never zero now.\n```go\n// Never lower queueDepth again, it must stay\n```")
	m.call(archive.Call{Name: "Bash", Kind: archive.CallCommand, Command: "make test", Failed: true, Error: archive.ErrorDropped, LineUse: m.line, LineResult: m.line})
	m.reply("That was all of it.")
	text, err := compact.Preserve(t.Context(), m, compact.Request{Session: m.session.ID, Budget: 9500})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "ran `make test`, exit 0") || strings.Contains(text, "## Open errors") || strings.Contains(text, "// Never") || !strings.Contains(text, "because the queueDepth is never zero") {
		t.Errorf("wrong outcome of a command:\n%s", text)
	}
}

// A restored context states what a session's outcome hides.
func TestRestoreStatesOutcomes(t *testing.T) {
	t.Parallel()
	checkRestored(t, map[string]restoreCase{
		"a failure that a pipe hides": {
			add: func(m *memory) {
				m.prompt("Check it.")
				m.run("go test ./... 2>&1 | tail -3", 0, "--- FAIL: TestTide (0.00s)\n    tide_test.go:7: got 3, want 4\nFAIL shop/tide 0.1s")
			},
			want: []string{"## Open errors\n- [0.0] ran `go test ./... 2>&1 | tail -3`, exit 0, but its output fails: --- FAIL: TestTide (0.00s)\n", "tide_test.go:7: got 3, want 4"},
		},
		"an error before later edits": {
			add: func(m *memory) {
				m.prompt("Check it.")
				m.run("make lint", 1, "a.go:3: unused parameter tideGauge")
				m.edit("/home/ada/shop/a.go", "func f(tideGauge int) {", "func f() {")
			},
			want: []string{"failed (exit 1): a.go:3: unused parameter tideGauge (before the last edits, not run since)"},
		},
		"a message while the model works": {
			add: func(m *memory) {
				m.prompt("Draw the tides.")
				m.reply("The gauge is read in gauge.go every hour.")
				m.passage(archive.KindPrompt, "", "No, use the harbour's own gauge.")
				m.line++
				m.reply("The harbour's gauge is read in harbour.go instead.")
				m.prompt("Good.")
				m.reply("That was all of it for now.")
			},
			want: []string{"every hour.\n  User: No, use the harbour's own gauge.\n  [0.1] The harbour's gauge"},
		},
		"an error that was worked around": {
			add: func(m *memory) {
				m.prompt("List the gauges.")
				m.run("jq .gauges gauges.json", 3, "jq: error: Top-level program not given")
				for i := range 6 {
					m.reply(fmt.Sprintf("Gauge number %d answers on its port.", i))
				}
			},
			want: []string{"Last words: Gauge number 5", "jq: error: Top-level program not given\n"},
		},
		"a question that the next prompt answers": {
			add: func(m *memory) {
				m.prompt("Draw the tides.")
				m.reply("The gauge is read in gauge.go every hour. Does this look right to you?")
				m.prompt("Read it every minute, and write the readings to a table.")
				m.reply("It is read every minute now.")
				m.prompt("Good.")
				m.reply("That was all of it for now.")
			},
			want:     []string{"The gauge is read in gauge.go every hour.\n"},
			unwanted: []string{"Does this look right"},
		},
		"imports are no change": {
			add: func(m *memory) {
				m.prompt("Read the gauge.")
				m.edit("/home/ada/shop/gauge.go", "import \"fmt\"", "import (\n\t\"fmt\"\n\t\"time\"\n)\nconst tideEvery = time.Minute")
			},
			want:     []string{"+ const tideEvery = time.Minute\n"},
			unwanted: []string{"+ \t\"time\""},
		},
		"what is not committed": {
			add: func(m *memory) {
				m.prompt("Change it.")
				m.edit("/home/ada/shop/old.go", "a", "b")
				m.run("git commit -am 'Change it'", 0, "1 file changed")
				m.edit("/home/ada/shop/web/new.go", "a", "b")
			},
			want: []string{"Changed since the last commit, newest first: new.go\n"},
		},
		"an announcement": {
			add: func(m *memory) {
				m.prompt("Fix it.")
				m.reply("The lock is missing in store.go. Let me add it:")
			},
			want:     []string{"Last words: The lock is missing in store.go.\n", "About to: add it\n"},
			unwanted: []string{"Let me"},
		},
	})
}

// What was done last, and what later edits made out of date.
func TestRestoreStatesWhatChangedLater(t *testing.T) {
	t.Parallel()
	checkRestored(t, map[string]restoreCase{
		"a name that a later edit removed": {
			add: func(m *memory) {
				m.prompt("Why does the upload stop?")
				m.reply("It stops because uploadOnce gives up.\n\nSee also pollServer in it.")
				m.prompt("Then mend it.")
				m.edit("/home/ada/shop/up.go", "uploadOnce(file)", "uploadAll(file)")
				m.reply("It goes on now.")
			},
			want: []string{"It stops because uploadOnce gives up. See also pollServer in it. (later changed: [1.0] removed uploadOnce)\n"},
		},
		"a name that is still read afterwards": {
			add: func(m *memory) {
				m.prompt("Why does the upload stop?")
				m.reply("It stops because uploadOnce gives up.")
				m.edit("/home/ada/shop/up.go", "uploadOnce(file)", "uploadAll(file)")
				m.read("/home/ada/shop/other.go", "return uploadOnce(other)")
				m.prompt("And then?")
			},
			unwanted: []string{"later changed"},
		},
		"a name that an edit added again": {
			add: func(m *memory) {
				m.prompt("Why does the upload stop?")
				m.reply("It stops because uploadOnce gives up.")
				m.edit("/home/ada/shop/up.go", "uploadOnce(file)", "uploadAll(file)")
				m.edit("/home/ada/shop/up.go", "uploadAll(file)", "uploadOnce(file)")
				m.prompt("And then?")
			},
			unwanted: []string{"later changed"},
		},
		"a statement that wants the name removed": {
			add: func(m *memory) {
				m.prompt("What is to be done?")
				m.reply("Replace uploadOnce by uploadAll in up.go.")
				m.edit("/home/ada/shop/up.go", "uploadOnce(file)", "uploadAll(file)")
				m.prompt("And then?")
			},
			unwanted: []string{"later changed"},
		},
		"a rebase commits": {
			add: func(m *memory) {
				m.prompt("Rebase it.")
				m.edit("/home/ada/shop/up.go", "once", "again")
				m.run("git add -A && GIT_EDITOR=true git rebase --continue", 0, "Successfully rebased.")
				m.edit("/home/ada/shop/down.go", "once", "again")
			},
			want: []string{"Changed since the last commit, newest first: down.go\n"},
		},
		"the last steps of the turn": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.edit("/home/ada/shop/up.go", "once", "again")
				m.read("/home/ada/shop/other.go", "package shop")
				m.edit("/home/ada/shop/down.go", "once", "again")
				m.run("go test ./...", 1, "--- FAIL: TestUpload (0.00s)")
				m.edit("/home/ada/shop/up.go", "again", "twice")
				m.run("go test ./...", 0, "ok")
			},
			want: []string{"- Last steps: [0.0] changed up.go, down.go; [0.3] failed: `go test ./...`; [0.4] changed up.go\n"},
		},
	})
}

// Of a slash command's expansion the rules are restored, redacted; of a plan, all of it.
func TestRestoreReadsExpansionsAndPlans(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.prompt("/implement 7")
	m.read("/home/ada/shop/.impl/plan.md", "# Plan\nThe tide table moves to api/tides.go, because two readers share it.")
	log := func(_ context.Context, _ string, from, to int, _ int64) ([]transcript.Message, error) {
		if from != 0 {
			t.Errorf("read lines %d to %d", from, to)
		}
		return []transcript.Message{{Prompt: "/implement 7", Expansion: "Follow these steps:\n1. Run the checks.\nNEVER delete the folder .impl, its key is sk-live-0123456789."}}, nil
	}
	text := restore(t, m, compact.Request{Budget: 9500, Log: log, Redact: noKeys}).Text
	for _, want := range []string{"NEVER delete the folder .impl, its key is [key].", "Goal, from .impl/plan.md: Plan\n  Plan:\n  The tide table moves to api/tides.go, because two readers share it."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Count(text, "The tide table moves") != 1 {
		t.Errorf("the plan's first statement is not in it exactly once:\n%s", text)
	}
	if strings.Contains(text, "Run the checks") {
		t.Errorf("a step of the expansion is included:\n%s", text)
	}
}

// Below an open task is what the plan and the slash command say about it.
func TestRestoreGuidesOpenTasks(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.prompt("/implement 7")
	m.read("/home/ada/shop/.impl/plan.md", "# Share the tide table\nTwo readers use it.\n## 1. Tide table\n- move it to api/tides.go\n## 2. Weather readers\n- read it in api/weather.go\n- show it in web/weather.ts\n- test it in api/my_weather.go")
	m.edit("/home/ada/shop/api/weather.go", "tide", "tides.Read()")
	m.task("1", "Phase 1: Tide table", "completed")
	m.task("2", "Phase 2: Weather readers", "in_progress")
	m.task("3", "Submit PR", "pending")
	log := func(context.Context, string, int, int, int64) ([]transcript.Message, error) {
		return []transcript.Message{{Prompt: "/implement 7", Expansion: "### Step 9: Submit PR\n```sh\nmake submit\n```\n### Step 10: Celebrate\nSing a song with the whole team."}}, nil
	}
	text := restore(t, m, compact.Request{Budget: 9500, Log: log}).Text
	for _, want := range []string{
		"Goal, from .impl/plan.md: Share the tide table\n", "in progress: Phase 2: Weather readers\n  [0.0] Weather readers:\n  - read it in api/weather.go (changed at [0.1])\n  - show it in web/weather.ts\n  - test it in api/my_weather.go\n",
		"pending: Submit PR\n  [0] Step 9: Submit PR:\n  make submit\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "Sing a song") {
		t.Errorf("a step that no task names is included:\n%s", text)
	}
}
