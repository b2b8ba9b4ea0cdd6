package hook

import (
	"context"
	"fmt"
	"math"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/task"
	"strandline/internal/usage"
)

// Segments is what hooks need to have finished work summarised; see package
// task. Its zero value does nothing.
type Segments struct {
	Gauges usage.Files // how full the windows are
	Marks  task.Marks
}

// looksForWork reports whether the event is one at which finished work is looked
// for: the end of a turn, and tools that do work.
func (p payload) looksForWork() bool {
	if p.agentID != "" {
		return false
	}
	switch p.event {
	case "Stop":
		return true
	case "PostToolUse":
		return p.toolName == "Bash" || p.toolName == "Write" || p.toolName == "Edit"
	}
	return false
}

// segments has finished work looked for in a process of its own, where the
// context window is full enough for it and the last look is some steps ago. It
// costs a hook the reading of two small files at most.
func (r *run) segments(ctx context.Context) error {
	p, set := r.payload, r.env.Config.Segments
	if p.event == "SessionStart" && p.source == "compact" && p.agentID == "" && r.env.Segments.Marks.Dir != "" {
		return r.env.Segments.Marks.Reset(p.session)
	}
	if set.Disabled || r.env.Segments.Marks.Dir == "" || r.idx == nil || !p.looksForWork() {
		return nil
	}
	if !set.ForceCheck {
		if r.tokens()*100 < int64(set.QueueAt)*leastWindow {
			return nil
		}
		state, _ := r.env.Segments.Gauges.Session(p.session)
		if state.LastPercentage*100 < float64(set.QueueAt) {
			return nil
		}
	}
	s, err := r.idx.Session(ctx, p.session)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	mark := r.env.Segments.Marks.Read(p.session)
	if since := s.Steps - mark.Checked; !set.ForceCheck && since >= 0 && since < r.env.Config.Segments.Every {
		return nil
	}
	mark.Checked = s.Steps
	if err := r.env.Segments.Marks.Write(p.session, mark); err != nil {
		return err
	}
	return r.env.Detach("segments", "--check", "--if-due", "--session", p.session)
}

// leastWindow is the smallest context window, in tokens, that the client can be
// set to: with fewer tokens in it than the threshold's part of that, no file needs
// to be read.
const leastWindow = 100_000

// tokens is what stood in the context with the last response that this hook has
// seen; 0 where it saw none.
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

// summaries are those of the session's finished work. Without them a compaction
// is told a little less; that is no reason to say nothing.
func (r *run) summaries(ctx context.Context, idx Index) (out []compact.Summary) {
	state, err := task.LoadState(ctx, idx, r.payload.subject())
	if err != nil {
		r.log.Error("summaries of segments are not told", "error", err)
		return nil
	}
	for _, e := range state.Kept(math.MaxInt) {
		place := archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}
		out = append(out, compact.Summary{Handle: place.Handle(), Text: e.Content})
	}
	return out
}

// Reminder tells the model of segments that wait for a summary: once when the
// context window has become so full that they were queued, and right behind a
// command, where it is seen that the model can run one.
func Reminder(m task.Marks) Speaker { return reminder{m} }

type reminder struct{ marks task.Marks }

// Name implements Speaker.
func (reminder) Name() string { return "segments" }

// Speak implements Speaker.
func (r reminder) Speak(_ context.Context, m Moment) (Speech, error) {
	if m.Event != "PostToolUse" || m.Tool != "Bash" || strings.Contains(m.Session, "~") {
		return Speech{}, nil
	}
	mark := r.marks.Read(m.Session)
	if mark.Pending == 0 || mark.Crossed <= mark.Reminded {
		return Speech{}, nil
	}
	what := "1 finished piece of work waits"
	if mark.Pending > 1 {
		what = fmt.Sprintf("%d finished pieces of work wait", mark.Pending)
	}
	text := fmt.Sprintf("%s The context is %d%% full and %s for a summary. When it suits, write one each (decisions, file changes, cures of errors, "+
		"outcomes; 80 to 90%% fewer tokens): `strandline segments --pending --session %s` lists them, `strandline segments save ID` takes the text on stdin. "+
		"Nothing is lost if you do not.", usage.Mark, mark.Crossed, what, archive.ShortID(m.Session))
	return Speech{Text: text, Said: func(context.Context) error {
		now := r.marks.Read(m.Session)
		now.Reminded = max(now.Reminded, mark.Crossed)
		return r.marks.Write(m.Session, now)
	}}, nil
}
