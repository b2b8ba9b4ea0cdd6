package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/task"
)

func (a *commands) timelineCommand() *cobra.Command {
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
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				id, err := a.app.SessionOrLatest(cmd.Context(), x, strings.Join(args, ""))
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

func (a *commands) timeline(ctx context.Context, x app.Archive, id string, asJSON bool) error {
	past, err := task.Load(ctx, x.Index, id, 0)
	if err != nil {
		return err
	}
	state, err := task.LoadState(ctx, x.Index, id)
	if err != nil {
		return err
	}
	if !asJSON {
		return a.printTimeline(past, state)
	}
	return a.printJSON(app.NewTimeline(past, state))
}

func (a *commands) printTimeline(past *task.History, state *task.State) error {
	p, s := a.paint(), past.Session
	facts := []string{
		a.stamp(s.First) + " – " + a.stamp(s.Last),
		strings.Join([]string{count(len(past.Turns), "turn"), count(len(past.Steps), "step"), count(len(past.Compactions), "compaction")}, ", "),
	}
	fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(s.ID), oneLine(app.ProjectName(s.Project)), p.dim(strings.Join(facts, " · ")))
	if curve := app.ContextCurve(past); len(curve) > 1 {
		fmt.Fprintf(a.out, "tokens %s up to %s\n", sparkline(curve, min(a.width()-24, 96)), tokens(maxOf(curve)))
	}
	t := newTable("HANDLE", "TIME", ">STEPS", ">TOKENS", "WHAT")
	for _, row := range task.Timeline(past, state) {
		handle, text := row.At.Handle(), row.Text(tokens)
		switch {
		case row.Kind == task.TimelineTurn:
			behind := "-"
			if row.Tokens > 0 {
				behind = tokens(row.Tokens)
			}
			t.row(handle, a.clock(row.Time), fmt.Sprint(row.Steps), behind, text)
		case row.Kind == task.TimelineCompaction:
			t.row(handle, a.clock(row.Time), "", "", text)
		case row.What == "":
			t.row("", "", "", "", "  "+text)
		default:
			t.row("  "+handle, "", fmt.Sprint(row.Steps), "", "  "+text)
		}
	}
	return t.write(a.out, a.width())
}

// clock formats a time of day.
func (a *commands) clock(t time.Time) string { return a.format(t, "01-02 15:04") }

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
