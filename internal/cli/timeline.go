package cli

import (
	"fmt"
	"slices"
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
			out, err := a.app.Timeline(cmd.Context(), strings.Join(args, ""))
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(out)
			}
			return a.printTimeline(out)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) printTimeline(out app.Timeline) error {
	p := a.paint()
	facts := []string{
		a.stamp(out.Info.First) + " – " + a.stamp(out.Info.Last),
		strings.Join([]string{count(len(out.Turns), "turn"), count(out.Steps, "step"), count(len(out.Compactions), "compaction")}, ", "),
	}
	fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(out.Session), oneLine(out.Project), p.dim(strings.Join(facts, " · ")))
	if len(out.Tokens) > 1 {
		fmt.Fprintf(a.out, "tokens %s up to %s\n", sparkline(out.Tokens, min(a.width()-24, 96)), tokens(slices.Max(out.Tokens)))
	}
	t := newTable("HANDLE", "TIME", ">STEPS", ">TOKENS", "WHAT")
	for _, row := range out.Rows {
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
	top := max(slices.Max(points), 1)
	levels := []rune(bars)
	var b strings.Builder
	for i := range width {
		n := slices.Max(points[i*len(points)/width : max((i+1)*len(points)/width, i*len(points)/width+1)])
		b.WriteRune(levels[min(int(n*int64(len(levels))/top), len(levels)-1)])
	}
	return b.String()
}
