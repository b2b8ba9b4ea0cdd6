package task_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/task"
)

func TestExtract(t *testing.T) {
	p := parserSession().load(t, 0)
	got := p.Extract(p.List()[0], noon())
	if got.SessionID != session || got.TaskID != "1" || got.Subject != "Write the tokenizer" || got.StartTurn != 0 || got.EndTurn != 0 || !got.CompressedAt.Equal(noon()) {
		t.Errorf("got %+v", got)
	}
	for name, c := range map[string]struct{ got, want []string }{
		"files":    {got.FilesModified, []string{"lex/tokenizer.go"}},
		"commands": {got.CommandsRun, []string{"go test ./lex (ok)"}},
		"errors":   {got.ErrorsResolved, []string{"undefined: nextRune => The issue was that nextRune is missing in tokenizer.go."}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: got %q, want %q", name, c.got, c.want)
		}
	}
	if len(got.KeyOutcomes) == 0 || got.KeyOutcomes[0] != "All tests pass: tokenizer.go reads runes now." {
		t.Errorf("outcomes: %q", got.KeyOutcomes)
	}
}

func TestExtractOmits(t *testing.T) {
	m := newMemory().prompt("Fix it")
	m.step(event("1", "in_progress", "Fix it"), edit("/w/a.go"), run("git status", ""), run("ls -la || true", ""))
	m.calls[0].Failed, m.calls[0].Error = true, "File has not been read yet. Read it first."
	m.step(edit("/w/a.go"), edit("/w/b.go"), edit("/w/b.go"), say("Let me fix the parser because it is wrong."))
	m.step(run("make test", "broken"), event("1", "completed", ""))
	p := m.load(t, 0)
	got := p.Extract(p.List()[0], noon())
	if len(got.ErrorsResolved) != 0 || len(got.KeyOutcomes) != 0 {
		t.Errorf("formalities, open errors and announcements are none of it: %q %q", got.ErrorsResolved, got.KeyOutcomes)
	}
	if want := []string{"b.go", "a.go"}; !slices.Equal(got.FilesModified, want) {
		t.Errorf("files %q, want the most changed first: %q", got.FilesModified, want)
	}
	if want := []string{"make test (exit 1)"}; !slices.Equal(got.CommandsRun, want) {
		t.Errorf("commands %q, want %q", got.CommandsRun, want)
	}
}

// The tokens of a segment are those counted by the API. A compaction subtracts nothing,
// and copied steps without a count are estimated.
func TestTokens(t *testing.T) {
	m := newMemory().idle(5)
	if got := m.load(t, 0).Tokens(1, 3); got != 2000 {
		t.Errorf("two steps of 1000 tokens took %d", got)
	}
	m.steps[3].Usage.CacheRead = 500
	if got := m.load(t, 0).Tokens(1, 4); got != 1000+14500 {
		t.Errorf("with a compaction in between: %d", got)
	}
	for i := range m.steps {
		m.steps[i].Usage = archive.Usage{}
	}
	if got := m.load(t, 0).Tokens(0, 5); got == 0 {
		t.Error("steps without a count took nothing")
	}
}

// The summary of any segment is small and reproducible.
func TestSummariesAreSmall(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m := newMemory().prompt("Work")
		m.step(event("1", "in_progress", "Work"))
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			m.step(say(strings.Repeat(rapid.SampledFrom([]string{"Fixed because of x/y.go. ", "All tests pass now in z. ", "läuft 😀 `a`. "}).Draw(r, "text"), 20)),
				edit("/w/"+rapid.StringMatching(`[a-z]{1,40}\.go`).Draw(r, "file")), run(rapid.StringMatching(`[a-z ]{0,300}`).Draw(r, "command"), rapid.SampledFrom([]string{"", "bad"}).Draw(r, "end")))
		}
		m.step(event("1", "completed", ""))
		p := m.load(t, 0)
		one := p.List()[0]
		a, b := p.Compress(one, noon()), p.Compress(one, noon())
		if a.Content != b.Content {
			r.Fatal("two summaries of one stretch differ")
		}
		if a.CompressedTokens > max(a.OriginalTokens/5, 200) {
			r.Fatalf("%d tokens became %d", a.OriginalTokens, a.CompressedTokens)
		}
	})
}

func TestSegmentNames(t *testing.T) {
	if got := task.SegmentHash("s", "1"); got != "b7348ffd685d297e1dc2c0199372b418" {
		t.Errorf("got %s", got)
	}
	if task.SegmentID("s", "1") == task.SegmentID("s", "2") || !archive.ValidID(task.SegmentID("s", "todo:x y")) {
		t.Error("a segment's id names one task and is a file's name")
	}
}

func TestReport(t *testing.T) {
	fact := func(event archive.SegmentEvent, before, after int) archive.SegmentFact {
		return archive.SegmentFact{Event: event, Segment: archive.Segment{OriginalTokens: before, CompressedTokens: after}}
	}
	for want, facts := range map[string][]archive.SegmentFact{
		"": {fact(archive.SegmentQueued, 9, 1)},
		"Compressed 1 segment (900 -> 90 tokens)": {fact(archive.SegmentSaved, 900, 90)},
		"Compressed 3 segments (6,200 -> 980 tokens)": {
			fact(archive.SegmentSummarised, 6000, 900), fact(archive.SegmentSummarised, 100, 40), fact(archive.SegmentSummarised, 100, 40),
		},
		"Compressed 1 segment (1,234,567 -> 0 tokens)": {fact(archive.SegmentSummarised, 1234567, 0)},
	} {
		if got := task.Report(facts); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRelevance(t *testing.T) {
	at := func(end, reads int, decisions ...string) float64 {
		return task.Relevance(archive.Segment{End: end, AccessCount: reads, KeyDecisions: decisions}, 100)
	}
	if !(at(100, 0) > at(50, 0) && at(50, 1) > at(50, 0) && at(50, 0, "x") > at(50, 0)) {
		t.Error("later, read and deciding segments count more")
	}
	if got := task.Relevance(archive.Segment{End: 200, AccessCount: 1 << 30, KeyDecisions: []string{"x"}, Metadata: archive.SegmentMetadata{ContainsErrors: true}}, 100); got > 1 {
		t.Errorf("%v is more than 1", got)
	}
}
