package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/task"
)

// segmentFlags are those of segments itself.
type segmentFlags struct {
	session             string
	all, pending, check bool
	quiet, asJSON       bool
	share               float64
}

func (a *commands) segmentsCommand() *cobra.Command {
	var f segmentFlags
	cmd := &cobra.Command{
		Use:   "segments",
		Short: "List summaries of finished work, and what waits for one",
		Long: `List the segments of a session: stretches of work that are finished and went cold, and
their summaries. L1 is in the client's context and waits for a summary, L2 is summarised,
L3 is archived: searches find it as well, but it is not brought up unasked any more.

Hooks look for cold work as the context fills: from 60 percent on it is queued, from 70
on summarised, and above 80 old summaries are archived (settings segments.*). --check
looks at once, however full the context is.`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.share < 0 || f.share > 1 {
				return wrongUsage("--context takes a share from 0 to 1", "")
			}
			if f.all && f.session != "" {
				return wrongUsage("--all and --session exclude each other", "")
			}
			if f.check {
				return a.checkSegments(cmd.Context(), f)
			}
			return a.listSegments(cmd.Context(), f)
		},
	}
	fl := cmd.Flags()
	sessionFlag(cmd, &f.session)
	fl.BoolVar(&f.all, "all", false, "of all sessions")
	fl.BoolVar(&f.pending, "pending", false, "only those that wait for a summary")
	fl.BoolVar(&f.check, "check", false, "look for cold work now and summarise it")
	fl.Float64Var(&f.share, "context", 0, "with --check: as if this share of the context window were full, e.g. 0.65")
	fl.BoolVar(&f.quiet, "if-due", false, "with --check: only as far as the context's fill asks for it")
	_ = fl.MarkHidden("if-due")
	jsonFlag(cmd, &f.asJSON)
	cmd.AddCommand(a.segmentsShow(), a.segmentsSearch(), a.segmentsSave(), a.segmentsClear(), a.segmentsReset(), a.segmentsExport())
	return cmd
}

func (a *commands) listSegments(ctx context.Context, f segmentFlags) error {
	out, err := a.app.Segments(ctx, app.SegmentsQuery{Session: f.session, All: f.all, Pending: f.pending})
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.printJSON(out)
	}
	if len(out) == 0 {
		what := "No segment"
		if f.pending {
			what = "No pending segment"
		}
		fmt.Fprintln(a.out, what+". `strandline segments --check` looks for finished work now.")
		return nil
	}
	t := newTable("SEGMENT", "WHERE", "TIER", ">TOKENS", ">NOW", "BY", "TOPIC")
	for _, j := range out {
		now, by := "-", "pending"
		if j.Content != "" {
			now, by = tokens(int64(j.CompressedTokens)), j.By
		}
		t.row(j.ID, j.Handle, string(j.Tier), tokens(int64(j.OriginalTokens)), now, by, j.Topic)
	}
	return t.write(a.out, a.width())
}

// checkSegments looks for finished work in one session and records what it finds.
func (a *commands) checkSegments(ctx context.Context, f segmentFlags) error {
	out, err := a.app.CheckSegments(ctx, app.SegmentCheck{Session: f.session, Share: f.share, IfDue: f.quiet})
	switch {
	case err != nil || f.quiet:
		return err
	case f.asJSON:
		return a.printJSON(out.Facts)
	}
	a.reportCheck(out)
	return nil
}

func (a *commands) reportCheck(checked app.SegmentChecked) {
	var lines []string
	if summarized := task.Report(checked.Facts); summarized != "" {
		lines = append(lines, summarized)
	}
	for _, e := range []archive.SegmentEvent{archive.SegmentQueued, archive.SegmentArchived, archive.SegmentPruned} {
		n := 0
		for _, f := range checked.Facts {
			if f.Event == e {
				n++
			}
		}
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%s %s", count(n, "segment"), e))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("Nothing new is cold; %s.", count(checked.Summary, "summary")+" kept"))
	}
	fmt.Fprintln(a.out, strings.Join(lines, ", "))
}

func (a *commands) segmentsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show SEGMENT", Short: "Print a segment's summary whole, with its earlier versions", Args: arguments("SEGMENT"),
		Long: `Print a segment's summary whole. SEGMENT is an id as ` + "`strandline segments`" + ` lists it, or the
beginning of one; archived ones are found as well. --json holds the earlier versions.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.showSegment(cmd.Context(), args[0], asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) showSegment(ctx context.Context, id string, asJSON bool) error {
	j, err := a.app.Segment(ctx, id)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(j)
	}
	p := a.paint()
	facts := []string{j.Handle, string(j.Tier), fmt.Sprintf("%d -> %d tokens", j.OriginalTokens, j.CompressedTokens)}
	if j.By != "" {
		facts = append(facts, "by "+j.By, a.stamp(j.CompressedAt))
	}
	if n := len(j.Versions); n > 0 {
		facts = append(facts, count(n, "earlier version"))
	}
	fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(j.ID), oneLine(j.Topic), p.dim(strings.Join(facts, " · ")))
	fmt.Fprintln(a.out, cmp.Or(j.Content, "It waits for a summary: strandline segments save "+j.ID))
	return nil
}

func (a *commands) segmentsSave() *cobra.Command {
	var typed, noFiles string
	cmd := &cobra.Command{
		Use: "save SEGMENT [FILE]", Short: "Give a segment a better summary (from FILE or stdin)",
		Long: `Give a segment a summary that was written by hand or by the agent, from FILE or stdin.
It has to be about the segment, take at most a fifth of its tokens (80 to 90 percent
fewer are aimed at) and name the key files, or --no-files says why not. What was there
before is kept as a version. A summary that is refused changes nothing.`,
		Args: arguments("SEGMENT", "[FILE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := a.draft(args[1:])
			if err != nil {
				return err
			}
			report, err := a.app.SaveSegment(cmd.Context(), typed, task.Draft{Segment: args[0], Text: text, NoFiles: noFiles})
			if err == nil {
				fmt.Fprintln(a.out, report)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&typed, "session", "", "session or handle (default: the segment's)")
	cmd.Flags().StringVar(&noFiles, "no-files", "", "why the key files are not named")
	return cmd
}

// maxDraft is the most that is read of a summary.
const maxDraft = 1 << 20

func (a *commands) draft(args []string) (string, error) {
	in := a.env.Stdin
	if len(args) > 0 && args[0] != "-" {
		f, err := os.Open(a.app.Abs(args[0]))
		if err != nil {
			return "", &archive.Error{Code: archive.CodeInvalid, Msg: "cannot read the summary", Err: err}
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxDraft))
	if err != nil {
		return "", fmt.Errorf("read the summary: %w", err)
	}
	return strings.ToValidUTF8(string(text), ""), nil
}

func (a *commands) segmentsClear() *cobra.Command {
	var typed string
	cmd := &cobra.Command{
		Use: "clear", Short: "Empty a session's queue; summaries stay", Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			n, err := a.app.ClearSegments(cmd.Context(), typed)
			if err == nil {
				fmt.Fprintf(a.out, "%s taken off the queue.\n", count(n, "segment"))
			}
			return err
		},
	}
	sessionFlag(cmd, &typed)
	return cmd
}
