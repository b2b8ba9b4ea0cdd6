package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/state"
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
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error { return a.listSegments(cmd.Context(), x, f) })
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

func (a *commands) listSegments(ctx context.Context, x app.Archive, f segmentFlags) error {
	id, now := "", 0
	if !f.all {
		var err error
		if id, err = a.app.SessionOrLatest(ctx, x, f.session); err != nil {
			return err
		}
		s, err := x.Index.Session(ctx, id)
		if err != nil {
			return err
		}
		now = s.Steps
	}
	state, err := task.LoadState(ctx, x.Index, id)
	if err != nil {
		return err
	}
	out := app.Segments(state, f.pending, now)
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

func share100(n int) float64 { return float64(n) / 100 }

// forced is a share that makes a check summarise whatever is cold.
const forced = 2

// checkSegments looks for cold work in one session and records what it finds.
func (a *commands) checkSegments(ctx context.Context, f segmentFlags) error {
	return a.withSegments(ctx, f.session, func(x app.Archive, id string) error {
		if f.quiet && x.Config.Segments.Disabled {
			return nil
		}
		past, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return err
		}
		kept, err := task.LoadState(ctx, x.Index, id)
		if err != nil {
			return err
		}
		share := f.share
		switch {
		case share > 0:
		case f.quiet && !x.Config.Segments.ForceCheck:
			kept, _ := a.pass(x.Workspace).Usage.Session(id)
			share = min(kept.LastPercentage, 1) // 0 where a compaction has emptied it meanwhile
		default:
			share = forced
		}
		facts := past.Check(kept, share, x.SegmentOptions(), a.app.Now())
		if err := record(ctx, x, id, facts); err != nil {
			return err
		}
		if f.quiet {
			return remark(ctx, x, id, share, len(past.Steps))
		}
		if f.asJSON {
			return a.printJSON(append([]archive.SegmentFact{}, facts...))
		}
		a.reportCheck(facts, kept)
		return nil
	})
}

// pruneSegments reduces archived summaries that are old enough to their text: a
// session's own checks end with it.
func (a *commands) pruneSegments(ctx context.Context, x app.Archive) (int, error) {
	if x.Config.Segments.Disabled {
		return 0, nil
	}
	kept, err := task.LoadState(ctx, x.Index, "")
	if err != nil {
		return 0, err
	}
	facts := kept.Prune(x.SegmentOptions(), a.app.Now())
	return len(facts), record(ctx, x, "", facts)
}

func (a *commands) reportCheck(facts []archive.SegmentFact, kept *task.State) {
	said := task.Report(facts)
	counts := map[archive.SegmentEvent]int{}
	for _, x := range facts {
		counts[x.Event]++
	}
	var rest []string
	for _, e := range []archive.SegmentEvent{archive.SegmentQueued, archive.SegmentArchived, archive.SegmentPruned} {
		if n := counts[e]; n > 0 {
			rest = append(rest, fmt.Sprintf("%s %s", count(n, "segment"), e))
		}
	}
	if said != "" {
		rest = append([]string{said}, rest...)
	}
	if len(rest) == 0 {
		rest = append(rest, fmt.Sprintf("Nothing new is cold; %s.", count(len(kept.Summarised()), "summary")+" kept"))
	}
	fmt.Fprintln(a.out, strings.Join(rest, ", "))
}

// remark notes for the hooks what waits now, and which threshold was passed.
func remark(ctx context.Context, x app.Archive, id string, share float64, steps int) error {
	kept, err := task.LoadState(ctx, x.Index, id)
	if err != nil {
		return err
	}
	mark := x.Marks().Read(id)
	mark.Checked, mark.Pending, mark.Crossed = max(mark.Checked, steps), len(kept.Pending()), 0
	for _, at := range []int{x.Config.Segments.QueueAt, x.Config.Segments.SummariseAt, x.Config.Segments.ArchiveAt} {
		if share >= share100(at) {
			mark.Crossed = max(mark.Crossed, at)
		}
	}
	mark.Reminded = min(mark.Reminded, mark.Crossed)
	return x.Marks().Write(id, mark)
}

// withSegments lets run change the segments of a session while nobody else does.
func (a *commands) withSegments(ctx context.Context, typed string, run func(x app.Archive, id string) error) error {
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, segmentsWait)
	defer cancel()
	lock, err := state.WaitLock(wait, r.File("segments.lock"), false)
	if err != nil {
		return r.LockError(err, "change of segments")
	}
	err = a.app.WithIndex(ctx, r, app.ReadWrite, func(x app.Archive) error {
		id, err := a.app.SessionOrLatest(ctx, x, typed)
		if err != nil {
			return err
		}
		return run(x, id)
	})
	if released := lock.Release(); err == nil {
		err = released
	}
	return err
}

// record writes what happened to segments into the journal and the index.
func record(ctx context.Context, x app.Archive, session string, facts []archive.SegmentFact) error {
	if len(facts) == 0 {
		return nil
	}
	entries := make([]capture.Fact, len(facts))
	for i, f := range facts {
		entries[i] = capture.Fact{Kind: archive.JournalSegment, Session: cmp.Or(f.Segment.Session, session), Data: f}
	}
	if err := x.Journal.RecordAll(ctx, entries...); err != nil {
		return err
	}
	return x.Journal.Sync(ctx, x.Index)
}

// summaries are those that the hook would pass on. As of a line they are made
// anew from what stood before it, as the hooks make them while a context fills.
func (a *commands) summaries(ctx context.Context, x app.Archive, req compact.Request) (out []compact.Summary, err error) {
	if x.Config.Segments.Disabled {
		return nil, nil
	}
	kept, err := task.LoadState(ctx, x.Index, req.Session)
	if err != nil {
		return nil, err
	}
	now := math.MaxInt
	if req.AtLine > 0 {
		past, err := task.Load(ctx, x.Index, req.Session, req.AtLine)
		if err != nil {
			return nil, err
		}
		now = len(past.Steps)
		kept = task.Of(past.Check(&task.State{}, forced, x.SegmentOptions(), req.Now), req.Now)
	}
	for _, e := range kept.Kept(now) {
		place := archive.Ref{Session: e.Session, Turn: e.StartTurn, Step: -1}
		out = append(out, compact.Summary{Handle: place.Handle(), Text: e.Content})
	}
	return out, nil
}

func (a *commands) segmentsShow() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show SEGMENT", Short: "Print a segment's summary whole, with its earlier versions", Args: arguments("SEGMENT"),
		Long: `Print a segment's summary whole. SEGMENT is an id as ` + "`strandline segments`" + ` lists it, or the
beginning of one; archived ones are found as well. --json holds the earlier versions.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			mode := app.ReadOnly
			if a.readByModel() {
				mode = app.ReadWrite
			}
			return a.app.WithArchive(cmd.Context(), mode, func(x app.Archive) error { return a.showSegment(cmd.Context(), x, args[0], asJSON) })
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// readByModel reports that the client's model runs this command, and no person:
// what it reads of a summary counts as use.
func (a *commands) readByModel() bool { return a.app.Getenv("CLAUDECODE") != "" }

func (a *commands) showSegment(ctx context.Context, x app.Archive, id string, asJSON bool) error {
	kept, err := task.LoadState(ctx, x.Index, "")
	if err != nil {
		return err
	}
	e, err := kept.Find(id)
	if err != nil {
		return err
	}
	if e.Content != "" && a.readByModel() {
		seen := archive.SegmentFact{Event: archive.SegmentRead, Segment: archive.Segment{ID: e.ID, Session: e.Session}}
		if err := record(ctx, x, e.Session, []archive.SegmentFact{seen}); err != nil {
			return err
		}
	}
	j := app.NewSegment(e, e.End)
	if asJSON {
		return a.printJSON(j)
	}
	p := a.paint()
	facts := []string{j.Handle, string(j.Tier), fmt.Sprintf("%d -> %d tokens", j.OriginalTokens, j.CompressedTokens)}
	if e.By != "" {
		facts = append(facts, "by "+e.By, a.stamp(e.CompressedAt))
	}
	if n := len(e.Versions); n > 0 {
		facts = append(facts, count(n, "earlier version"))
	}
	fmt.Fprintf(a.out, "%s  %s\n%s\n", p.bold(j.ID), oneLine(j.Topic), p.dim(strings.Join(facts, " · ")))
	fmt.Fprintln(a.out, cmp.Or(e.Content, "It waits for a summary: strandline segments save "+e.ID))
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
			report, err := a.saveSegment(cmd.Context(), typed, task.Draft{Segment: args[0], Text: text, NoFiles: noFiles})
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
		f, err := os.Open(a.abs(args[0]))
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

// SaveSegment takes a summary that was written elsewhere than on a command line,
// and reports what became of it. An empty session is the segment's own.
func SaveSegment(ctx context.Context, a *app.App, session string, d task.Draft) (report string, err error) {
	return (&commands{app: a}).saveSegment(ctx, session, d)
}

func (a *commands) saveSegment(ctx context.Context, typed string, d task.Draft) (report string, err error) {
	if typed == "" {
		if typed, err = a.sessionOfSegment(ctx, d.Segment); err != nil {
			return "", err
		}
	}
	err = a.withSegments(ctx, typed, func(x app.Archive, id string) error {
		past, err := task.Load(ctx, x.Index, id, 0)
		if err != nil {
			return err
		}
		state, err := task.LoadState(ctx, x.Index, id)
		if err != nil {
			return err
		}
		redact := x.Redact
		d.Text, d.NoFiles = redact(d.Text), redact(d.NoFiles)
		s, err := past.Save(state, d, a.app.Now())
		if err != nil {
			return err
		}
		facts := []archive.SegmentFact{{Event: archive.SegmentSaved, Segment: s}}
		if err := record(ctx, x, id, facts); err != nil {
			return err
		}
		report = task.Report(facts)
		return nil
	})
	return report, err
}

// sessionOfSegment finds the session of a segment that is known; one that is not
// is looked for in the last session of the project.
func (a *commands) sessionOfSegment(ctx context.Context, segment string) (session string, err error) {
	err = a.app.WithArchive(ctx, app.ReadOnly, func(x app.Archive) error {
		kept, err := task.LoadState(ctx, x.Index, "")
		if err != nil {
			return err
		}
		e, err := kept.Find(segment)
		if archive.ErrorCode(err) == archive.CodeNotFound {
			return nil
		}
		session = e.Session
		return err
	})
	return session, err
}

func (a *commands) segmentsClear() *cobra.Command {
	var typed string
	cmd := &cobra.Command{
		Use: "clear", Short: "Empty a session's queue; summaries stay", Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withSegments(cmd.Context(), typed, func(x app.Archive, id string) error {
				kept, err := task.LoadState(cmd.Context(), x.Index, id)
				if err != nil {
					return err
				}
				var facts []archive.SegmentFact
				for _, e := range kept.Pending() {
					facts = append(facts, archive.SegmentFact{Event: archive.SegmentCleared, Segment: archive.Segment{ID: e.ID, Session: id}})
				}
				if err := record(cmd.Context(), x, id, facts); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s taken off the queue.\n", count(len(facts), "segment"))
				return nil
			})
		},
	}
	sessionFlag(cmd, &typed)
	return cmd
}
