package app

import (
	"context"
	"math"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

// Compaction is a compaction with its outcome. Shares are null if the session used
// too little afterwards.
type Compaction struct {
	Session    string    `json:"session"`
	Handle     string    `json:"handle"`
	Index      int       `json:"index"`
	Line       int       `json:"line"`
	Time       time.Time `json:"time"`
	Trigger    string    `json:"trigger"`
	Ours       bool      `json:"ours"`
	PreTokens  int64     `json:"pre_tokens"`
	PostTokens int64     `json:"post_tokens"`
	DurationMS int64     `json:"duration_ms"`
	Needed     int       `json:"needed"`
	Kept       *float64  `json:"kept"`
	Restored   *float64  `json:"restored"`
	Together   *float64  `json:"together"`
	Given      bool      `json:"given"`
	Handles    []string  `json:"handles"`
	Used       []string  `json:"used"`
	// Outcome holds the shares unrounded.
	Outcome compact.Outcome `json:"-"`
}

func newCompaction(o compact.Outcome) Compaction {
	c := o.Compaction
	out := Compaction{
		Session: c.Session, Handle: compactionHandle(c), Index: c.Index, Line: c.Line, Time: c.Time, Trigger: c.Trigger, Ours: c.Ours,
		PreTokens: c.PreTokens, PostTokens: c.PostTokens, DurationMS: c.Duration.Milliseconds(),
		Needed: o.Needed, Given: o.Given, Handles: append([]string{}, o.Handles...), Used: append([]string{}, o.Used...), Outcome: o,
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

// compactionHandle is the handle of the turn that a compaction is in.
func compactionHandle(c archive.Compaction) string {
	return archive.Ref{Session: c.Session, Turn: c.Turn, Step: -1}.Handle()
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
