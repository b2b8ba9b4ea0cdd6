package app

import (
	"time"

	"strandline/internal/archive"
)

// Stats are the sums of an archive or a session for scripts.
type Stats struct {
	Session     string    `json:"session,omitempty"`
	Sessions    int       `json:"sessions"`
	Agents      int       `json:"agents"` // sub-agents' runs
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Compactions int       `json:"compactions"`
	Bytes       int64     `json:"bytes"`
	Input       int64     `json:"input_tokens"`
	Output      int64     `json:"output_tokens"`
	CacheRead   int64     `json:"cache_read_tokens"`
	CacheWrite  int64     `json:"cache_write_tokens"`
	CostUSD     float64   `json:"cost_usd"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
}

// SessionStats are the sums of one session.
func SessionStats(s archive.Session) Stats {
	return Stats{
		Session: s.ID, Sessions: 1, Turns: s.Turns, Steps: s.Steps, Calls: s.Calls, Compactions: s.Compacts, Bytes: s.Bytes,
		Input: s.Usage.Input, Output: s.Usage.Output, CacheRead: s.Usage.CacheRead, CacheWrite: s.Usage.CacheWrite,
		CostUSD: s.Cost.USD, First: s.First, Last: s.Last,
	}
}

// TotalStats are the sums of an archive.
func TotalStats(t archive.Totals) Stats {
	return Stats{
		Sessions: t.Sessions, Agents: t.Agents, Turns: t.Turns, Steps: t.Steps, Calls: t.Calls, Compactions: t.Compactions, Bytes: t.Bytes,
		Input: t.Usage.Input, Output: t.Usage.Output, CacheRead: t.Usage.CacheRead, CacheWrite: t.Usage.CacheWrite,
		CostUSD: t.CostUSD, First: t.First, Last: t.Last,
	}
}
