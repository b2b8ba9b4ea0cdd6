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
			f := archive.SessionFilter{Agents: true}
			if f.Projects, err = a.keys(ctx, x, q.Scope); err != nil {
				return nil, err
			}
			if sessions, err = x.Index.Sessions(ctx, f); err != nil {
				return nil, err
			}
		}
		list, err := a.outcomes(ctx, x, sessions, q.Limit)
		return each(list, newCompaction), err
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
	cache := outcomeCache{store: state.Store{Dir: x.Config.Paths.Outcomes()}, version: a.Version, budget: x.Config.Restore.Budget}
	list := make([]compact.Outcome, 0, len(due))
	for _, c := range due {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o, err := cache.get(ctx, x.Index, c.Compaction, c.end, func() (compact.Outcome, error) {
			return measureCompaction(ctx, x, c.Compaction)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// outcomeCache stores measured outcomes, one file for each session. The session ID
// is in the file name, so that forgetting the session deletes the file. Measuring
// again takes some 10 ms.
type outcomeCache struct {
	store   state.Store
	version string // of this program: another one may select differently
	budget  int    // of the restored context
}

// cachedOutcome is an outcome and its inputs. If an input changes the outcome is
// measured again.
type cachedOutcome struct {
	Version string    `json:"version"`
	Budget  int       `json:"budget"`
	Line    int       `json:"line"`
	Time    time.Time `json:"time"`
	End     int       `json:"end"`
	Given   []string  `json:"given"` // IDs of the injections in the journal

	Outcome compact.Outcome `json:"outcome"`
}

func (c cachedOutcome) sameInputs(o cachedOutcome) bool {
	return c.Version == o.Version && c.Budget == o.Budget && c.Line == o.Line && c.Time.Equal(o.Time) && c.End == o.End && slices.Equal(c.Given, o.Given)
}

// get returns the outcome of a compaction. It calls measure if the cache has none.
func (m outcomeCache) get(ctx context.Context, s compact.Measured, c archive.Compaction, end int, measure func() (compact.Outcome, error)) (compact.Outcome, error) {
	facts, err := s.Injected(ctx, c.Session)
	if err != nil {
		return compact.Outcome{}, err
	}
	want := cachedOutcome{Version: m.version, Budget: m.budget, Line: c.Line, Time: c.Time, End: end}
	want.Given = each(facts, func(f archive.Injection) string { return f.ID })
	cached := map[int]cachedOutcome{}
	if m.store.ReadJSON(c.Session, &cached) != nil || cached == nil {
		cached = map[int]cachedOutcome{}
	}
	if old, ok := cached[c.Index]; ok && old.sameInputs(want) {
		old.Outcome.Compaction = c
		return old.Outcome, nil
	}
	if want.Outcome, err = measure(); err != nil {
		return compact.Outcome{}, err
	}
	cached[c.Index] = want
	_ = m.store.WriteJSON(c.Session, cached) // on failure it is measured each time
	return want.Outcome, nil
}
