package usage

import (
	"context"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// Monitor watches the windows of an archive's sessions.
type Monitor struct {
	Store Store
	// Zones are where the zones begin in a window whose end is its limit.
	Zones Zones
	// Window is the configured size in tokens, 0 when none is.
	Window int
	// Always makes every prompt a reason for a report; Silent makes none one.
	Always, Silent bool
	// Getenv tells how the client's window is set.
	Getenv func(string) string
	// Conversation reads the messages that a piece of a transcript holds.
	Conversation func(chunk []byte) []transcript.Message
}

// Observation is what a hook has seen of a session.
type Observation struct {
	Session    string
	Transcript string // path, checked
	Now        time.Time
	// Compacted says that the context was just cut: SessionStart after a compaction.
	Compacted bool
	// Context is how many tokens a resumed or forked session brings, as the client
	// says; 0 when it does not.
	Context int64
	// Captured is how many bytes of the transcript are in the log, and Doubt that
	// capturing or indexing them did not succeed.
	Captured      int64
	CaptureFailed bool
	// Batches are what was indexed just now.
	Batches []archive.Batch
}

// Observe brings a session's figures up to what was seen.
func (p Monitor) Observe(ctx context.Context, x Observation) error {
	return p.Store.Update(ctx, x.Session, func(s *Session) bool {
		if x.Compacted {
			s.Reset()
		}
		for _, b := range x.Batches {
			if b.Session.ID == x.Session {
				p.fold(s, b, x.Now)
			}
		}
		s.Captured, s.CaptureFailed, s.LastCheck = x.Captured, x.CaptureFailed, x.Now.UnixMilli()
		switch {
		case s.Counted:
			s.CharsTo = x.Captured
		case x.Context > 0:
			s.Base, s.Chars, s.CharsTo = min(x.Context, absurd), 0, x.Captured
			s.LastTokenEstimate, s.Estimated = s.Base, true
		default:
			p.estimate(s, x)
		}
		p.Derive(s)
		return true
	})
}

// maxModel is how many bytes of a model's name are kept.
const maxModel = 100

// absurd is a number of tokens that stood in no window.
const absurd = 20_000_000

// fold takes the rows of a batch in the order in which they stand.
func (p Monitor) fold(s *Session, b archive.Batch, now time.Time) {
	if b.Cursor.Generation != s.Generation {
		s.Generation, s.Line, s.CompactionLine = b.Cursor.Generation, 0, 0
	}
	cuts := b.Compactions
	for i := range b.Steps {
		step := &b.Steps[i]
		for len(cuts) > 0 && cuts[0].Line <= step.LineFrom {
			cut(s, cuts[0])
			cuts = cuts[1:]
		}
		used := step.Usage.Context()
		if step.Sidechain || step.APIError || step.Copy != nil || step.LineFrom < max(s.Line, s.CompactionLine) ||
			used <= 0 || used > absurd || step.Usage.Output < 0 || step.Usage.Output > absurd {
			continue
		}
		s.LastTokenEstimate, s.Output, s.Line, s.Counted, s.Estimated = used, step.Usage.Output, step.LineFrom, true, false
		if step.Model != "" {
			s.Model = archive.Clip(strings.ToValidUTF8(step.Model, "?"), maxModel)
		}
		s.MaxTokens = max(s.MaxTokens, used)
		s.Append(Point{TS: now.UnixMilli(), Tokens: used, Turns: step.Turn})
	}
	for _, c := range cuts {
		cut(s, c)
	}
}

// cut empties the window at a compaction that the transcript tells of, once.
func cut(s *Session, c archive.Compaction) {
	if c.Line <= s.CompactionLine || c.Line < s.Line {
		return
	}
	s.Reset()
	s.CompactionLine, s.Base = c.Line, min(max(c.PostTokens, 0), absurd)
}

// Derive derives what follows from a session's tokens: the window and its limits,
// the zone, the trend.
func (p Monitor) Derive(s *Session) {
	l, from := p.limits(*s)
	s.Window, s.WindowFrom, s.Threshold, s.Hard = int64(l.Window), from, int64(l.Threshold), int64(l.Hard)
	next, compacts := l.Next()
	s.Limit, s.Compacts = int64(next), compacts
	s.LastPercentage = part(s.LastTokenEstimate, s.Window)
	for i := range s.History {
		s.History[i].Pct = part(s.History[i].Tokens, s.Window)
	}
	s.Growth = Growth(s.History)
	if s.Zone = string(p.zones(*s).Of(s.LastPercentage)); s.Zone == string(OK) {
		s.ReportedZone, s.ReportedStep = "", 0
	}
}

// zones are the zones of a session.
func (p Monitor) zones(s Session) Zones { return p.Zones.Within(part(s.Limit, s.Window)) }

// part is a share of the window, to four digits.
func part(tokens, window int64) float64 {
	if window <= 0 {
		return 0
	}
	return float64(tokens*10_000/window) / 10_000
}
