package task

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Entry is a segment with all that happened to it.
type Entry struct {
	archive.Segment
	Tier       archive.Tier
	Pending    bool // queued, and no summary yet
	QueuedAt   time.Time
	ArchivedAt time.Time
	Pruned     bool
	// Versions are the summaries before this one, oldest first.
	Versions []archive.Segment
}

// State is what happened to the segments of one session, or of all.
type State struct {
	Entries []Entry // in the order in which they were first heard of
	at      map[string]int
}

// LoadState reads the state of a session's segments; an empty session reads all.
func LoadState(ctx context.Context, src interface {
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
}, session string) (*State, error) {
	facts, err := src.Facts(ctx, session, archive.JournalSegment)
	if err != nil {
		return nil, err
	}
	return Fold(facts), nil
}

// Fold makes a state of journal entries in the order of time. An entry that
// cannot be read, or that makes no sense, changes nothing.
func Fold(entries []archive.JournalEntry) *State {
	s := &State{at: map[string]int{}}
	for _, e := range entries {
		var f archive.SegmentFact
		if json.Unmarshal(e.Data, &f) == nil && f.Segment.ID != "" {
			f.Segment.Session = cmp.Or(f.Segment.Session, e.Session)
			s.apply(f, e.Time)
		}
	}
	s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return e.Content == "" && !e.Pending })
	s.number()
	return s
}

// Of is the state that facts of one moment make.
func Of(facts []archive.SegmentFact, when time.Time) *State {
	s := &State{at: map[string]int{}}
	for _, f := range facts {
		s.apply(f, when)
	}
	return s
}

func (s *State) number() {
	clear(s.at)
	for i, e := range s.Entries {
		s.at[e.ID] = i
	}
}

func (s *State) apply(f archive.SegmentFact, when time.Time) {
	i, known := s.at[f.Segment.ID]
	carries := f.Event == archive.SegmentQueued || f.Event == archive.SegmentSummarised ||
		f.Event == archive.SegmentSaved || f.Event == archive.SegmentImported
	if !known {
		if !carries {
			return
		}
		i = len(s.Entries)
		s.at[f.Segment.ID] = i
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
		if e.Content == "" { // a second process that came too late changes nothing
			e.write(f.Segment)
		}
	case archive.SegmentSaved, archive.SegmentImported:
		if f.Segment.Content != "" && f.Segment.Content != e.Content {
			e.write(f.Segment)
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
	}
}

// write gives the segment a summary and keeps the one before.
func (e *Entry) write(s archive.Segment) {
	if e.Content != "" {
		e.Versions = append(e.Versions, e.Segment)
	}
	s.AccessCount, s.LastAccessed = max(s.AccessCount, e.AccessCount), latest(s.LastAccessed, e.LastAccessed)
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

// Get returns the segment of an id.
func (s *State) Get(id string) (Entry, bool) {
	i, ok := s.at[id]
	if !ok {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Find returns the segment that an id, or the beginning of one, names.
func (s *State) Find(prefix string) (Entry, error) {
	if e, ok := s.Get(prefix); ok {
		return e, nil
	}
	var found []Entry
	for _, e := range s.Entries {
		if strings.HasPrefix(e.ID, prefix) || strings.HasPrefix(strings.TrimPrefix(e.ID, "seg-"), prefix) {
			found = append(found, e)
		}
	}
	switch {
	case prefix == "" || len(found) == 0:
		return Entry{}, archive.NotFound("there is no segment "+archive.Clip(prefix, 60), "`strandline segments` lists them")
	case len(found) > 1:
		return Entry{}, &archive.Error{Code: archive.CodeAmbiguous, Msg: "more than one segment begins with " + archive.Clip(prefix, 60), Hint: "give more letters of its id"}
	}
	return found[0], nil
}

// Pending returns the segments that wait for a summary, longest first waiting.
func (s *State) Pending() []Entry {
	return s.only(func(e Entry) bool { return e.Pending })
}

// Summarised returns the segments that have a summary.
func (s *State) Summarised() []Entry {
	return s.only(func(e Entry) bool { return e.Content != "" })
}

// Kept returns the summaries that a compaction is given word for word: of warm
// segments that ended by the moment now, the last ones first.
func (s *State) Kept(now int) []Entry {
	out := s.only(func(e Entry) bool { return e.Tier == archive.TierWarm && e.End <= now })
	slices.SortStableFunc(out, func(a, b Entry) int { return cmp.Compare(b.End, a.End) })
	return out
}

func (s *State) only(keep func(Entry) bool) (out []Entry) {
	for _, e := range s.Entries {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
}

// Relevance is how likely a segment is looked for again, from 0 to 1: two fifths
// for how lately it ended (half after 50 steps), a fifth for being read, a fifth
// each for decisions and for errors in it.
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
