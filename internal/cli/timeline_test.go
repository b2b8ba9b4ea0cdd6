package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/task"
)

func TestSparkline(t *testing.T) {
	for want, c := range map[string]struct {
		points []int64
		width  int
	}{
		"▁▃▅█":     {[]int64{0, 25, 50, 100}, 10},
		"▃█":       {[]int64{0, 25, 50, 100}, 2},
		"█":        {[]int64{7}, 10},
		"▁▁":       {[]int64{0, 0}, 10},
		"█▁▅":      {[]int64{100, 10, 50}, 3},
		"▁▁▁▁▁▁▁█": {[]int64{1, 1, 1, 1, 1, 1, 1, 1_000_000}, 80},
	} {
		if got := sparkline(c.points, c.width); got != want {
			t.Errorf("%v in %d: %s, want %s", c.points, c.width, got, want)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		points := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 300).Draw(r, "points")
		width := rapid.IntRange(-5, 200).Draw(r, "width")
		if n := utf8.RuneCountInString(sparkline(points, width)); n > max(width, 1) || n == 0 {
			r.Fatalf("%d characters in %d", n, width)
		}
	})
}

func TestWorkLine(t *testing.T) {
	fact := func(event archive.SegmentEvent, content string) *task.State {
		s := archive.Segment{ID: task.SegmentID("s", "1"), Session: "s", OriginalTokens: 4000, CompressedTokens: 60, Content: content}
		return task.Of([]archive.SegmentFact{{Event: event, Segment: s}}, noon())
	}
	for want, c := range map[string]struct {
		w     task.Task
		state *task.State
	}{
		"✓ Write":               {task.Task{Status: task.Completed, Subject: "Write"}, task.Of(nil, noon())},
		"▸ Plan: Draw":          {task.Task{Status: task.InProgress, Subject: "Draw", Agent: "Plan"}, task.Of(nil, noon())},
		"○ task 9":              {task.Task{Status: task.Pending, ID: "9"}, task.Of(nil, noon())},
		"× Gone":                {task.Task{Status: task.Deleted, Subject: "Gone"}, task.Of(nil, noon())},
		"! Lost":                {task.Task{Status: task.Failed, Subject: "Lost"}, task.Of(nil, noon())},
		"✓ [L1, waits] Write":   {task.Task{Session: "s", ID: "1", Status: task.Completed, Subject: "Write"}, fact(archive.SegmentQueued, "")},
		"✓ [L2 4.0K->60] Write": {task.Task{Session: "s", ID: "1", Status: task.Completed, Subject: "Write"}, fact(archive.SegmentSaved, "x")},
	} {
		if got := strings.TrimSpace(work(c.w, c.state)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
