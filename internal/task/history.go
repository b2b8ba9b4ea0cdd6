// Package task derives a session's tasks and the segments of its conversation that
// belong to them. It decides which segments are cold, and extracts short summaries.
//
// If a session has a task list, a segment reaches from a task's start to its end.
// Otherwise the conversation is split into topics by its prompts, files and words.
// Tasks and segments are derived from the index. When a segment was summarised, and by
// whom, is a fact of the journal; the tiers L1 (in the client's context), L2
// (summarised) and L3 (archived) result from those facts.
//
// A moment is the index of a step, because a session can be one prompt with hundreds
// of steps.
package task

import (
	"context"
	"slices"
	"sort"

	"strandline/internal/archive"
)

// FactStore reads the journal's facts.
type FactStore interface {
	// Facts returns the journal entries of one kind for a session, or for all sessions if
	// it is empty, in order of time.
	Facts(ctx context.Context, session string, kind archive.JournalKind) ([]archive.JournalEntry, error)
}

// Source is the part of a store that the package reads.
type Source interface {
	FactStore
	Session(ctx context.Context, id string) (archive.Session, error)
	Sessions(ctx context.Context, f archive.SessionFilter) ([]archive.Session, error)
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
	Passages(ctx context.Context, s archive.PassageSpan) ([]archive.Passage, error)
	Tasks(ctx context.Context, s archive.Span) ([]archive.TaskEvent, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
}

// History is the live part of a session up to a line of the transcript: without dead
// branches and sub-agents' steps.
type History struct {
	Session     archive.Session
	Turns       []archive.Turn
	Steps       []archive.Step // the index of a step is its moment
	Calls       []archive.Call
	Passages    []archive.Passage // in the order of the transcript
	Compactions []archive.Compaction
	events      []archive.TaskEvent
	hooks       []hookTask
	agents      []archive.Session
}

// Load reads a session up to line atLine of its transcript (0-based, exclusive; 0 for
// all lines).
func Load(ctx context.Context, src Source, session string, atLine int) (*History, error) {
	h := &History{}
	span := archive.Span{Session: session, BeforeLine: atLine}
	var facts []archive.JournalEntry
	for _, read := range []func() error{
		func() (err error) { h.Session, err = src.Session(ctx, session); return err },
		func() (err error) { h.Turns, err = src.Turns(ctx, span); return err },
		func() (err error) { h.Steps, err = src.Steps(ctx, span); return err },
		func() (err error) { h.Calls, err = src.Calls(ctx, archive.CallSpan{Span: span}); return err },
		func() (err error) { h.Passages, err = src.Passages(ctx, archive.PassageSpan{Span: span}); return err },
		func() (err error) { h.Compactions, err = src.Compactions(ctx, span); return err },
		func() (err error) { h.events, err = src.Tasks(ctx, span); return err },
		func() (err error) { facts, err = src.Facts(ctx, session, archive.JournalTask); return err },
		func() (err error) {
			h.agents, err = src.Sessions(ctx, archive.SessionFilter{Parent: session, Agents: true})
			return err
		},
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	h.hooks = hookTasks(facts)
	h.prune(atLine)
	return h, nil
}

// prune drops dead branches, sub-agents' steps and passages in the transcript, and
// passages that end after atLine.
func (h *History) prune(atLine int) {
	dead, side := map[int]bool{}, map[archive.Ref]bool{}
	for _, t := range h.Turns {
		dead[t.Index] = t.Dead
	}
	for _, s := range h.Steps {
		side[stepKey(s.Turn, s.Index)] = s.Sidechain
	}
	h.Turns = slices.DeleteFunc(h.Turns, func(t archive.Turn) bool { return t.Dead })
	h.Steps = slices.DeleteFunc(h.Steps, func(s archive.Step) bool { return dead[s.Turn] || s.Sidechain || s.APIError })
	h.Calls = slices.DeleteFunc(h.Calls, func(c archive.Call) bool { return dead[c.Turn] || side[stepKey(c.Turn, c.Step)] })
	h.Passages = slices.DeleteFunc(h.Passages, func(x archive.Passage) bool {
		return x.LineFrom < 0 || dead[x.Turn] || side[stepKey(x.Turn, x.Step)] || atLine > 0 && x.LineTo > atLine
	})
	slices.SortStableFunc(h.Passages, func(a, b archive.Passage) int { return a.LineFrom - b.LineFrom })
	h.events = slices.DeleteFunc(h.events, func(e archive.TaskEvent) bool { return dead[e.Turn] })
}

func stepKey(turn, step int) archive.Ref { return archive.Ref{Turn: turn, Step: step} }

// Moment returns the index of the first step at or after a place. The start of a turn
// is the moment of its first step.
func (h *History) Moment(turn, step int) int {
	return sort.Search(len(h.Steps), func(i int) bool {
		s := h.Steps[i]
		return s.Turn > turn || s.Turn == turn && s.Index >= step
	})
}

// ref returns the place of the step at a moment, or of the last step if it is later.
func (h *History) ref(moment int) archive.Ref {
	if len(h.Steps) == 0 {
		return archive.Ref{Session: h.Session.ID, Turn: 0, Step: -1}
	}
	s := h.Steps[min(moment, len(h.Steps)-1)]
	return archive.Ref{Session: h.Session.ID, Turn: s.Turn, Step: s.Index}
}

// callsIn returns the calls of the steps [from, to).
func (h *History) callsIn(from, to int) []archive.Call {
	return archive.Select(h.Calls, func(c archive.Call) bool { m := h.Moment(c.Turn, c.Step); return m >= from && m < to })
}

// passagesIn returns the passages of the steps [from, to), with the prompts of turns
// that start there.
func (h *History) passagesIn(from, to int) []archive.Passage {
	return archive.Select(h.Passages, func(x archive.Passage) bool { m := h.Moment(x.Turn, x.Step); return m >= from && m < to })
}
