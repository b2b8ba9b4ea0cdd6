package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/task"
)

func (a *commands) timelineCommand(cmd *cobra.Command) {
	a.paged(cmd)
	query(a, cmd, func(ctx context.Context, args []string) (app.Timeline, error) {
		return a.app.Timeline(ctx, argument(args))
	}, a.printTimeline)
}

func (a *commands) printTimeline(out app.Timeline) error {
	p := a.paint()
	facts := []string{
		a.stamp(out.Info.First) + " – " + a.stamp(out.Info.Last),
		strings.Join([]string{count(out.Info.Turns-out.Info.Retold, "turn"), count(out.Steps, "step"), count(len(out.Compactions), "compaction")}, ", "),
	}
	fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(out.Session), ofClient(out.Info.Client, oneLine(out.Project)), p.dim(strings.Join(facts, " · ")))
	if len(out.Tokens) > 1 {
		fmt.Fprintf(a.out, "tokens %s up to %s\n", sparkline(out.Tokens, min(a.width()-24, 96)), tokens(slices.Max(out.Tokens)))
	}
	t := newTable("HANDLE", "TIME", ">STEPS", ">TOKENS", "WHAT")
	return printTable(a, "", t, out.Rows, func(row task.TimelineRow) []string {
		handle, at, text := row.At.Handle(), a.format(row.Time, "01-02 15:04"), row.Text(tokens[int64])
		switch {
		case row.Kind == task.TimelineTurn:
			n := "-"
			if row.Tokens > 0 {
				n = tokens(row.Tokens)
			}
			return []string{handle, at, fmt.Sprint(row.Steps), n, text}
		case row.Kind == task.TimelineCompaction:
			return []string{handle, at, "", "", text}
		case row.What == "":
			return []string{"", "", "", "", "  " + text}
		}
		return []string{"  " + handle, "", fmt.Sprint(row.Steps), "", "  " + text}
	})
}

// sparkline draws a curve of at most width characters, each for the maximum of its
// points. The scale begins at zero.
func sparkline(points []int64, width int) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	width = max(min(width, len(points)), 1)
	top := max(slices.Max(points), 1)
	var b strings.Builder
	for i := range width {
		n := slices.Max(points[i*len(points)/width : max((i+1)*len(points)/width, i*len(points)/width+1)])
		b.WriteRune(levels[min(int(n*int64(len(levels))/top), len(levels)-1)])
	}
	return b.String()
}

func (a *commands) tasksCommand(cmd *cobra.Command) {
	var session string
	sessionFlag(cmd, &session)
	open := cmd.Flags().Bool("open", false, "only unfinished tasks")
	query(a, cmd, func(ctx context.Context, args []string) ([]app.TaskTree, error) {
		if len(args) > 0 {
			session = args[0]
		}
		return a.app.Tasks(ctx, session, *open)
	}, func(list []app.TaskTree) error {
		t := newTable("FIRST", "STATUS", "KIND", ">STEPS", "SUBJECT")
		return printTable(a, "The session has no task.", t, list, func(j app.TaskTree) []string {
			subject := cmp.Or(j.Subject, "(task "+j.ID+", its subject is unknown)")
			if j.Agent != "" {
				subject = j.Agent + ": " + subject
			}
			return []string{j.Handle, strings.ReplaceAll(j.Status, "_", " "), string(j.Kind), fmt.Sprint(j.Steps), subject}
		})
	})
}
