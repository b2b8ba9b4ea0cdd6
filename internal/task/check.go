package task

import (
	"math"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Options say when a stretch is cold and at which share of the context window
// what is done with it.
type Options struct {
	Queue     float64 // from here on cold stretches are queued
	Summarise float64 // … summarised
	Archive   float64 // … and old summaries archived
	// ColdAfter is how many steps ago a task has to be completed, and for how long
	// nobody has spoken of it.
	ColdAfter int
	Messages  int // that a stretch has at least
	// ArchiveAfter is how many steps ago an archived stretch has ended.
	ArchiveAfter int
	// PruneAfter is how long after its archiving a segment keeps more than its text.
	PruneAfter time.Duration
}

// Check returns what is to be recorded of a session at this moment, with its
// context window filled to share (0 to 1; more than 1 forces queue and summary,
// not the archive). Nothing is returned twice: what state holds already is left
// alone.
func (p *History) Check(state *State, share float64, opt Options, now time.Time) []archive.SegmentFact {
	forced := share > 1
	var facts []archive.SegmentFact
	if share >= opt.Queue {
		for _, t := range p.Segments() {
			id := SegmentID(t.Session, t.ID)
			e, known := state.Get(id)
			if known && (e.Content != "" || share < opt.Summarise) || !p.Cold(t, len(p.Steps), opt.ColdAfter, opt.Messages) {
				continue
			}
			if share >= opt.Summarise {
				facts = append(facts, archive.SegmentFact{Event: archive.SegmentSummarised, Segment: p.Compress(t, now)})
				continue
			}
			facts = append(facts, archive.SegmentFact{Event: archive.SegmentQueued, Segment: p.describe(t)})
		}
	}
	for _, e := range state.Summarised() {
		switch {
		case e.Tier == archive.TierWarm && share > opt.Archive && !forced && len(p.Steps)-e.End >= opt.ArchiveAfter:
			facts = append(facts, archive.SegmentFact{Event: archive.SegmentArchived, Segment: archive.Segment{ID: e.ID}})
		case e.old(opt, now):
			facts = append(facts, archive.SegmentFact{Event: archive.SegmentPruned, Segment: archive.Segment{ID: e.ID}})
		}
	}
	return facts
}

func (e Entry) old(opt Options, now time.Time) bool {
	return e.Tier == archive.TierCold && !e.Pruned && now.Sub(e.ArchivedAt) >= opt.PruneAfter
}

// Prune returns what is to be recorded of archived segments that are old enough.
func (s *State) Prune(opt Options, now time.Time) (facts []archive.SegmentFact) {
	for _, e := range s.Entries {
		if e.old(opt, now) {
			facts = append(facts, archive.SegmentFact{Event: archive.SegmentPruned, Segment: archive.Segment{ID: e.ID, Session: e.Session}})
		}
	}
	return facts
}

// describe is a stretch as a segment without a summary.
func (p *History) describe(t Task) archive.Segment {
	s := archive.Segment{
		ID: SegmentID(t.Session, t.ID), Session: t.Session, Task: t.ID, Topic: t.Subject, StartTurn: t.First.Turn, EndTurn: t.Last.Turn,
		Start: t.Start, End: t.End, OriginalTokens: p.Tokens(t.Start, t.End),
	}
	for _, c := range ofSteps(p, p.Calls, callPlace, t.Start, t.End) {
		s.Metadata.ContainsErrors = s.Metadata.ContainsErrors || c.Failed
		s.Metadata.ContainsCode = s.Metadata.ContainsCode || c.Kind == archive.CallEdit
	}
	s.Metadata.TaskCompleted = t.Status == Completed && t.Kind != KindTopic
	return s
}

// Compress is a stretch with the summary that Extract makes of it.
func (p *History) Compress(t Task, now time.Time) archive.Segment {
	s := p.describe(t)
	sum := p.Extract(t, now)
	s.KeyFiles, s.By, s.Content = sum.FilesModified, "extract", sum.Text()
	s.KeyDecisions = decisions(sum.KeyOutcomes)
	measure(&s, now)
	return s
}

// measure counts a summary.
func measure(s *archive.Segment, now time.Time) {
	s.CompressedAt, s.CompressedTokens = now.UTC(), text.Tokens(s.Content)
	if s.OriginalTokens > 0 {
		s.Ratio = math.Round(1000*float64(s.CompressedTokens)/float64(s.OriginalTokens)) / 1000
	}
}

// decisions are the sentences that give a reason.
func decisions(texts []string) (out []string) {
	for _, t := range texts {
		if signal(t) >= 1.2 {
			out = append(out, t)
		}
	}
	return out
}
