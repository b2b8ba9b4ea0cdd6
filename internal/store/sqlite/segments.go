package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"strandline/internal/archive"
)

// segmentLabel marks the passages of a segment's summary.
const segmentLabel = "segment"

// indexSegment makes the passages of a segment anew after something happened to
// it: a search finds the newest summary while the segment is warm. What they
// are depends on all entries about it, whatever order they come in.
func (s *Store) indexSegment(ctx context.Context, session, id string) error {
	base := baseID(session)
	entries, err := s.facts(ctx, base, archive.JournalSegment)
	if err != nil {
		return err
	}
	no, err := s.intern(ctx, base)
	if err != nil {
		return err
	}
	first := hookSeq(id)
	if err := s.dropHookPassages(ctx, no, first, first+hookChunks); err != nil {
		return err
	}
	ps := segmentPassages(entries, base, id)
	if len(ps) == 0 {
		return nil
	}
	return s.putPassages(ctx, no, isAgentID(base), ps)
}

// segmentPassages cuts the summary that counts into passages.
func segmentPassages(entries []archive.JournalEntry, session, id string) []archive.Passage {
	var newest archive.Segment
	for _, e := range entries {
		var f archive.SegmentFact
		if json.Unmarshal(e.Data, &f) != nil || f.Segment.ID != id {
			continue
		}
		switch f.Event {
		case archive.SegmentArchived:
			if newest.Content != "" {
				return nil // found when a search asks for archived segments
			}
		case archive.SegmentSummarised:
			if newest.Content == "" {
				newest = f.Segment
			}
		case archive.SegmentSaved, archive.SegmentImported:
			if f.Segment.Content != "" {
				newest = f.Segment
			}
		}
	}
	if newest.Content == "" {
		return nil
	}
	head := fmt.Sprintf("Summary %s of turns %d to %d: %s\n", id, newest.StartTurn, newest.EndTurn, newest.Topic)
	var ps []archive.Passage
	for text := head + newest.Content; text != "" && len(ps) < hookChunks; {
		var piece string
		piece, text = cutText(text, archive.MaxPassage)
		ps = append(ps, archive.Passage{
			Session: session, Turn: hookTurn, Step: -1, Seq: hookSeq(id) + len(ps), Kind: archive.KindSummary, Label: segmentLabel,
			Text: piece, Paths: newest.KeyFiles, LineFrom: -1, LineTo: -1, Time: newest.CompressedAt.UTC(),
		})
	}
	return ps
}

// moveSegments makes the passages of a session's segments anew under its name,
// after the session with number no lost that name.
func (s *Store) moveSegments(ctx context.Context, id string, no int64) error {
	entries, err := s.facts(ctx, id, archive.JournalSegment)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		var f archive.SegmentFact
		if json.Unmarshal(e.Data, &f) != nil || f.Segment.ID == "" || seen[f.Segment.ID] {
			continue
		}
		seen[f.Segment.ID] = true
		first := hookSeq(f.Segment.ID)
		if err := s.dropHookPassages(ctx, no, first, first+hookChunks); err != nil {
			return err
		}
		if err := s.indexSegment(ctx, id, f.Segment.ID); err != nil {
			return err
		}
	}
	return nil
}
