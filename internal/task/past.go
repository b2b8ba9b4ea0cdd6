package task

import (
	"context"
	"slices"
	"sort"

	"strandline/internal/archive"
)

// History is one session as this package looks at it: its live turns and steps up
// to a line of the transcript.
type History struct {
	Session     archive.Session
	Turns       []archive.Turn // live ones
	Steps       []archive.Step // of the main chain, live; their index is the moment
	Calls       []archive.Call
	Passages    []archive.Passage
	Compactions []archive.Compaction
	events      []archive.TaskEvent
	hooks       []hookTask
	agents      []archive.Session
}

// Load reads a session up to line atLine of its transcript (0-based, exclusive; 0
// reads all of it).
func Load(ctx context.Context, src Source, session string, atLine int) (*History, error) {
	p := &History{}
	span := archive.Span{Session: session, BeforeLine: atLine}
	var err error
	if p.Session, err = src.Session(ctx, session); err != nil {
		return nil, err
	}
	if p.Turns, err = src.Turns(ctx, span); err != nil {
		return nil, err
	}
	if p.Steps, err = src.Steps(ctx, span); err != nil {
		return nil, err
	}
	if p.Calls, err = src.Calls(ctx, archive.CallSpan{Span: span}); err != nil {
		return nil, err
	}
	if p.Passages, err = src.Passages(ctx, archive.PassageSpan{Span: span}); err != nil {
		return nil, err
	}
	if p.Compactions, err = src.Compactions(ctx, span); err != nil {
		return nil, err
	}
	if p.events, err = src.Tasks(ctx, span); err != nil {
		return nil, err
	}
	facts, err := src.Facts(ctx, session, archive.JournalTask)
	if err != nil {
		return nil, err
	}
	p.hooks = hookTasks(facts)
	if p.agents, err = src.Sessions(ctx, archive.SessionFilter{Parent: session, Agents: true}); err != nil {
		return nil, err
	}
	p.prune(atLine)
	return p, nil
}

// prune drops what a rewind left behind, what sub-agents said inside their
// parent's transcript, and what the line cuts off.
func (p *History) prune(atLine int) {
	dead, side := map[int]bool{}, map[archive.Ref]bool{}
	for _, t := range p.Turns {
		dead[t.Index] = t.Dead
	}
	for _, s := range p.Steps {
		side[at(s.Turn, s.Index)] = s.Sidechain
	}
	p.Turns = slices.DeleteFunc(p.Turns, func(t archive.Turn) bool { return t.Dead })
	p.Steps = slices.DeleteFunc(p.Steps, func(s archive.Step) bool { return dead[s.Turn] || s.Sidechain || s.APIError })
	p.Calls = slices.DeleteFunc(p.Calls, func(c archive.Call) bool { return dead[c.Turn] || side[at(c.Turn, c.Step)] })
	for i := range p.Calls {
		if c := &p.Calls[i]; atLine > 0 && c.LineResult >= atLine {
			c.Exit, c.Failed, c.Error, c.LineResult = nil, false, "", -1
		}
	}
	p.Passages = slices.DeleteFunc(p.Passages, func(x archive.Passage) bool {
		return x.LineFrom < 0 || dead[x.Turn] || side[at(x.Turn, x.Step)] || atLine > 0 && x.LineTo > atLine
	})
	slices.SortStableFunc(p.Passages, func(a, b archive.Passage) int { return a.LineFrom - b.LineFrom })
	p.events = slices.DeleteFunc(p.events, func(e archive.TaskEvent) bool { return dead[e.Turn] })
}

func at(turn, step int) archive.Ref { return archive.Ref{Turn: turn, Step: step} }

// Moment returns the number of the first step at or behind a place: the moment
// at which it stands. A turn's beginning is the moment of its first step.
func (p *History) Moment(turn, step int) int {
	return sort.Search(len(p.Steps), func(i int) bool {
		s := p.Steps[i]
		return s.Turn > turn || s.Turn == turn && s.Index >= step
	})
}

// ofSteps returns the rows of the steps [from, to), prompts of turns that begin
// in them included.
func ofSteps[T any](p *History, rows []T, place func(T) (turn, step int), from, to int) []T {
	var out []T
	for _, r := range rows {
		turn, step := place(r)
		if m := p.Moment(turn, step); m >= from && m < to {
			out = append(out, r)
		}
	}
	return out
}

func callPlace(c archive.Call) (turn, step int)       { return c.Turn, c.Step }
func passagePlace(x archive.Passage) (turn, step int) { return x.Turn, x.Step }
