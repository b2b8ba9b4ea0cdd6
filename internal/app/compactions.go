package app

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/state"
)

// Compaction is a compaction with its outcome. Shares are null if the session used
// too little afterwards.
type Compaction struct {
	Session string `json:"session"`
	Handle  string `json:"handle"`
	archive.Compaction
	DurationMS int64    `json:"duration_ms"`
	Needed     int      `json:"needed"`
	Kept       *float64 `json:"kept"`
	Restored   *float64 `json:"restored"`
	Together   *float64 `json:"together"`
	Given      bool     `json:"given"`
	Handles    []string `json:"handles"`
	Used       []string `json:"used"`
	// Outcome holds the shares unrounded.
	Outcome compact.Outcome `json:"-"`
}

func newCompaction(o compact.Outcome) Compaction {
	c := o.Compaction
	out := Compaction{
		Session: c.Session, Handle: c.Ref().Handle(), Compaction: c, DurationMS: c.Duration.Milliseconds(), Needed: o.Needed, Given: o.Given, Handles: append([]string{}, o.Handles...), Used: append([]string{}, o.Used...), Outcome: o,
	}
	if !o.HasShares {
		return out
	}
	out.Kept, out.Together = rounded(o.Kept), rounded(o.Together)
	if !c.Ours {
		out.Restored = rounded(o.Restored)
	}
	return out
}

// rounded returns a share with three decimals.
func rounded(share float64) *float64 {
	share = math.Round(share*1000) / 1000
	return &share
}

// CompactionsQuery selects compactions.
type CompactionsQuery struct {
	Session string // handle or ID; "" for the sessions in Scope
	Scope
	Limit int // the newest; 0: no limit
}

// Compactions returns measured compactions, newest first.
func (a *App) Compactions(ctx context.Context, q CompactionsQuery) ([]Compaction, error) {
	return read(ctx, a, func(x Archive) (_ []Compaction, err error) {
		var sessions []archive.Session
		if q.Session != "" {
			s, err := a.session(ctx, x, q.Session)
			if err != nil {
				return nil, err
			}
			sessions = append(sessions, s)
		} else {
			f := archive.SessionFilter{Agents: true, Compacted: true}
			if f.Projects, err = a.keys(ctx, x, q.Scope); err != nil {
				return nil, err
			}
			if sessions, err = x.Index.Sessions(ctx, f); err != nil {
				return nil, err
			}
		}
		list, err := a.outcomes(ctx, x, sessions, q.Limit)
		return archive.Convert(list, newCompaction), err
	})
}

// outcomes measures the newest compactions of sessions, at most limit of them
// unless that is 0. Earlier measurements are reused.
func (a *App) outcomes(ctx context.Context, x Archive, sessions []archive.Session, limit int) ([]compact.Outcome, error) {
	type measurable struct {
		archive.Compaction
		end int // line of the next compaction, or the session's length
	}
	var due []measurable
	for _, s := range sessions {
		if s.Compacts == 0 {
			continue
		}
		list, err := x.Index.Compactions(ctx, archive.Span{Session: s.ID, Limit: limit, Newest: true})
		if err != nil {
			return nil, err
		}
		end := s.Lines
		for _, c := range list {
			due = append(due, measurable{c, end})
			end = c.Line
		}
	}
	slices.SortStableFunc(due, func(p, q measurable) int { return q.Time.Compare(p.Time) })
	due = due[:min(cmp.Or(limit, len(due)), len(due))]
	list := make([]compact.Outcome, 0, len(due))
	for _, c := range due {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o, err := a.outcome(ctx, x, c.Compaction, c.end)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// cachedOutcome is an outcome and its inputs. If an input changes the outcome is
// measured again.
type cachedOutcome struct {
	Version string    `json:"version"` // of this program: another one may select differently
	Budget  int       `json:"budget"`  // of the restored context
	Line    int       `json:"line"`
	Time    time.Time `json:"time"`
	End     int       `json:"end"`
	Given   []string  `json:"given"` // IDs of the injections in the journal

	Outcome compact.Outcome `json:"outcome"`
}

func (c cachedOutcome) sameInputs(o cachedOutcome) bool {
	return c.Version == o.Version && c.Budget == o.Budget && c.Line == o.Line && c.Time.Equal(o.Time) && c.End == o.End && slices.Equal(c.Given, o.Given)
}

// outcome returns the outcome of a compaction; end is the line of the next one. Outcomes
// are stored, one file for each session, because measuring takes some 10 ms. The session
// ID is in the file name, so that forgetting the session deletes the file.
func (a *App) outcome(ctx context.Context, x Archive, c archive.Compaction, end int) (compact.Outcome, error) {
	facts, err := x.Index.Injected(ctx, c.Session)
	if err != nil {
		return compact.Outcome{}, err
	}
	want := cachedOutcome{Version: a.Version, Budget: x.Config.Restore.Budget, Line: c.Line, Time: c.Time, End: end}
	want.Given = archive.Convert(facts, func(f archive.Injection) string { return f.ID })
	store, cached := state.Store{Dir: x.Config.Paths.Outcomes()}, map[int]cachedOutcome{}
	if store.ReadJSON(c.Session, &cached) != nil || cached == nil {
		cached = map[int]cachedOutcome{}
	}
	if old, ok := cached[c.Index]; ok && old.sameInputs(want) {
		old.Outcome.Compaction = c
		return old.Outcome, nil
	}
	if want.Outcome, err = measureCompaction(ctx, x, c); err != nil {
		return compact.Outcome{}, err
	}
	cached[c.Index] = want
	_ = store.WriteJSON(c.Session, cached) // on failure it is measured each time
	return want.Outcome, nil
}
