package task_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// parserSession is a session whose task was completed 30 steps ago.
func parserSession() *memory {
	m := newMemory().prompt("Write the tokenizer of the parser")
	m.step(event("1", "in_progress", "Write the tokenizer"), say("The tokenizer reads runes because bytes break names."))
	m.step(edit("/w/lex/tokenizer.go"), run("go test ./lex", "undefined: nextRune"))
	m.step(say("The issue was that nextRune is missing in tokenizer.go."), edit("/w/lex/tokenizer.go"))
	m.step(run("go test ./lex", ""), event("1", "completed", ""), say("All tests pass: tokenizer.go reads runes now."))
	m.prompt("Draw a chart of the tides")
	for i := range 30 {
		m.step(say(fmt.Sprintf("Chart number %d of the tides is drawn.", i)), edit("/w/chart.go"))
	}
	return m
}

func events(facts []archive.SegmentFact) string {
	var out []string
	for _, f := range facts {
		out = append(out, string(f.Event)+" "+f.Segment.Task+f.Segment.Topic)
	}
	return strings.Join(out, ", ")
}

// store records facts like the journal.
func (m *memory) store(facts []archive.SegmentFact, at time.Time) {
	for _, f := range facts {
		m.fact(archive.JournalSegment, at, f)
	}
}

func (m *memory) state(t testing.TB) *task.State {
	t.Helper()
	s, err := task.LoadState(t.Context(), m, session)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The share of the window decides whether cold segments are left, queued or summarised.
// No segment is processed twice.
func TestThresholds(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{
		{0, ""}, {0.59, ""}, {0.60, "queued 1Write the tokenizer"}, {0.69, "queued 1Write the tokenizer"},
		{0.70, "summarised 1Write the tokenizer"}, {0.95, "summarised 1Write the tokenizer"}, {2, "summarised 1Write the tokenizer"},
	} {
		t.Run(fmt.Sprint(c.share), func(t *testing.T) {
			m := parserSession()
			facts := m.load(t, 0).Check(m.state(t), c.share, defaults(), noon())
			if got := events(facts); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			m.store(facts, noon())
			if again := m.load(t, 0).Check(m.state(t), c.share, defaults(), noon()); len(again) > 0 {
				t.Errorf("a second look gives %s", events(again))
			}
		})
	}
}

// A segment moves from L1 to L2 to L3, and is pruned after thirty days.
func TestTiers(t *testing.T) {
	m, now, opt := parserSession(), noon(), defaults()
	tier := func() string {
		e := m.state(t).Entries
		if len(e) != 1 {
			t.Fatalf("%d segments", len(e))
		}
		return fmt.Sprint(e[0].Tier, " ", e[0].Pending, " ", e[0].Pruned, " ", len(e[0].KeyFiles))
	}
	check := func(share float64) { m.store(m.load(t, 0).Check(m.state(t), share, opt, now), now) }
	want := func(s string) {
		t.Helper()
		if got := tier(); got != s {
			t.Errorf("at step %d: %s, want %s", len(m.steps), got, s)
		}
	}
	check(0.60)
	want("L1 true false 0")
	check(0.70)
	want("L2 false false 1")
	check(0.85) // not 50 steps ago
	want("L2 false false 1")
	for len(m.steps) < 54 {
		m.step(say("Another chart of the sea, nothing else."), edit("/w/chart.go"))
	}
	check(0.80) // above 80 percent, not at it
	want("L2 false false 1")
	check(0.81)
	want("L3 false false 1")
	now = now.Add(opt.PruneAfter - time.Second)
	check(0.2)
	want("L3 false false 1")
	now = now.Add(time.Second)
	if facts := m.state(t).Prune(opt, now); events(facts) != "pruned " {
		t.Errorf("maintenance returns %s", events(facts))
	}
	check(0)
	want("L3 false true 0")
	if e := m.state(t).Entries[0]; e.Content == "" {
		t.Error("the text of the summary is missing")
	}
	check(0)
	want("L3 false true 0")
}

func TestCold(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *memory)
		want   bool
	}{
		"as it is":                      {func(*memory) {}, true},
		"mentioned by name":             {func(m *memory) { m.step(say("Back to write the tokenizer, it is slow.")) }, false},
		"mentioned by its words":        {func(m *memory) { m.step(say("I will write another tokenizer.")) }, false},
		"asked for again":               {func(m *memory) { m.prompt("What does the tokenizer write?").idle(1) }, false},
		"mentioned long ago":            {func(m *memory) { m.step(say("Write the tokenizer?")).idle(20) }, true},
		"opened again":                  {func(m *memory) { m.step(event("1", "in_progress", "")) }, false},
		"dropped":                       {func(m *memory) { m.step(event("1", "deleted", "")).idle(21) }, false},
		"a command that only names it":  {func(m *memory) { m.step(run("grep -rn write tokenizer", "")) }, true},
		"the work was finished now":     {func(m *memory) { m.step(event("1", "completed", "")) }, false},
		"twenty steps later: not yet":   {func(m *memory) { m.step(event("1", "completed", "")).idle(20) }, false},
		"twenty-one steps later: it is": {func(m *memory) { m.step(event("1", "completed", "")).idle(21) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := parserSession()
			c.change(m)
			p := m.load(t, 0)
			if got := p.Cold(p.List()[0], len(p.Steps), 20, 5); got != c.want {
				t.Errorf("cold: %t, want %t", got, c.want)
			}
		})
	}
}

// A segment of one response is not summarised.
func TestShortSegmentIsNotCold(t *testing.T) {
	m := newMemory().step(event("1", "in_progress", "Look at it")).step(event("1", "completed", "")).idle(30)
	p := m.load(t, 0)
	if one := p.List()[0]; p.Cold(one, len(p.Steps), 20, 6) || !p.Cold(one, len(p.Steps), 20, 5) {
		t.Error("two responses and a prompt are five messages")
	}
}

// Without a task list, the topics are the segments. The current one is never cold.
func TestTopicsAreSegments(t *testing.T) {
	m := newMemory().prompt("Please write the tokenizer for arithmetic expressions with runes and names")
	for i := range 8 {
		m.step(say(fmt.Sprintf("Tokenizer part %d scans runes, names and numbers.", i)), edit("/w/lex/tokenizer.go"))
	}
	m.prompt("Draw charts of tides at harbours, weekly, colourful, printable on posters")
	for i := range 30 {
		m.step(say(fmt.Sprintf("Harbour chart %d shows colourful weekly tides on posters.", i)), edit("/w/chart.go"))
	}
	p := m.load(t, 0)
	got := p.Segments()
	if len(got) != 2 || got[0].Kind != task.KindTopic || got[0].End != 8 || got[0].Open() || !got[1].Open() {
		t.Fatalf("got\n%s", shape(got))
	}
	facts := p.Check(m.state(t), 0.7, defaults(), noon())
	if len(facts) != 1 || facts[0].Segment.Task != "topic-0.0" || facts[0].Segment.Metadata.TaskCompleted {
		t.Errorf("got %s", events(facts))
	}
	if all := p.All(); len(all) != 2 {
		t.Errorf("tasks are\n%s", shape(all))
	}
}

// Topics between tasks are segments as well, but not tasks.
func TestTopicsBetweenTasks(t *testing.T) {
	m := newMemory().idle(12).step(event("1", "in_progress", "Write it")).idle(3).step(event("1", "completed", "")).idle(4)
	p := m.load(t, 0)
	if got := shape(p.Segments()); !strings.Contains(got, "1 task completed [12,17)") || !strings.Contains(got, "topic-0.0 topic completed [0,12)") || strings.Contains(got, "[17,") {
		t.Errorf("got\n%s", got)
	}
	if got := p.All(); len(got) != 1 {
		t.Errorf("tasks are\n%s", shape(got))
	}
}

func TestBoundariesAreStable(t *testing.T) {
	subjects := []string{
		"tokenizer runes scanner lexer keywords", "harbour tides charts moon poster", "invoice payment gateway retry refund", "kernel driver interrupt firmware socket",
	}
	m := newMemory()
	for turn := range 12 {
		words := subjects[turn/3]
		m.prompt(words)
		for range 4 {
			m.step(say(words), edit("/w/"+strings.Fields(words)[0]+".go"))
		}
	}
	p := m.load(t, 0)
	if all := p.Boundaries(0, len(p.Steps)); fmt.Sprint(moments(all)) != "[12 24 36]" {
		t.Fatalf("boundaries at %v", all)
	}
	for n := 20; n < len(p.Steps); n++ {
		for _, at := range moments(p.Boundaries(0, n)) {
			if at%12 != 0 {
				t.Errorf("with %d steps there is one at %d", n, at)
			}
		}
	}
}

func moments(bs []task.Boundary) (out []int) {
	for _, b := range bs {
		out = append(out, b.Moment)
	}
	return out
}

// defaults are the documented options.
func defaults() task.Options {
	return task.Options{
		Queue: 0.60, Summarise: 0.70, Archive: 0.80, ColdAfter: 20, Messages: 5, ArchiveAfter: 50, PruneAfter: 30 * 24 * time.Hour,
	}
}
