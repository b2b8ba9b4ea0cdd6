package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// timelineJSON is a session's course for scripts.
type timelineJSON struct {
	Session     string           `json:"session"`
	Project     string           `json:"project"`
	Tokens      []int64          `json:"tokens"` // in the context, after each response
	Turns       []turnJSON       `json:"turns"`
	Tasks       []taskJSON       `json:"tasks"`
	Segments    []segmentJSON    `json:"segments"`
	Compactions []compactionMark `json:"compactions"`
}

// compactionMark is where the context was cut.
type compactionMark struct {
	Handle  string    `json:"handle"`
	Time    time.Time `json:"time"`
	Trigger string    `json:"trigger"`
	Ours    bool      `json:"ours"`
	Pre     int64     `json:"pre_tokens"`
	Post    int64     `json:"post_tokens"`
}

func (a *app) timelineCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "timeline [SESSION]",
		Short: "Show a session's course: turns, tasks, compactions, tokens",
		Long: `Show the course of a session (default: the last one of this project): its turns with how
many tokens stood in the context behind each, the work that began in them with its state
and tier, where the context was compacted, and how the tokens went up and down.

L1 is in the client's context, L2 summarised, L3 archived; see ` + "`strandline segments`" + `.`,
		Args: arguments("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(x indexed) error {
				id, err := a.sessionOrLast(cmd.Context(), x, strings.Join(args, ""))
				if err != nil {
					return err
				}
				return a.timeline(cmd.Context(), x, id, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) timeline(ctx context.Context, x indexed, id string, asJSON bool) error {
	past, err := task.Load(ctx, x.store, id, 0)
	if err != nil {
		return err
	}
	state, err := task.LoadState(ctx, x.store, id)
	if err != nil {
		return err
	}
	if !asJSON {
		return a.printTimeline(past, state)
	}
	out := timelineJSON{
		Session: id, Project: projectName(past.Session.Project), Tokens: contextCurve(past), Turns: []turnJSON{}, Tasks: []taskJSON{},
		Segments: []segmentJSON{}, Compactions: []compactionMark{},
	}
	for _, t := range past.Turns {
		out.Turns = append(out.Turns, turnJSON{
			Handle: archive.Ref{Session: id, Turn: t.Index, Step: -1}.Handle(), Title: t.Title, Start: t.Start,
			Steps: t.Steps, LineFrom: t.LineFrom, LineTo: t.LineTo,
		})
	}
	for _, t := range past.All() {
		out.Tasks = append(out.Tasks, toTaskJSON(t))
	}
	for _, e := range state.Entries {
		out.Segments = append(out.Segments, toSegmentJSON(e, len(past.Steps)))
	}
	for _, c := range past.Compactions {
		out.Compactions = append(out.Compactions, compactionMark{turnHandle(c), c.Time, c.Trigger, c.Ours, c.PreTokens, c.PostTokens})
	}
	return a.printJSON(out)
}

// contextCurve is how many tokens stood in the context with each response.
func contextCurve(p *task.Past) []int64 {
	out := make([]int64, 0, len(p.Steps))
	for _, s := range p.Steps {
		if n := s.Usage.Context() + s.Usage.Output; n > 0 {
			out = append(out, n)
		}
	}
	return out
}

func (a *app) printTimeline(past *task.Past, state *task.State) error {
	p, s := a.paint(), past.Session
	facts := []string{
		a.stamp(s.First) + " – " + a.stamp(s.Last),
		strings.Join([]string{count(len(past.Turns), "turn"), count(len(past.Steps), "step"), count(len(past.Compactions), "compaction")}, ", "),
	}
	fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(s.ID), oneLine(projectName(s.Project)), p.dim(strings.Join(facts, " · ")))
	if curve := contextCurve(past); len(curve) > 1 {
		fmt.Fprintf(a.out, "tokens %s up to %s\n", sparkline(curve, min(a.width()-24, 96)), tokens(maxOf(curve)))
	}
	began := map[int][]task.Task{}
	for _, t := range past.All() {
		began[t.First.Turn] = append(began[t.First.Turn], t)
	}
	t := newTable("HANDLE", "TIME", ">STEPS", ">TOKENS", "WHAT")
	next := 0
	cuts := func(until int) {
		for ; next < len(past.Compactions) && past.Compactions[next].Turn < until; next++ {
			c := past.Compactions[next]
			by := c.Trigger
			if c.Ours {
				by += ", by Strandline"
			}
			what := "── compacted (" + by + "): " + tokens(c.PreTokens)
			if c.PostTokens > 0 {
				what += " -> " + tokens(c.PostTokens)
			}
			t.row(turnHandle(c), a.clock(c.Time), "", "", what+" ──")
		}
	}
	for _, turn := range past.Turns {
		cuts(turn.Index)
		title := turn.Title
		if title == "" {
			title = "(no prompt)"
		}
		t.row(archive.Ref{Session: s.ID, Turn: turn.Index, Step: -1}.Handle(), a.clock(turn.Start), fmt.Sprint(turn.Steps), turnTokens(past, turn.Index), title)
		for _, w := range began[turn.Index] {
			if w.Kind != task.KindTopic || w.First.Step > 0 {
				t.row("  "+w.First.Handle(), "", fmt.Sprint(w.End-w.Start), "", work(w, state))
			} else if tier := tierOf(w, state); tier != "" {
				t.row("", "", "", "", "  "+strings.TrimSpace(tier))
			}
		}
	}
	cuts(1 << 30)
	return t.write(a.out, a.width())
}

// work says in one line what a piece of work is and how far it got.
func work(w task.Task, state *task.State) string {
	mark := map[string]string{task.Completed: "✓", task.InProgress: "▸", task.Pending: "○", task.Deleted: "×", task.Failed: "!"}[w.Status]
	what := w.Subject
	if what == "" {
		what = "task " + w.ID
	}
	if w.Agent != "" {
		what = w.Agent + ": " + what
	}
	return "  " + mark + " " + tierOf(w, state) + what
}

func tierOf(w task.Task, state *task.State) string {
	e, ok := state.Get(task.SegmentID(w.Session, w.ID))
	switch {
	case !ok:
		return ""
	case e.Pending:
		return "[L1, waits] "
	}
	return fmt.Sprintf("[%s %s->%s] ", e.Tier, tokens(int64(e.OriginalTokens)), tokens(int64(e.CompressedTokens)))
}

// turnTokens is what stood in the context behind the turn's last response.
func turnTokens(p *task.Past, turn int) string {
	for m := p.Moment(turn+1, 0) - 1; m >= 0 && p.Steps[m].Turn == turn; m-- {
		if n := p.Steps[m].Usage.Context() + p.Steps[m].Usage.Output; n > 0 {
			return tokens(n)
		}
	}
	return "-"
}

// clock formats a time of day.
func (a *app) clock(t time.Time) string { return a.format(t, "01-02 15:04") }

// sparkline draws a curve of at most width characters; each stands for the
// highest of its points, measured from zero.
func sparkline(points []int64, width int) string {
	const bars = "▁▂▃▄▅▆▇█"
	width = max(min(width, len(points)), 1)
	top := max(maxOf(points), 1)
	levels := []rune(bars)
	var b strings.Builder
	for i := range width {
		n := maxOf(points[i*len(points)/width : max((i+1)*len(points)/width, i*len(points)/width+1)])
		b.WriteRune(levels[min(int(n*int64(len(levels))/top), len(levels)-1)])
	}
	return b.String()
}

func maxOf(points []int64) (top int64) {
	for _, n := range points {
		top = max(top, n)
	}
	return top
}
