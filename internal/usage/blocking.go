// Package blocking decides whether an automatic compaction of the client is put
// off. A compaction that is blocked for ever is a trap: at the hard limit the
// client stops sending, and only a compaction gets it out. So every block is
// written down first, and the same point of a session is never blocked twice.
package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// reserve is how far below the hard limit blocking ends, in tokens: what a prompt
// or a tool's output may add before the client looks at its usage again.
const reserve = 5_000

// Source is what this package reads of a store.
type Source interface {
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Compactions(ctx context.Context, s archive.Span) ([]archive.Compaction, error)
}

// Blocker blocks compactions.
type Blocker struct {
	Mode config.Block
	// Dir keeps one note per session that was blocked ("state/blocked").
	Dir string
	// Getenv tells how the client's window is set.
	Getenv func(string) string
}

// Attempt is a compaction that is about to be.
type Attempt struct {
	Session string // as the archive knows it
	Trigger string // "auto"; everything else is asked for by somebody
	// Tokens and Window are what the client tells of them, 0 when it does not.
	Tokens, Window int
}

// note is the last block of a session.
type note struct {
	Line   int  `json:"line"`   // of the last response; -1 when there was none
	Failed bool `json:"failed"` // the response that followed was an error
}

// Reason returns why the attempt is blocked, or "" when it is not. The archive has
// to be up to date: what it does not know is not blocked under config.BlockHeadroom.
// A compaction by hand is never blocked and makes the session start afresh. With
// an error the answer is no block.
func (g Blocker) Reason(ctx context.Context, src Source, a Attempt) (string, error) {
	path := g.path(a.Session)
	if g.Mode != config.BlockHeadroom && g.Mode != config.BlockAlways || path == "" {
		return "", nil
	}
	if a.Trigger != "auto" {
		return "", forget(path)
	}
	steps, err := recent(ctx, src, a.Session)
	if err != nil {
		return "", fmt.Errorf("blocking: %w", err)
	}
	last, known, err := readNote(path)
	if err != nil {
		return "", err
	}
	since := note{Line: -1}
	if n := len(steps.live); n > 0 {
		since.Line = steps.live[0].LineFrom
	}
	if known && last.Line >= steps.from {
		if last.Failed || last.Line == since.Line {
			return "", nil // it led nowhere, or it is the same compaction again
		}
		if steps.failedAfter(last.Line) {
			last.Failed = true
			return "", writeNote(path, last)
		}
	}
	reason := g.reason(steps, a)
	if reason == "" {
		return "", nil
	}
	if err := writeNote(path, since); err != nil {
		return "", err
	}
	return reason, nil
}

// reason says why the policy blocks, "" when it does not.
func (g Blocker) reason(steps steps, a Attempt) string {
	if len(steps.live) > 0 && steps.live[0].APIError {
		return ""
	}
	if g.Mode == config.BlockAlways {
		return "strandline blocks automatic compactions (compaction.block_auto = always); /compact is not blocked"
	}
	if len(steps.live) == 0 {
		return ""
	}
	last := steps.live[0]
	if last.Usage.IsZero() {
		return ""
	}
	used := max(int(last.Usage.Context()+last.Usage.Output), a.Tokens)
	l := FindLimits(last.Model, a.Window, g.Getenv)
	// Below the threshold it is not the usage that made the client compact: the
	// API has refused, or much was added that no response has counted yet.
	if l.Threshold == 0 || used < l.Threshold || used >= l.Hard-reserve {
		return ""
	}
	return fmt.Sprintf("%d of %d tokens are used: strandline puts compaction off until %d (compaction.block_auto = headroom); /compact is not blocked",
		used, l.Window, l.Hard-reserve)
}

// steps are responses of a session's main chain since its last compaction.
type steps struct {
	live []archive.Step // newest first
	from int            // line of the compaction, -1 without one
}

// maxSteps is how far back a failure is looked for; one is written down as soon as
// the next compaction is asked for.
const maxSteps = 64

func recent(ctx context.Context, src Source, session string) (steps, error) {
	s := steps{from: -1}
	cuts, err := src.Compactions(ctx, archive.Span{Session: session, Limit: 1, Newest: true})
	if err != nil {
		return s, err
	}
	if len(cuts) > 0 {
		s.from = cuts[0].Line
	}
	all, err := src.Steps(ctx, archive.Span{Session: session, Limit: maxSteps, Newest: true})
	for _, x := range all {
		if x.LineFrom > s.from && !x.Sidechain && x.Copy == nil {
			s.live = append(s.live, x)
		}
	}
	return s, err
}

func (s steps) failedAfter(line int) bool {
	for _, x := range s.live {
		if x.LineFrom > line && x.APIError {
			return true
		}
	}
	return false
}

// path is the session's note, "" for what is no session.
func (g Blocker) path(session string) string {
	name := strings.Replace(session, "~", ".", 1) // a sub-agent's
	if g.Dir == "" || !archive.ValidID(name) {
		return ""
	}
	return filepath.Join(g.Dir, name+".json")
}

func readNote(path string) (n note, known bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, false, nil
	}
	if err != nil {
		return n, false, fmt.Errorf("blocking: read note: %w", err)
	}
	if err := json.Unmarshal(data, &n); err != nil { // torn: nothing is blocked on its word, and it goes
		return n, false, errors.Join(fmt.Errorf("blocking: read note: %w", err), forget(path))
	}
	return n, true, nil
}

func writeNote(path string, n note) error {
	data, err := json.Marshal(n)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("blocking: write note: %w", err)
	}
	return nil
}

func forget(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("blocking: forget note: %w", err)
	}
	return nil
}
