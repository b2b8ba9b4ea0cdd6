package task

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// Entry is a segment and its state.
type Entry struct {
	archive.Segment
	Tier       archive.Tier
	Pending    bool // queued and not summarised
	QueuedAt   time.Time
	ArchivedAt time.Time
	Pruned     bool
	// Versions are the earlier summaries, oldest first.
	Versions []archive.Segment
}

// State is the state of the segments of one session, or of all, derived from facts.
type State struct {
	Entries []Entry // in the order of their first facts
	index   map[string]int
}

// LoadState reads the state of a session's segments, or of all segments if session is
// empty.
func LoadState(ctx context.Context, src FactStore, session string) (*State, error) {
	facts, err := src.Facts(ctx, session, archive.JournalSegment)
	if err != nil {
		return nil, err
	}
	return Fold(facts), nil
}

// Fold derives a state from journal entries in order of time. Invalid entries are
// ignored.
func Fold(entries []archive.JournalEntry) *State {
	s := StateOf(nil, time.Time{})
	for _, e := range entries {
		if f, ok := archive.FactOf[archive.SegmentFact](&e); ok && f.Segment.ID != "" {
			f.Segment.Session = cmp.Or(f.Segment.Session, e.Session)
			s.apply(f, e.Time)
		}
	}
	s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return e.Content == "" && !e.Pending })
	clear(s.index)
	for i, e := range s.Entries {
		s.index[e.ID] = i
	}
	return s
}

// StateOf derives a state from facts of one time.
func StateOf(facts []archive.SegmentFact, when time.Time) *State {
	s := &State{index: map[string]int{}}
	for _, f := range facts {
		s.apply(f, when)
	}
	return s
}

func (s *State) apply(f archive.SegmentFact, when time.Time) {
	i, known := s.index[f.Segment.ID]
	if !known {
		if !slices.Contains([]archive.SegmentEvent{archive.SegmentQueued, archive.SegmentSummarised, archive.SegmentSaved, archive.SegmentImported}, f.Event) {
			return // the other facts have no segment data
		}
		i = len(s.Entries)
		s.index[f.Segment.ID] = i
		s.Entries = append(s.Entries, Entry{Segment: f.Segment, Tier: archive.TierHot})
		s.Entries[i].Content = ""
	}
	e := &s.Entries[i]
	switch f.Event {
	case archive.SegmentQueued:
		if e.Content == "" {
			e.Pending, e.QueuedAt = true, when
		}
	case archive.SegmentSummarised:
		if e.Content == "" { // otherwise another process was first
			e.setSummary(f.Segment)
		}
	case archive.SegmentSaved, archive.SegmentImported:
		if f.Segment.Content != "" && f.Segment.Content != e.Content {
			e.setSummary(f.Segment)
		}
	case archive.SegmentArchived:
		if e.Content != "" && e.Tier != archive.TierCold {
			e.Tier, e.ArchivedAt = archive.TierCold, when
		}
	case archive.SegmentPruned:
		e.Pruned, e.KeyDecisions, e.KeyFiles, e.Metadata, e.Versions = true, nil, nil, archive.SegmentMetadata{}, nil
	case archive.SegmentRead:
		e.AccessCount++
		e.LastAccessed = when
	case archive.SegmentCleared:
		e.Pending = false
	case archive.SegmentRemoved:
		*e = Entry{Segment: archive.Segment{ID: e.ID, Session: e.Session}, Tier: archive.TierHot}
	}
}

// setSummary sets the segment's summary and keeps the previous one.
func (e *Entry) setSummary(s archive.Segment) {
	if e.Content != "" {
		e.Versions = append(e.Versions, e.Segment)
	}
	s.AccessCount, s.LastAccessed = max(s.AccessCount, e.AccessCount), latest(s.LastAccessed, e.LastAccessed)
	s.Ratio = ratio(s)
	e.Segment, e.Pending, e.Pruned = s, false, false
	if e.Tier == archive.TierHot {
		e.Tier = archive.TierWarm
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Get returns the segment with this ID.
func (s *State) Get(id string) (Entry, bool) {
	if i, ok := s.index[id]; ok {
		return s.Entries[i], true
	}
	return Entry{}, false
}

// Find returns the segment with this ID or prefix of an ID.
func (s *State) Find(prefix string) (Entry, error) {
	if e, ok := s.Get(prefix); ok {
		return e, nil
	}
	found := archive.Select(s.Entries, func(e Entry) bool { return hasIDPrefix(e.ID, prefix) })
	switch {
	case prefix == "" || len(found) == 0:
		return Entry{}, archive.NotFound("there is no segment "+archive.Clip(prefix, 60), "`strandline segments` lists them")
	case len(found) > 1:
		return Entry{}, ambiguous(prefix)
	}
	return found[0], nil
}

// hasIDPrefix reports whether a segment's ID starts with prefix, with or without
// "seg-".
func hasIDPrefix(id, prefix string) bool {
	return strings.HasPrefix(id, prefix) || strings.HasPrefix(strings.TrimPrefix(id, "seg-"), prefix)
}

func ambiguous(prefix string) error {
	return &archive.Error{Code: archive.CodeAmbiguous, Msg: "more than one segment begins with " + archive.Clip(prefix, 60), Hint: "give more letters of its id"}
}

// Pending returns the queued segments without a summary, oldest first.
func (s *State) Pending() []Entry {
	return archive.Select(s.Entries, func(e Entry) bool { return e.Pending })
}

// Summarised returns the segments with a summary.
func (s *State) Summarised() []Entry {
	return archive.Select(s.Entries, func(e Entry) bool { return e.Content != "" })
}

// Kept returns the summaries that a compaction includes verbatim: of warm segments that
// ended by the moment now, latest first.
func (s *State) Kept(now int) []Entry {
	out := archive.Select(s.Entries, func(e Entry) bool { return e.Tier == archive.TierWarm && e.End <= now })
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(b.End, a.End) })
	return out
}

// Search returns the segments whose summary or topic contains a word of the query, those
// with most of its words first. Archived segments are included only if cold is set.
func (s *State) Search(query string, cold bool) []Entry {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(terms.Index(query)) {
		if !terms.Stop(w) {
			words[w] = true
		}
	}
	found := map[string]int{} // words, by segment
	out := archive.Select(s.Summarised(), func(e Entry) bool {
		found[e.ID] = countFound(e.Topic+"\n"+e.Content, words)
		return found[e.ID] > 0 && (cold || e.Tier != archive.TierCold)
	})
	slices.SortStableFunc(out, func(a, b Entry) int {
		return cmp.Or(found[b.ID]-found[a.ID], b.CompressedAt.Compare(a.CompressedAt))
	})
	return out
}

// Relevance estimates how likely a segment is needed again, from 0 to 1: 0.4 for its
// age (halved every 50 steps), and 0.2 each for accesses, decisions and errors.
func Relevance(s archive.Segment, now int) float64 {
	r := 0.4 * math.Exp2(-float64(max(now-s.End, 0))/50)
	r += 0.2 * (1 - 1/float64(1+s.AccessCount))
	if len(s.KeyDecisions) > 0 {
		r += 0.2
	}
	if s.Metadata.ContainsErrors {
		r += 0.2
	}
	return math.Round(r*1000) / 1000
}
