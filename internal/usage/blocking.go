package usage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/state"
)

// blockReserve is the number of tokens below the hard limit at which blocking ends:
// what a prompt or tool output may add before the client checks its usage again.
const blockReserve = 5_000

// Source reads responses and compactions from the index.
type Source interface {
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
}

// Blocker decides whether to block automatic compactions.
type Blocker struct {
	Mode config.Block
	// Dir holds one file per blocked session ("state/blocked").
	Dir string
	// Getenv reads the client's environment variables.
	Getenv func(string) string
	// Settings are the client's settings files, the one that takes precedence first.
	Settings []string
}

// Attempt describes a pending compaction.
type Attempt struct {
	Session string // ID in the archive
	Trigger string // "auto"; any other value means that the user asked
	// Tokens and Window are reported by the client; 0 means unknown.
	Tokens, Window int
}

// block records the last blocked compaction of a session.
type block struct {
	Line   int  `json:"line"`   // of the last response; -1 if there was none
	Failed bool `json:"failed"` // the next response was an error
}

func (g Blocker) store() state.Store { return state.Store{Dir: g.Dir, Ext: ".json"} }

// Reason returns why the attempt is blocked, or "" if it is not. The index has to
// be up to date. A manual compaction is never blocked and deletes the session's
// record. On an error nothing is blocked.
func (g Blocker) Reason(ctx context.Context, src Source, a Attempt) (string, error) {
	if g.Mode != config.BlockHeadroom && g.Mode != config.BlockAlways || g.store().Path(a.Session) == "" {
		return "", nil
	}
	if a.Trigger != "auto" {
		return "", g.store().Delete(a.Session)
	}
	steps, err := recentSteps(ctx, src, a.Session)
	if err != nil {
		return "", fmt.Errorf("decide on blocking: %w", err)
	}
	var last block
	readErr := g.store().ReadJSON(a.Session, &last)
	if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) { // a damaged file
		return "", errors.Join(readErr, g.store().Delete(a.Session))
	}
	now := block{Line: steps.last.LineFrom}
	if readErr == nil && last.Line >= steps.from {
		if last.Failed || last.Line == now.Line {
			return "", nil // blocking did not help, or this compaction was blocked already
		}
		if slices.ContainsFunc(steps.live, func(x archive.Step) bool { return x.LineFrom > last.Line && x.APIError }) {
			last.Failed = true
			return "", g.store().WriteJSON(a.Session, last)
		}
	}
	reason := g.policy(steps, a)
	if reason == "" {
		return "", nil
	}
	if err := g.store().WriteJSON(a.Session, now); err != nil {
		return "", err
	}
	return reason, nil
}

// policy returns why the mode blocks the attempt, or "" if it does not.
func (g Blocker) policy(steps steps, a Attempt) string {
	last := steps.last
	switch {
	case last.APIError:
		return ""
	case g.Mode == config.BlockAlways:
		return "strandline blocks automatic compactions (compaction.block_auto = always); /compact is not blocked"
	case last.Usage.IsZero():
		return ""
	}
	used := max(int(last.Usage.Context()+last.Usage.Output), a.Tokens)
	l := FindLimits(last.Model, a.Window, g.Getenv, g.Settings...)
	// Below the threshold the client compacts for another reason: the API refused a
	// request, or tokens were added that no response has counted yet.
	if l.Threshold == 0 || used < l.Threshold || used >= l.Hard-blockReserve {
		return ""
	}
	return fmt.Sprintf("%d of %d tokens are used: strandline blocks compaction until %d (compaction.block_auto = headroom); /compact is not blocked",
		used, l.Window, l.Hard-blockReserve)
}

// steps holds the responses of a session's main conversation since its last
// compaction.
type steps struct {
	live []archive.Step // newest first
	last archive.Step   // the newest; line -1 if there is none
	from int            // line of the compaction, -1 without one
}

// maxSteps is the number of newest responses that are searched for a failure. A
// failure is recorded at the next attempt.
const maxSteps = 64

func recentSteps(ctx context.Context, src Source, session string) (steps, error) {
	s := steps{from: -1, last: archive.Step{LineFrom: -1}}
	compactions, err := src.Compactions(ctx, archive.Span{Session: session, Limit: 1, Newest: true})
	if err != nil {
		return s, err
	}
	if len(compactions) > 0 {
		s.from = compactions[0].Line
	}
	all, err := src.Steps(ctx, archive.Span{Session: session, Limit: maxSteps, Newest: true})
	for _, x := range all {
		if x.LineFrom > s.from && !x.Sidechain && x.Copy == nil {
			s.live = append(s.live, x)
			s.last = s.live[0]
		}
	}
	return s, err
}
