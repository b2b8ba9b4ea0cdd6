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

func (a *commands) segmentsCommand(cmd *cobra.Command) {
	var q app.SegmentsQuery
	var c app.SegmentCheck
	f := cmd.Flags()
	sessionFlag(cmd, &q.Session)
	f.BoolVar(&q.All, "all", false, "of all sessions")
	f.BoolVar(&q.Pending, "pending", false, "only segments without a summary")
	check := f.Bool("check", false, "check for finished work now and summarise it")
	f.Float64Var(&c.Share, "context", 0, "with --check: as if this share of the context window were used, e.g. 0.65")
	f.BoolVar(&c.IfDue, "if-due", false, "with --check: only as the usage of the context requires")
	_ = f.MarkHidden("if-due")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if c.Share < 0 || c.Share > 1 {
			return wrongUsage("--context takes a share from 0 to 1", "")
		}
		if q.All && q.Session != "" {
			return wrongUsage("--all and --session exclude each other", "")
		}
		if *check {
			c.Session = q.Session
			checked, err := a.app.CheckSegments(cmd.Context(), c)
			if c.IfDue {
				return err
			}
			return printResult(a, checked.Facts, err, func([]archive.SegmentFact) error { return a.printCheck(checked) })
		}
		list, err := a.app.Segments(cmd.Context(), q)
		return printResult(a, list, err, func([]app.Segment) error { return a.printSegments(list, q.Pending) })
	}
	addCommands(cmd,
		command{"", "show SEGMENT", "Print a segment's summary in full", a.segmentsShow},
		command{"", "search WORDS", "Search summaries, archived ones included", a.segmentsSearch},
		command{"", "save SEGMENT [FILE]", "Save a better summary of a segment (from FILE or stdin)", a.segmentsSave},
		command{"", "clear", "Empty a session's queue, or remove its summaries", a.segmentsClear},
		command{"", "reset-check", "Make the next hook check for finished work", a.segmentsReset},
		command{"", "export FOLDER", "Write summaries as files that older tools read", a.segmentsExport})
}

func (a *commands) printSegments(list []app.Segment, pending bool) error {
	empty := "No segment. `strandline segments --check` checks for finished work now."
	if pending {
		empty = strings.Replace(empty, "No", "No pending", 1)
	}
	t := newTable("SEGMENT", "WHERE", "TIER", ">TOKENS", ">NOW", "BY", "TOPIC")
	return printTable(a, empty, t, list, func(s app.Segment) []string {
		now, by := "-", "pending"
		if s.Content != "" {
			now, by = tokens(s.CompressedTokens), s.By
		}
		return []string{s.ID, s.Handle, string(s.Tier), tokens(s.OriginalTokens), now, by, s.Topic}
	})
}

func (a *commands) printCheck(checked app.SegmentChecked) error {
	var lines []string
	if summarized := task.Report(checked.Facts); summarized != "" {
		lines = append(lines, summarized)
	}
	counts := map[archive.SegmentEvent]int{}
	for _, f := range checked.Facts {
		counts[f.Event]++
	}
	for _, e := range []archive.SegmentEvent{archive.SegmentQueued, archive.SegmentArchived, archive.SegmentPruned} {
		if n := counts[e]; n > 0 {
			lines = append(lines, fmt.Sprintf("%s %s", count(n, "segment"), e))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "Nothing new is cold; "+count(checked.Summaries, "summary")+" kept.")
	}
	return a.println(strings.Join(lines, ", "))
}

func (a *commands) segmentsShow(cmd *cobra.Command) {
	query(a, cmd, func(ctx context.Context, args []string) (app.Segment, error) {
		return a.app.Segment(ctx, args[0])
	}, func(j app.Segment) error {
		p := a.paint()
		facts := []string{j.Handle, string(j.Tier), fmt.Sprintf("%d -> %d tokens", j.OriginalTokens, j.CompressedTokens)}
		if j.By != "" {
			facts = append(facts, "by "+j.By, a.stamp(j.CompressedAt))
		}
		if n := len(j.Versions); n > 0 {
			facts = append(facts, count(n, "earlier version"))
		}
		fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(j.ID), oneLine(j.Topic), p.dim(strings.Join(facts, " · ")))
		return a.println(cmp.Or(j.Content, "It has no summary yet: strandline segments save "+j.ID))
	})
}

func (a *commands) segmentsSearch(cmd *cobra.Command) {
	cmd.Args = arguments("WORDS...")
	warm := cmd.Flags().Bool("warm", false, "leave archived ones out")
	query(a, cmd, func(ctx context.Context, args []string) ([]app.Segment, error) {
		return a.app.SearchSegments(ctx, strings.Join(args, " "), !*warm)
	}, func(list []app.Segment) error {
		t := newTable("SEGMENT", "WHERE", "TIER", "TOPIC")
		return printTable(a, "No summary contains any of these words.", t, list, func(s app.Segment) []string {
			return []string{s.ID, s.Handle, string(s.Tier), s.Topic}
		})
	})
}

func (a *commands) segmentsSave(cmd *cobra.Command) {
	session := cmd.Flags().String("session", "", "session or handle (default: the segment's)")
	noFiles := cmd.Flags().String("no-files", "", "why the key files are not named")
	a.action(cmd, func(ctx context.Context, args []string) (string, error) {
		text, err := a.readSummary(argument(args[1:]))
		if err != nil {
			return "", err
		}
		return a.app.SaveSegment(ctx, *session, task.Draft{Segment: args[0], Text: text, NoFiles: *noFiles})
	})
}

// maxSummary is the maximum size in bytes of a summary.
const maxSummary = 1 << 20

// readSummary reads a file, or stdin if path is "" or "-".
func (a *commands) readSummary(path string) (string, error) {
	in := a.env.Stdin
	if path != "" && path != "-" {
		f, err := os.Open(a.app.Abs(path))
		if err != nil {
			return "", &archive.Error{Code: archive.CodeInvalid, Msg: "cannot read the summary", Err: err}
		}
		defer f.Close() // opened for reading
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSummary))
	if err != nil {
		return "", fmt.Errorf("read the summary: %w", err)
	}
	return strings.ToValidUTF8(string(text), ""), nil
}

// sessionAction makes a command that changes a session and prints a line.
func (a *commands) sessionAction(cmd *cobra.Command, run func(ctx context.Context, session string, args []string) (string, error)) {
	var session string
	sessionFlag(cmd, &session)
	a.action(cmd, func(ctx context.Context, args []string) (string, error) { return run(ctx, session, args) })
}

func (a *commands) segmentsClear(cmd *cobra.Command) {
	summaries := cmd.Flags().Bool("summaries", false, "remove the summaries instead; the conversation stays")
	a.sessionAction(cmd, func(ctx context.Context, session string, _ []string) (string, error) {
		n, err := a.app.ClearSegments(ctx, session, *summaries)
		if *summaries {
			return count(n, "summary") + " removed.", err
		}
		return count(n, "segment") + " taken off the queue.", err
	})
}

func (a *commands) segmentsReset(cmd *cobra.Command) {
	a.sessionAction(cmd, func(ctx context.Context, session string, _ []string) (string, error) {
		id, err := a.app.ResetSegmentCheck(ctx, session)
		return "The next hook of " + archive.ShortID(id) + " checks for finished work.", err
	})
}

func (a *commands) segmentsExport(cmd *cobra.Command) {
	a.sessionAction(cmd, func(ctx context.Context, session string, args []string) (string, error) {
		dir := a.app.Abs(args[0])
		n, err := a.app.ExportSegments(ctx, session, dir)
		return count(n, "file") + " written to " + dir, err
	})
}

func (a *commands) queueCommand(cmd *cobra.Command) {
	var session string
	sessionFlag(cmd, &session)
	query(a, cmd, func(ctx context.Context, _ []string) (task.Queue, error) {
		return a.app.SegmentQueue(ctx, session)
	}, func(q task.Queue) error {
		fmt.Fprintf(a.out, "%s pending, %s compressed\n", count(len(q.Pending), "segment"), count(len(q.Compressed), "segment"))
		if len(q.Pending) == 0 {
			return nil
		}
		return printTable(a, "", newTable("SEGMENT", "QUEUED", ">TOKENS", "TOPIC"), q.Pending, func(e task.QueueEntry) []string {
			return []string{e.ID, a.ago(e.QueuedAt), tokens(e.OriginalTokens), e.Topic}
		})
	})
}
