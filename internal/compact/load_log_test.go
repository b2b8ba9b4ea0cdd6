package compact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// partial is a session with truncated passages, and its conversation: a command
// with a long output, a file that was read and one that was edited.
func partial() (*memory, []transcript.Message) {
	m, c := newMemory(), &talk{}
	m.prompt("Why does the nightly import stop?")
	mark := func() {
		m.calls[len(m.calls)-1].ToolID = fmt.Sprintf("toolu_%d", c.n)
		m.passages[len(m.passages)-1].Partial = true
	}
	c.run("./nightly.sh", "begin of run\nthe worker importBatch stopped because retry_limit was reached\nend of run", false)
	m.run("./nightly.sh", 0, "begin of run\n…\nend of run")
	mark()
	c.read("/home/ada/shop/batch.go", "package batch\n// retryLimit says how often importBatch is tried again before it gives up\nconst retryLimit = 3")
	m.read("/home/ada/shop/batch.go", "package batch\n…")
	mark()
	c.change("/home/ada/shop/batch.go", "const retryLimit = 3", "const retryLimit = 5 // since importBatch meets slow disks, see slowDiskNote\nvar apiKey = \"sk-live-0123456789\"")
	m.edit("/home/ada/shop/batch.go", "const…", "const…")
	mark()
	m.reply("The import is tried again now.")
	return m, c.ms
}

// logOf returns messages and records the requests.
func logOf(ms []transcript.Message, asked *[]int) func(context.Context, string, int, int, int64) ([]transcript.Message, error) {
	return func(_ context.Context, _ string, from, to int, _ int64) ([]transcript.Message, error) {
		*asked = append(*asked, from, to)
		return ms, nil
	}
}

func noKeys(s string) string { return strings.ReplaceAll(s, "sk-live-0123456789", "[key]") }

func TestLargeBudgetReadsTheTranscript(t *testing.T) {
	t.Parallel()
	m, ms := partial()
	var asked []int
	b := restore(t, m, compact.Request{Budget: 30_000, Log: logOf(ms, &asked), Redact: noKeys})
	for what, want := range map[string]string{
		"a line from the middle of an output": "importBatch stopped because retry_limit was reached",
		"a line of a file":                    "retryLimit says how often importBatch is tried again",
		"a line of a change":                  "since importBatch meets slow disks, see slowDiskNote",
		"a secret's placeholder":              "[key]",
	} {
		if !strings.Contains(b.Text, want) {
			t.Errorf("%s is missing: %q\n%s", what, want, b.Text)
		}
	}
	if strings.Contains(b.Text, "sk-live") {
		t.Errorf("a secret was not redacted:\n%s", b.Text)
	}
	if strings.Contains(b.Text, "const retryLimit = 3") {
		t.Errorf("a changed line is included:\n%s", b.Text)
	}
	if len(asked) != 2 || asked[0] != 1 || asked[1] != 0 {
		t.Errorf("read lines %v, want one read from the first truncated passage to the end", asked)
	}
	checkFenced(t, b.Text, 30_000)
}

func TestSmallBudget(t *testing.T) {
	t.Parallel()
	t.Run("with little to choose from draws on the transcript", func(t *testing.T) {
		m, ms := partial()
		var asked []int
		b := restore(t, m, compact.Request{Budget: 9500, Log: logOf(ms, &asked)})
		if len(asked) == 0 || !strings.Contains(b.Text, "retry_limit") {
			t.Errorf("the transcript was not read: %v\n%s", asked, b.Text)
		}
	})
	t.Run("with enough leaves it alone", func(t *testing.T) {
		m, ms := partial()
		for i := range 40 {
			m.run(fmt.Sprintf("make part_%02d", i), 0, strings.Repeat(fmt.Sprintf("the part_%02d is built from its own sources\n", i), 30))
		}
		var asked []int
		if b := restore(t, m, compact.Request{Budget: 9500, Log: logOf(ms, &asked)}); len(asked) > 0 || strings.Contains(b.Text, "retry_limit") {
			t.Errorf("the transcript was read: %v\n%s", asked, b.Text)
		}
	})
}

func TestLargeBudgetWithoutATranscript(t *testing.T) {
	t.Parallel()
	m, _ := partial()
	small := restore(t, m, compact.Request{Budget: 9500}).Text
	if large := restore(t, m, compact.Request{Budget: 30_000}).Text; large == "" || text.Units(large) < text.Units(small) {
		t.Errorf("%d units with a large budget, %d with a small one", text.Units(large), text.Units(small))
	}
	failing := func(context.Context, string, int, int, int64) ([]transcript.Message, error) {
		return nil, errors.New("the disk failed")
	}
	_, err := compact.Restore(t.Context(), m, compact.Request{Session: sessionID, Budget: 30_000, Log: failing})
	if err == nil || !strings.Contains(err.Error(), "the disk failed") {
		t.Errorf("got error %v", err)
	}
}

// Results after atLine, and ambiguous calls, stay as the index has them.
func TestCompleteSkipsAmbiguousCalls(t *testing.T) {
	t.Parallel()
	t.Run("a result after the compaction", func(t *testing.T) {
		m, ms := partial()
		var asked []int
		m.calls[0].LineResult = 90
		m.passages[1].LineTo = 2
		b := restore(t, m, compact.Request{Budget: 30_000, AtLine: 80, Log: logOf(ms, &asked)})
		if strings.Contains(b.Text, "retry_limit") {
			t.Errorf("a result after the line is included:\n%s", b.Text)
		}
	})
	t.Run("two calls on one line", func(t *testing.T) {
		m, ms := partial()
		twin := m.calls[0]
		twin.Seq, twin.ToolID = 1, "toolu_9"
		m.calls = append([]archive.Call{m.calls[0], twin}, m.calls[1:]...)
		b := restore(t, m, compact.Request{Budget: 30_000, Log: logOf(ms, &[]int{})})
		if strings.Contains(b.Text, "retry_limit") || !strings.Contains(b.Text, "slowDiskNote") {
			t.Errorf("want the truncated output and the complete edit:\n%s", b.Text)
		}
	})
	t.Run("a very long output", func(t *testing.T) {
		m, ms := partial()
		long := strings.Repeat("the worker is still waiting for its turn\n", 5000)
		ms[1].Results[0].Text = "at first it called openLedger with lockTimeout\n" + long + "at last it called closeLedger with lockTimeout\n"
		b := restore(t, m, compact.Request{Budget: 30_000, Log: logOf(ms, &[]int{})})
		if !strings.Contains(b.Text, "openLedger") || !strings.Contains(b.Text, "closeLedger") {
			t.Errorf("the ends of a long output are missing:\n%s", b.Text)
		}
	})
}

func TestReplaceReadsTheConversation(t *testing.T) {
	t.Parallel()
	m, ms := partial()
	c := talk{ms: ms, n: 3}
	c.say("The import is tried again now.").filler(9000).ask("Thanks. What else?").say("Nothing.")
	out := replace(t, m, compact.ReplaceRequest{Session: sessionID, Messages: c.ms, Budget: 4000, Redact: noKeys})
	if !strings.Contains(out.Text, "retry_limit was reached") || strings.Contains(out.Text, "sk-live") {
		t.Errorf("want the middle of the output and no secret:\n%s", out.Text)
	}
}
