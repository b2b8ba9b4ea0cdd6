package app

import (
	"math"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
)

// Compaction is a compaction with its outcome, for scripts. Shares are null
// where too little was used afterwards to tell.
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
}

// NewCompaction is a compaction with what became of it.
func NewCompaction(o compact.Outcome) Compaction {
	c := o.Compaction
	j := Compaction{
		Session: c.Session, Handle: CutHandle(c), Index: c.Index, Line: c.Line, Time: c.Time, Trigger: c.Trigger, Ours: c.Ours,
		PreTokens: c.PreTokens, PostTokens: c.PostTokens, DurationMS: c.Duration.Milliseconds(),
		Needed: o.Needed, Given: o.Given, Handles: append([]string{}, o.Handles...), Used: append([]string{}, o.Used...),
	}
	if !o.Told {
		return j
	}
	j.Kept, j.Together = Rounded(o.Kept), Rounded(o.Together)
	if !c.Ours {
		j.Restored = Rounded(o.Restored)
	}
	return j
}

// Rounded returns a share with three decimals, which is more than it tells.
func Rounded(share float64) *float64 {
	share = math.Round(share*1000) / 1000
	return &share
}

// CutHandle is the handle of the turn that a compaction stands in.
func CutHandle(c archive.Compaction) string {
	return archive.Ref{Session: c.Session, Turn: c.Turn, Step: -1}.Handle()
}

// Compactions are a list of them.
func Compactions(list []compact.Outcome) []Compaction {
	out := make([]Compaction, 0, len(list))
	for _, o := range list {
		out = append(out, NewCompaction(o))
	}
	return out
}
