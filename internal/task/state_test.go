package task_test

import (
	"testing"
	"time"

	"strandline/internal/archive"
)

func TestSearch(t *testing.T) {
	m := newMemory()
	put := func(minute int, event archive.SegmentEvent, id, topic, content string) {
		m.fact(archive.JournalSegment, noon().Add(time.Duration(minute)*time.Minute), archive.SegmentFact{Event: event, Segment: archive.Segment{
			ID: id, Session: session, Topic: topic, Content: content, CompressedAt: noon().Add(time.Duration(minute) * time.Minute),
		}})
	}
	put(1, archive.SegmentSummarised, "seg-1", "Tides", "parseConfigFile reads the harbour's tides")
	put(2, archive.SegmentSummarised, "seg-2", "Charts", "the harbour is drawn")
	put(3, archive.SegmentSummarised, "seg-3", "Old", "the harbour of old, with its tides")
	put(4, archive.SegmentArchived, "seg-3", "", "")
	put(5, archive.SegmentQueued, "seg-4", "harbour", "")
	for _, c := range []struct {
		query string
		cold  bool
		want  []string
	}{
		{"harbour tides", false, []string{"seg-1", "seg-2"}},
		{"harbour tides", true, []string{"seg-3", "seg-1", "seg-2"}},
		{"config", true, []string{"seg-1"}},
		{"the of", true, nil},
		{"walrus", true, nil},
	} {
		var got []string
		for _, e := range m.state(t).Search(c.query, c.cold) {
			got = append(got, e.ID)
		}
		if len(got) != len(c.want) {
			t.Errorf("%q, cold %t: got %v, want %v", c.query, c.cold, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%q, cold %t: got %v, want %v", c.query, c.cold, got, c.want)
			}
		}
	}
}
