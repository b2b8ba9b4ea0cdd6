package task_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// lines formats a timeline with one row per line.
func lines(rows []task.TimelineRow) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s %s\n", strings.TrimPrefix(r.At.Handle(), "7f3a12cd"), r.Text(func(n int64) string { return fmt.Sprint(n) }))
	}
	return b.String()
}

func TestTimeline(t *testing.T) {
	m := newMemory()
	m.prompt("Plan the retry").step(event("1", "pending", "Write the retry"), say("I plan."))
	m.step(event("1", "in_progress", ""), edit("/w/retry.go"))
	m.compactions = append(m.compactions, archive.Compaction{Session: session, Turn: 0, Line: m.line, Trigger: "auto", PreTokens: 167_000, PostTokens: 9_000})
	m.prompt("").step(event("1", "completed", ""), agent("Explore", "Look around", "All is there.")).idle(2)
	m.compactions = append(m.compactions, archive.Compaction{Session: session, Turn: 1, Line: m.line, Trigger: "manual", PreTokens: 50, Ours: true})
	got := task.Timeline(m.load(t, 0), task.StateOf(nil, noon()))
	want := `/0 Plan the retry
/0.1 ✓ Write the retry
/0 ── compacted (auto): 167000 -> 9000 ──
/1 (no prompt)
/1.0 ✓ Explore: Look around
/1 ── compacted (manual, by Strandline): 50 ──
`
	if lines(got) != want {
		t.Errorf("got\n%s\nwant\n%s", lines(got), want)
	}
	if got[0].Steps != 2 || got[0].Tokens != 12_100 || got[3].Tokens != 15_100 || !got[3].Time.Equal(noon().Add(2*time.Minute)) {
		t.Errorf("the turns' rows %+v\n%+v", got[0], got[3])
	}
}

// Turns that a fork copied are listed where they were seen first, unless a task started in
// them.
func TestTimelineOfCopiedTurns(t *testing.T) {
	m := newMemory()
	m.prompt("Plan the retry").step(say("I plan."))
	m.prompt("Write it").step(event("1", "in_progress", "Write the retry"), edit("/w/retry.go"))
	m.compactions = append(m.compactions, archive.Compaction{Session: session, Turn: 1, Line: m.line, Trigger: "auto", PreTokens: 50})
	m.prompt("Now the docs").idle(1)
	for i := range 2 {
		m.turns[i].Copy = &archive.Ref{Session: "first", Turn: i, Step: -1}
	}
	got := lines(task.Timeline(m.load(t, 0), task.StateOf(nil, noon())))
	want := "/1 Write it\n/1.0 ▸ Write the retry\n/1 ── compacted (auto): 50 ──\n/2 Now the docs\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A topic is the prompt above it, and has a row only if it has a summary.
func TestTimelineOfTopics(t *testing.T) {
	m := newMemory()
	m.prompt("Make the retry wait").step(edit("/w/retry.go")).idle(3)
	past := m.load(t, 0)
	if got := lines(task.Timeline(past, task.StateOf(nil, noon()))); got != "/0 Make the retry wait\n" {
		t.Errorf("without a summary:\n%s", got)
	}
	topic := past.All()[0]
	segment := archive.Segment{ID: task.SegmentID(topic.Session, topic.ID), Session: topic.Session, OriginalTokens: 4000, CompressedTokens: 60, Content: "Waits."}
	state := task.StateOf([]archive.SegmentFact{{Event: archive.SegmentSaved, Segment: segment}}, noon())
	if got := lines(task.Timeline(past, state)); got != "/0 Make the retry wait\n/0.0 [L2 4000->60]\n" {
		t.Errorf("with a summary:\n%s", got)
	}
}

func TestTaskRow(t *testing.T) {
	summary := func(event archive.SegmentEvent, content string) *task.Entry {
		s := archive.Segment{ID: "x", Session: "s", OriginalTokens: 4000, CompressedTokens: 60, Content: content}
		e, ok := task.StateOf([]archive.SegmentFact{{Event: event, Segment: s}}, noon()).Get("x")
		if !ok {
			t.Fatal("no segment")
		}
		return &e
	}
	for want, r := range map[string]task.TimelineRow{
		"✓ Write":               {Status: task.Completed, What: "Write"},
		"▸ Plan: Draw":          {Status: task.InProgress, What: "Plan: Draw"},
		"○ task 9":              {Status: task.Pending, What: "task 9"},
		"× Gone":                {Status: task.Deleted, What: "Gone"},
		"! Lost":                {Status: task.Failed, What: "Lost"},
		"renamed to what":       {Status: "renamed", What: "renamed to what"},
		"✓ [L1, waits] Write":   {Status: task.Completed, What: "Write", Summary: summary(archive.SegmentQueued, "")},
		"✓ [L2 4000->60] Write": {Status: task.Completed, What: "Write", Summary: summary(archive.SegmentSaved, "x")},
	} {
		r.Kind = task.TimelineTask
		if got := r.Text(func(n int64) string { return fmt.Sprint(n) }); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// histories is a store of file histories.
type histories struct {
	touches []archive.Touch
	err     error
}

func (h *histories) History(context.Context, archive.HistoryFilter) ([]archive.Touch, error) {
	return slices.Clone(h.touches), h.err
}

func TestFileHistory(t *testing.T) {
	touch := func(session string, turn int) archive.Touch {
		return archive.Touch{FileTouch: archive.FileTouch{Session: session, Turn: turn, Kind: archive.CallEdit}}
	}
	read := touch("a", 4)
	read.Kind = archive.CallRead
	src := &histories{touches: []archive.Touch{touch("a", 1), touch("b", 1), touch("a", 2), touch("a", 3), read}}
	for name, c := range map[string]struct {
		q     task.FileQuery
		turns []int
		older int
		reads int
	}{
		"all, oldest first":             {task.FileQuery{}, []int{1, 1, 2, 3}, 0, 1},
		"the newest":                    {task.FileQuery{Limit: 2}, []int{2, 3}, 2, 1},
		"of one session":                {task.FileQuery{Session: "a", Limit: 5}, []int{1, 2, 3}, 0, 1},
		"of one session, the newest":    {task.FileQuery{Session: "a", Limit: 1}, []int{3}, 2, 1},
		"reads as well":                 {task.FileQuery{Reads: true}, []int{1, 1, 2, 3, 4}, 0, 0},
		"of a session that did nothing": {task.FileQuery{Session: "c"}, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := task.FileHistory(t.Context(), src, c.q)
			var turns []int
			for _, x := range got.List {
				turns = append(turns, x.Turn)
			}
			if err != nil || !slices.Equal(turns, c.turns) || got.Older != c.older || got.Reads != c.reads {
				t.Errorf("turns %v, %d older, %d reads, %v", turns, got.Older, got.Reads, err)
			}
		})
	}
	src.err = errors.New("index gone")
	if _, err := task.FileHistory(t.Context(), src, task.FileQuery{}); !errors.Is(err, src.err) {
		t.Errorf("error %v", err)
	}
}
