package sqlite

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// segmentFacts is what happened to segments, by their ids and in the order of time.
type segmentFacts map[string][]archive.SegmentFact

// segmentFacts reads what happened to the segments of a session.
func (s *Store) segmentFacts(ctx context.Context, base string) (segmentFacts, error) {
	entries, err := s.facts(ctx, base, archive.JournalSegment)
	if err != nil {
		return nil, err
	}
	facts := segmentFacts{}
	for _, e := range entries {
		var f archive.SegmentFact
		if json.Unmarshal(e.Data, &f) == nil && f.Segment.ID != "" {
			facts[f.Segment.ID] = append(facts[f.Segment.ID], f)
		}
	}
	return facts, nil
}

// indexSegments makes the passages of segments anew to which something happened: a
// search finds the newest summary while a segment is warm. What they are depends
// on all entries about it, whatever order they come in; those of a session are
// read once, however many of its segments there are.
func (s *Store) indexSegments(ctx context.Context, base string, ids []string) error {
	facts, err := s.segmentFacts(ctx, base)
	if err != nil {
		return err
	}
	no, err := s.intern(ctx, base)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.dropSegment(ctx, no, id); err != nil {
			return err
		}
		ps := index.SegmentPassages(facts[id], base)
		if len(ps) == 0 {
			continue
		}
		if err := s.putPassages(ctx, no, archive.IsAgentID(base), ps); err != nil {
			return err
		}
	}
	return nil
}

// dropSegment removes the passages of a segment.
func (s *Store) dropSegment(ctx context.Context, no int64, id string) error {
	first := index.HookSeq(id)
	return s.dropHookPassages(ctx, no, first, first+index.HookChunks)
}

// moveSegments makes the passages of a session's segments anew under its name,
// after the session with number no lost that name.
func (s *Store) moveSegments(ctx context.Context, id string, no int64) error {
	facts, err := s.segmentFacts(ctx, id)
	if err != nil || len(facts) == 0 {
		return err
	}
	ids := slices.Sorted(maps.Keys(facts))
	for _, segment := range ids {
		if err := s.dropSegment(ctx, no, segment); err != nil {
			return err
		}
	}
	return s.indexSegments(ctx, id, ids)
}
