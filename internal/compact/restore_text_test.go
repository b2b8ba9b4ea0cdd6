package compact_test

import (
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

// Cases in which a restored context could mislead its reader.
func TestRestoreIsNotMisleading(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add            func(m *memory)
		want, unwanted []string
	}{
		"an answer with its question": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.reply("The retryBudget is in internal/retry.go.\nI can double it, or wait longer.\n\n**Shall I double it?**")
				m.prompt("yep, do that")
				m.reply("Doubling the retryBudget now.")
			},
			want: []string{"Latest: yep, do that", "Question before the latest request: The retryBudget is in internal/retry.go.", "Shall I double it?**\n"},
		},
		"a complete prompt": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.reply("The retryBudget is in internal/retry.go. Shall I double it?")
				m.prompt("Leave the retryBudget as it is, and instead look at why internal/upload.go closes its connection before the server has answered the first time.")
				m.reply("Looking at internal/upload.go.")
			},
			unwanted: []string{"Question before"},
		},
		"a statement is not a question": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.reply("The retryBudget is in internal/retry.go.")
				m.prompt("go on")
			},
			unwanted: []string{"Question before"},
		},
		"a prompt sent twice": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.prompt("Does entire_resume take the same path?")
				m.prompt("Does entire_resume take the same path?")
				m.reply("It does, in internal/resume.go.")
			},
			want:     []string{"[7f3a12cd/2] Latest: Does entire_resume"},
			unwanted: []string{"[7f3a12cd/1]"},
		},
		"short assent": {
			add: func(m *memory) {
				m.prompt("Make the upload retry.")
				m.prompt("yes")
				m.prompt("[image]")
				m.prompt("Now the download in internal/download.go, please.")
			},
			unwanted: []string{"yes", "[image]"},
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
			want: []string{"Assistant: The root cause is"},
		},
		"bold text and lists": {
			add: func(m *memory) {
				m.prompt("What did you find?")
				m.reply("I looked at it.\n- **Root cause:** `retryBudget` is never reset in the loop\n- The fix is to set `queueDepth` instead of `retryBudget`")
				m.run("make check", 0, "ok")
				m.reply("All is well.")
				m.reply("And still is.")
			},
			want: []string{"Root cause: `retryBudget` is never reset in the loop; The fix is to set `queueDepth`"},
		},
	} {
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
	text, err := compact.Preserve(t.Context(), m, compact.Request{Session: m.session.ID, Budget: 9500})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "ran `make test`, exit 0") || strings.Contains(text, "Unresolved errors") || strings.Contains(text, "// Never") || !strings.Contains(text, "because the queueDepth is never zero") {
		t.Errorf("wrong outcome of a command:\n%s", text)
	}
}
