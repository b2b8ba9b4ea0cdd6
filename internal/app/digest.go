package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Digest sums up a session for a row of a list.
type Digest struct {
	Session string  `json:"session"`
	Tokens  []int64 `json:"tokens"` // in the context: at most digestPoints values over the session
	Added   int     `json:"added"`  // lines that edits added, as far as the index holds their text
	Removed int     `json:"removed"`
	// Outcome is how the session ended: "pushed", "committed", "checks passed", "checks
	// failed", "files changed", or "" if it did none of these.
	Outcome string `json:"outcome,omitempty"`
	Working bool   `json:"working"`
}

// digestPoints is the maximal number of values of a small curve.
const digestPoints = 60

// Digests returns what sessions did. Unknown sessions are left out.
func (a *App) Digests(ctx context.Context, sessions []string) ([]Digest, error) {
	return read(ctx, a, func(x Archive) ([]Digest, error) {
		out := []Digest{}
		for _, typed := range sessions {
			_, id, err := resolveSession(ctx, x.Index, typed)
			if archive.ErrorCode(err) == archive.CodeNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			one, err := a.digest(ctx, x, id)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		return out, nil
	})
}

func (a *App) digest(ctx context.Context, x Archive, id string) (Digest, error) {
	out := Digest{Session: id, Tokens: []int64{}}
	r, err := readRows(ctx, x, archive.Span{Session: id})
	if err != nil {
		return out, err
	}
	for _, p := range sampled(curveOf(r.steps), digestPoints) {
		out.Tokens = append(out.Tokens, p.Tokens)
	}
	for _, e := range r.edits {
		_, added, removed := unified("", passageChanges(e.Text))
		out.Added, out.Removed = out.Added+added, out.Removed+removed
	}
	out.Outcome = outcomeOf(r.calls)
	info, err := x.Index.Session(ctx, id)
	out.Working = err == nil && isWorking(info.Last, a.Now(), r.steps, r.calls)
	return out, err
}

// sessionRows are the rows of a span of turns.
type sessionRows struct {
	steps []archive.Step
	calls []archive.Call
	edits []archive.Passage // that changed a file
}

// editFailed reports whether all edits of a passage's file in its step failed.
func editFailed(e archive.Passage, calls []archive.Call) (failed bool) {
	for _, c := range calls {
		if c.Turn == e.Turn && c.Step == e.Step && c.Kind == archive.CallEdit && len(e.Paths) == 1 && slices.Contains(c.Files, e.Paths[0]) {
			if !c.Failed {
				return false
			}
			failed = true
		}
	}
	return failed
}

func readRows(ctx context.Context, x Archive, span archive.Span) (r sessionRows, err error) {
	if r.steps, err = x.Index.Steps(ctx, span); err != nil {
		return r, err
	}
	if r.calls, err = x.Index.Calls(ctx, archive.CallSpan{Span: span}); err != nil {
		return r, err
	}
	r.edits, err = x.Index.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindEdit}})
	r.edits = archive.Select(r.edits, func(e archive.Passage) bool { return !editFailed(e, r.calls) })
	return r, err
}

// outcomeOf returns the last call of a session that says how it ended.
func outcomeOf(calls []archive.Call) string {
	for _, c := range slices.Backward(calls) {
		command := archive.CommandKey(c.Command)
		switch {
		case c.NotRun() || c.LineResult < 0:
		case c.Kind == archive.CallEdit && !c.Failed:
			return "files changed"
		case c.Kind != archive.CallCommand:
		case archive.IsCheck(command) && c.Failed:
			return "checks failed"
		case c.Failed:
		case strings.Contains(c.Command, "git push") || text.HasAnyPrefix(command, "gh pr create"):
			return "pushed"
		case strings.Contains(c.Command, "git commit"):
			return "committed"
		case archive.IsCheck(command):
			return "checks passed"
		}
	}
	return ""
}

// A tool may run for toolTime without a new row, a response be written for
// responseTime.
const toolTime, responseTime = 30 * time.Minute, 3 * time.Minute

// isWorking reports whether a session waits for a tool or a response: its last step
// has a call, or its last prompt no step, and its last row is recent.
func isWorking(last, now time.Time, steps []archive.Step, calls []archive.Call) bool {
	idle := now.Sub(last)
	if idle > toolTime || len(steps) == 0 {
		return idle < responseTime
	}
	s := steps[len(steps)-1]
	pending, called := false, false
	for _, c := range slices.Backward(calls) {
		if c.Turn != s.Turn || c.Step != s.Index {
			break
		}
		called, pending = true, pending || c.LineResult < 0
	}
	return pending || idle < responseTime && (called || last.After(s.Time.Add(time.Second)) && s.Stop == "")
}
