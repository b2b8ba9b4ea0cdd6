package hook

import (
	"context"
	"errors"
	"math"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// Segments holds the state files that decide when finished work is looked for.
// The zero value disables it.
type Segments struct {
	Usage usage.Store
	Marks task.CheckStates
}

// segments starts a background process that looks for finished work within a turn, if
// the context window is full enough and the last check is Every steps ago. It reads
// at most two small files. The catch-up looks for it after the turn.
func (r *run) segments(ctx context.Context) error {
	p, set := r.payload, r.env.Config.Segments
	if p.Event == "SessionStart" && p.Source == "compact" && p.AgentID == "" && r.env.Segments.Marks.Dir != "" {
		return r.env.Segments.Marks.Reset(p.Session)
	}
	if set.Disabled || r.env.Segments.Marks.Dir == "" || r.idx == nil || !p.changes() || !set.ForceCheck && !r.full(set.QueueAt) {
		return nil
	}
	s, err := r.idx.Session(ctx, p.Session)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	mark := r.env.Segments.Marks.Read(p.Session)
	if since := s.Steps - mark.Checked; !set.ForceCheck && since >= 0 && since < set.Every {
		return nil
	}
	mark.Checked = s.Steps
	// A hook that is stopped between the two checks once more.
	return errors.Join(r.env.Detach("segments", "--check", "--if-due", "--session", p.Session), r.env.Segments.Marks.Write(p.Session, mark))
}

// minWindow is the smallest context window, in tokens, that the client can be set
// to.
const minWindow = 100_000

// full reports whether the context window is filled to percent or more. It reads
// no file if the tokens would not fill the smallest window that far.
func (r *run) full(percent int) bool {
	if r.tokens()*100 < int64(percent)*minWindow {
		return false
	}
	state, _ := r.env.Segments.Usage.Session(r.payload.Session)
	return state.LastPercentage*100 >= float64(percent)
}

// tokens returns the context size at the last response that this hook indexed, or
// 0 if it indexed none.
func (r *run) tokens() (n int64) {
	for _, b := range r.batches {
		for _, s := range b.Steps {
			if !s.Sidechain && !s.Usage.IsZero() {
				n = s.Usage.Context() + s.Usage.Output
			}
		}
	}
	return n
}

// summaries returns the summaries of the session's segments. An error is logged;
// the steering text is then written without them.
func (r *run) summaries(ctx context.Context, idx *Index) (out []compact.Summary) {
	state, err := task.LoadState(ctx, idx, r.payload.subject())
	if err != nil {
		r.log.Error("read the summaries of segments", "error", err)
		return nil
	}
	for _, e := range state.Kept(math.MaxInt) {
		place := archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}
		out = append(out, compact.Summary{Handle: place.Handle(), Text: e.Content})
	}
	return out
}
