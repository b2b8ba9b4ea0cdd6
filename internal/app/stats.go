package app

import (
	"context"
	"errors"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
	"strandline/internal/usage"
)

// Status is the state of the archive.
type Status struct {
	Version     string    `json:"version"`
	Home        string    `json:"home"`
	Sessions    int       `json:"sessions"`
	Agents      int       `json:"agents"`
	Older       int       `json:"older_generations"` // of transcripts that were rewritten
	Projects    int       `json:"projects"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Passages    int       `json:"passages"`
	Compactions int       `json:"compactions"`
	Bytes       int64     `json:"bytes"`
	LogBytes    int64     `json:"log_bytes"`
	IndexBytes  int64     `json:"index_bytes"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Pending     bool      `json:"pending"`
	Errors      int       `json:"errors_24h"`
	Uncaptured  int       `json:"uncaptured_files"`
	Unindexed   int       `json:"unindexed_sessions"`
	Lost        int       `json:"lost_logs"`     // deleted, but not by strandline
	Foreign     int       `json:"foreign_hooks"` // calls of other clients, which are ignored
	Memory      Memory    `json:"memory"`
	// Running are the sessions of the last quarter of an hour.
	Running []RunningSession `json:"running,omitempty"`
	// Gateway are the totals of gateways; absent if none has run.
	Gateway *GatewayStats `json:"gateway,omitempty"`
	// Tier is what answers: "index", or "logs" for the reason in Why.
	Tier string `json:"tier"`
	Why  string `json:"why,omitempty"`
	// Measured is the mean of the last compactions; null if none is measurable.
	Measured *Measured `json:"last_compactions"`
	// Exchanges are the places of archive push and pull, the latest first.
	Exchanges []Exchanged `json:"exchanges,omitempty"`
}

// RunningSession is a session in which something happened lately, and the state of its
// context window.
type RunningSession struct {
	Session   string  `json:"session"`
	Title     string  `json:"title"`
	Tokens    int64   `json:"tokens"`    // in the window
	Window    int64   `json:"window"`    // its size in tokens
	Share     float64 `json:"share"`     // used
	Estimated bool    `json:"estimated"` // the tokens are
	Zone      string  `json:"zone"`      // ok, warning or optimize
	Growth    int64   `json:"growth"`    // tokens per turn, 0 if unknown
	Left      *int    `json:"turns_left"`
	Cycles    int     `json:"cycles"` // reports of the zone optimize since the last compaction
}

// runningAge is how long ago something happened in a running session at most.
const runningAge = 15 * time.Minute

// running returns the running sessions.
func (a *App) running(ctx context.Context, x Archive) (list []RunningSession, err error) {
	sessions, err := usage.Store{Dir: x.Config.Paths.State()}.Since(a.Now().Add(-runningAge))
	for _, s := range sessions {
		r := RunningSession{
			Session: s.SessionID, Tokens: s.LastTokenEstimate, Window: s.Window, Share: s.LastPercentage, Estimated: s.Estimated,
			Zone: s.Zone, Growth: s.Growth, Cycles: s.PruneCount,
		}
		if n, ok := usage.TurnsLeft(s.LastTokenEstimate+s.Output, s.Limit, s.Growth); ok {
			r.Left = &n
		}
		if known, err := x.Index.Session(ctx, s.SessionID); err == nil {
			r.Title = known.Title
		}
		list = append(list, r)
	}
	return list, err
}

// Memory is the archive's health: shares from 0 to 1, null if unknown, and their
// mean.
type Memory struct {
	Health   *float64 `json:"health"`
	Captured *float64 `json:"captured"`
	Indexed  *float64 `json:"indexed"`
	Embedded *float64 `json:"embedded"`
	Used     *float64 `json:"used"`
	Measured int      `json:"measured_compactions"` // number of compactions in Used
}

func newMemory(h HealthReport) Memory {
	share := func(v float64, known bool) *float64 {
		if !known {
			return nil
		}
		return rounded(v)
	}
	return Memory{
		Health: share(h.Mean()), Captured: share(h.Captured.Value()), Indexed: share(h.Indexed.Value()), Embedded: share(h.Embedded.Value()),
		Used: share(h.Used.Value()), Measured: h.Measured,
	}
}

// Measured is the mean outcome of the last measurable compactions.
type Measured struct {
	Compactions int     `json:"compactions"`
	Kept        float64 `json:"kept"`
	Together    float64 `json:"together"`
}

// Status returns the state of the archive.
func (a *App) Status(ctx context.Context) (Status, error) {
	return read(ctx, a, func(x Archive) (Status, error) {
		t, err := x.Index.Totals(ctx)
		if err != nil {
			return Status{}, err
		}
		paths := x.Config.Paths
		st := Status{
			Version: a.Version, Home: paths.Home, Sessions: t.Sessions, Agents: t.Agents, Projects: t.Projects,
			Older: t.Older, Turns: t.Turns, Steps: t.Steps, Calls: t.Calls, Passages: t.Passages, Compactions: t.Compactions,
			Bytes: t.Bytes, First: t.First, Last: t.Last,
			Tier: "index", LogBytes: treeSize(x.File("log")), IndexBytes: x.indexBytes(), Pending: x.Pending().Any(),
		}
		st.Exchanges = x.Exchanges()
		if x.Cause != nil {
			st.Tier, st.Why = "logs", ErrorText(x.Cause)
		}
		calls, err := capture.ForeignCalls{Dir: paths.State()}.Read()
		if err != nil {
			return st, err
		}
		st.Foreign = calls.Calls
		entries, err := state.RecentErrors(paths.Errors(), a.Now().Add(-24*time.Hour), 1000)
		if err != nil {
			return st, err
		}
		st.Errors = len(entries)
		if st.Measured, err = a.measured(ctx, x); err != nil {
			return st, err
		}
		if g, gerr := a.GatewayStats(); gerr == nil && g.Requests > 0 {
			st.Gateway = &g
		}
		if st.Running, err = a.running(ctx, x); err != nil {
			return st, err
		}
		runner := a.runner(x.Workspace)
		if runner.Capture, err = x.Capture.Snapshot(); err != nil {
			return st, err
		}
		h, err := runner.Health(ctx, x.Index)
		st.Uncaptured, st.Unindexed, st.Memory = h.Uncaptured, h.Unindexed, newMemory(h)
		lost, lerr := runner.Capture.LostLogs("", nil)
		st.Lost = len(lost)
		return st, errors.Join(err, lerr)
	})
}

// statusCompactions is the number of compactions in a status. One without a cached
// outcome takes 10 ms.
const statusCompactions = 5

// measured returns the mean outcome of the last compactions, nil if none is
// measurable.
func (a *App) measured(ctx context.Context, x Archive) (*Measured, error) {
	sessions, err := x.Index.Sessions(ctx, archive.SessionFilter{Agents: true, Compacted: true})
	if err != nil {
		return nil, err
	}
	list, err := a.outcomes(ctx, x, sessions, statusCompactions)
	if err != nil {
		return nil, err
	}
	var m Measured
	for _, o := range list {
		if !o.HasShares {
			continue
		}
		m.Compactions++
		m.Kept += o.Kept
		if o.Given && !o.Compaction.Ours {
			m.Together += o.Together
		} else {
			m.Together += o.Kept // nothing was restored
		}
	}
	if m.Compactions == 0 {
		return nil, nil
	}
	m.Kept, m.Together = *rounded(m.Kept / float64(m.Compactions)), *rounded(m.Together / float64(m.Compactions))
	return &m, nil
}
