package task

import (
	"fmt"
	"math"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
	"strandline/internal/text"
)

// Options says when a segment is cold, and at which share of the context window cold
// segments are processed.
type Options struct {
	Queue     float64 // share from which cold segments are queued
	Summarise float64 // share from which they are summarised
	Archive   float64 // share above which old summaries are archived
	// ColdAfter is the number of steps since a task was completed and last mentioned.
	ColdAfter int
	Messages  int // the least of a segment
	// ArchiveAfter is the number of steps since the end of an archived segment.
	ArchiveAfter int
	// PruneAfter is the time after which an archived segment is reduced to its text.
	PruneAfter time.Duration
}

// Check returns the new facts about a session's segments when its context window is
// filled to share (0 to 1; more than 1 forces queue and summary, but no archive). It
// returns no fact that is already in state.
func (h *History) Check(state *State, share float64, opt Options, now time.Time) []archive.SegmentFact {
	var facts []archive.SegmentFact
	add := func(event archive.SegmentEvent, s archive.Segment) {
		facts = append(facts, archive.SegmentFact{Event: event, Segment: s})
	}
	if share >= opt.Queue {
		for _, t := range h.Segments() {
			e, known := state.Get(SegmentID(t.Session, t.ID))
			if known && (e.Content != "" || share < opt.Summarise) || !h.Cold(t, len(h.Steps), opt.ColdAfter, opt.Messages) {
				continue
			}
			if share >= opt.Summarise {
				add(archive.SegmentSummarised, h.Compress(t, now))
			} else {
				add(archive.SegmentQueued, h.describe(t))
			}
		}
	}
	for _, e := range state.Summarised() {
		switch {
		case e.Tier == archive.TierWarm && share > opt.Archive && share <= 1 && len(h.Steps)-e.End >= opt.ArchiveAfter:
			add(archive.SegmentArchived, archive.Segment{ID: e.ID})
		case e.prunable(opt, now):
			add(archive.SegmentPruned, archive.Segment{ID: e.ID})
		}
	}
	return facts
}

func (e Entry) prunable(opt Options, now time.Time) bool {
	return e.Tier == archive.TierCold && !e.Pruned && now.Sub(e.ArchivedAt) >= opt.PruneAfter
}

// Prune returns the facts for archived segments that are older than opt.PruneAfter.
func (s *State) Prune(opt Options, now time.Time) (facts []archive.SegmentFact) {
	return archive.Convert(archive.Select(s.Entries, func(e Entry) bool { return e.prunable(opt, now) }), func(e Entry) archive.SegmentFact {
		return archive.SegmentFact{Event: archive.SegmentPruned, Segment: archive.Segment{ID: e.ID, Session: e.Session}}
	})
}

// describe returns the segment of a task without a summary.
func (h *History) describe(t Task) archive.Segment {
	s := archive.Segment{
		ID: SegmentID(t.Session, t.ID), Session: t.Session, Task: t.ID, Topic: t.Subject, StartTurn: t.First.Turn, EndTurn: t.Last.Turn,
		Start: t.Start, End: t.End, OriginalTokens: h.Tokens(t.Start, t.End),
	}
	for _, c := range h.callsIn(t.Start, t.End) {
		s.Metadata.ContainsErrors = s.Metadata.ContainsErrors || c.Failed
		s.Metadata.ContainsCode = s.Metadata.ContainsCode || c.Kind == archive.CallEdit
	}
	s.Metadata.TaskCompleted = t.Status == Completed && t.Kind != KindTopic
	return s
}

// Compress returns the segment of a task with its extracted summary.
func (h *History) Compress(t Task, now time.Time) archive.Segment {
	s := h.describe(t)
	sum := h.Extract(t, now)
	s.KeyFiles, s.By, s.Content, s.KeyDecisions = sum.FilesModified, "extract", sum.Text(), decisions(sum.KeyOutcomes)
	measure(&s, now)
	return s
}

// measure sets time and size of a summary.
func measure(s *archive.Segment, now time.Time) {
	s.CompressedAt, s.CompressedTokens = now.UTC(), text.Tokens(s.Content)
	s.Ratio = ratio(*s)
}

// ratio returns how many times smaller than its segment a summary is, to one decimal.
func ratio(s archive.Segment) float64 {
	if s.CompressedTokens == 0 {
		return 0
	}
	return math.Round(10*float64(s.OriginalTokens)/float64(s.CompressedTokens)) / 10
}

// decisions returns the sentences that give a reason.
func decisions(sentences []string) []string {
	return archive.Select(sentences, func(s string) bool { return outcomeScore(s) >= decisionScore })
}

// Report summarises facts in one line: "Compressed 3 segments (6,200 -> 980 tokens)". It
// returns "" if no segment was summarised.
func Report(facts []archive.SegmentFact) string {
	n, before, after := 0, 0, 0
	for _, f := range facts {
		if f.Event == archive.SegmentSummarised || f.Event == archive.SegmentSaved {
			n, before, after = n+1, before+f.Segment.OriginalTokens, after+f.Segment.CompressedTokens
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Compressed %s (%s -> %s tokens)", text.Count(n, "segment"), text.Thousands(int64(before)), text.Thousands(int64(after)))
}

// CheckState is the state that hooks keep between two checks of a session's segments. It
// is derived: a lost one costs one more check.
type CheckState struct {
	// Checked is the session's number of steps at the last check.
	Checked int `json:"checked_step"`
	// Pending is the number of segments without a summary at the last check.
	Pending int `json:"pending"`
	// Crossed is the usage threshold, in percent, that was exceeded at the last check.
	Crossed int `json:"crossed"`
	// Reminded is the usage threshold, in percent, of the last reminder to the model;
	// 0 once the usage has fallen below all thresholds.
	Reminded int `json:"reminded_at"`
}

// CheckStates stores the check state of each session.
type CheckStates struct {
	Dir string // "<archive>/state/segments"
}

// maxCheckState is the largest file in bytes that is read.
const maxCheckState = 4096

func (s CheckStates) store() state.Store {
	return state.Store{Dir: s.Dir, Ext: ".json", MaxSize: maxCheckState}
}

// Read returns the check state of a session, or the zero value if there is none or it is
// damaged.
func (s CheckStates) Read(session string) (c CheckState) {
	if err := s.store().ReadJSON(session, &c); err != nil || c.Checked < 0 {
		return CheckState{}
	}
	return c
}

// Write replaces the check state of a session.
func (s CheckStates) Write(session string, c CheckState) error {
	return s.store().WriteJSON(session, c)
}

// Reset deletes the check state of a session, so that the next hook checks the session.
func (s CheckStates) Reset(session string) error { return s.store().Delete(session) }
