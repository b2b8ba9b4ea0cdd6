package usage_test

import (
	"testing"
	"time"

	"strandline/internal/usage"
)

// TestPace: the fourth automatic compaction within ten minutes is left to the client,
// which is reported once; a slower pace clears it.
func TestPace(t *testing.T) {
	const id = "7f3a12cd-0000-4000-8000-000000000001"
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	p := usage.Pace{Dir: t.TempDir()}
	for i, step := range []struct {
		minute       int
		trigger      string
		aside, first bool
	}{
		{0, "auto", false, false},
		{1, "manual", false, false}, // does not count
		{2, "auto", false, false},
		{4, "auto", false, false},
		{6, "auto", true, true},
		{7, "auto", true, false},
		{7, "manual", false, false}, // answered
		{13, "auto", true, false},
		{30, "auto", false, false},
		{31, "auto", false, false},
		{32, "auto", false, false},
		{33, "auto", true, true},
	} {
		now := start.Add(time.Duration(step.minute) * time.Minute)
		aside, err := p.Begin(id, step.trigger, now)
		if aside != step.aside || err != nil {
			t.Errorf("%d: Begin = %t, %v", i, aside, err)
		}
		again, first, err := p.Aside(id, now.Add(time.Second))
		if again != step.aside || first != step.first || err != nil {
			t.Errorf("%d: Aside = %t, %t, %v", i, again, first, err)
		}
	}
	if aside, _, _ := p.Aside(id, start.Add(time.Hour)); aside {
		t.Error("still aside after an hour")
	}
	if aside, err := (usage.Pace{}).Begin(id, "auto", start); aside || err != nil {
		t.Error("a pace without a folder counts")
	}
}
