package cli

import (
	"context"
	"slices"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/state"
)

// outcomes measures the newest compactions of sessions, at most limit of them
// unless that is 0. What was measured before is not measured again.
func (a *commands) outcomes(ctx context.Context, x app.Archive, sessions []archive.Session, limit int) ([]compact.Outcome, error) {
	var cuts []measurable
	for _, s := range sessions {
		if s.Compacts == 0 {
			continue
		}
		cs, err := x.Index.Compactions(ctx, archive.Span{Session: s.ID, Limit: limit, Newest: true})
		if err != nil {
			return nil, err
		}
		end := s.Lines // that of the next one or, so far, the session's
		for _, c := range cs {
			cuts = append(cuts, measurable{c, end})
			end = c.Line
		}
	}
	slices.SortStableFunc(cuts, func(a, b measurable) int { return b.cut.Time.Compare(a.cut.Time) })
	if limit > 0 {
		cuts = cuts[:min(limit, len(cuts))]
	}
	again := a.againFor(x)
	notes := measuredNotes{dir: x.Config.Paths.Outcomes(), version: a.app.Version, budget: x.Config.Restore.Budget}
	list := make([]compact.Outcome, 0, len(cuts))
	for _, c := range cuts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o, err := notes.of(ctx, x.Index, c, func() (compact.Outcome, error) {
			return compact.Measure(ctx, x.Index, c.cut, x.Config.Restore.Budget, again)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// measurable is a compaction with the line before which what it kept was put to
// use.
type measurable struct {
	cut archive.Compaction
	end int
}

// measuredNotes are the outcomes of compactions that were measured, one small
// file for each session. They are derived: without them each is measured again,
// in some hundredths of a second.
type measuredNotes struct {
	dir     string
	version string // of this program: another one may choose otherwise
	budget  int    // of a restored block
}

// measuredNote is an outcome and what it was measured of: when one of these
// differs it is measured again.
type measuredNote struct {
	Version string    `json:"version"`
	Budget  int       `json:"budget"`
	Line    int       `json:"line"`
	Time    time.Time `json:"time"`
	End     int       `json:"end"`
	Given   []string  `json:"given"` // by the journal: identities of what was injected

	Outcome compact.Outcome `json:"outcome"`
}

func (n measuredNote) same(o measuredNote) bool {
	return n.Version == o.Version && n.Budget == o.Budget && n.Line == o.Line && n.Time.Equal(o.Time) && n.End == o.End && slices.Equal(n.Given, o.Given)
}

// of returns the outcome of a compaction, measured where it is not on note.
func (m measuredNotes) of(ctx context.Context, s compact.Measured, c measurable, measure func() (compact.Outcome, error)) (compact.Outcome, error) {
	facts, err := s.Injected(ctx, c.cut.Session)
	if err != nil {
		return compact.Outcome{}, err
	}
	note := measuredNote{Version: m.version, Budget: m.budget, Line: c.cut.Line, Time: c.cut.Time, End: c.end, Given: make([]string, 0, len(facts))}
	for _, f := range facts {
		note.Given = append(note.Given, f.ID)
	}
	notes := m.read(c.cut.Session)
	if kept, ok := notes[c.cut.Index]; ok && kept.same(note) {
		kept.Outcome.Compaction = c.cut
		return kept.Outcome, nil
	}
	if note.Outcome, err = measure(); err != nil {
		return compact.Outcome{}, err
	}
	notes[c.cut.Index] = note
	m.write(c.cut.Session, notes)
	return note.Outcome, nil
}

// read returns a session's notes; those that cannot be read are none.
func (m measuredNotes) read(session string) map[int]measuredNote {
	notes := map[int]measuredNote{}
	if m.store().ReadJSON(session, &notes) != nil || notes == nil {
		return map[int]measuredNote{}
	}
	return notes
}

// write stores the outcomes of a session. If that fails they are measured each
// time.
func (m measuredNotes) write(session string, notes map[int]measuredNote) {
	_ = m.store().WriteJSON(session, notes)
}

// store has the session's ID in each file name, so that forgetting the session
// deletes its file.
func (m measuredNotes) store() state.Store { return state.Store{Dir: m.dir} }
