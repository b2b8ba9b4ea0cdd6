package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/app/maintenance"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/recall"
	"strandline/internal/state"
)

func (a *commands) maintainCommand() *cobra.Command {
	var asJSON, background, compacting bool
	cmd := &cobra.Command{
		Use:   "maintain",
		Short: "Do one pass of upkeep: index, embed, learn, seal finished logs",
		Long: `Do one pass of upkeep: finish what hooks had to leave, index every log that is ahead of
the index, make the vectors that searches for meaning need, note which of the places that
compactions gave back were used, and rewrite logs that nothing was added to for hours into
a smaller form. A pass may run at any time
and as often as one likes; hooks start one by themselves at most once an hour, unless
lifecycle.auto is off.

What is older than retention.days and was never given back to the model leaves the hot
set: searches that you type still find it, and its log stays as it is. --compact drops
its text from the index, where it stands a second time, and gives the space to the disk;
so does a pass while the archive takes more than retention.max_bytes. Logs are deleted
only with retention.delete, in the way of ` + "`strandline forget`" + `.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.leavesSync() {
				return a.env.Companion(cmd.Context())
			}
			if background {
				return a.upkeepBehind(cmd.Context())
			}
			if a.app.NeedsNetwork() {
				return a.env.Companion(cmd.Context())
			}
			r, err := a.app.Workspace()
			if err != nil {
				return err
			}
			return a.maintain(cmd.Context(), r, compacting, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&compacting, "compact", false, "drop duplicate text of what is outside the hot set")
	cmd.Flags().BoolVar(&background, "background", false, "as a hook starts it")
	_ = cmd.Flags().MarkHidden("background") // it is there
	return cmd
}

func (a *commands) maintain(ctx context.Context, r app.Workspace, compacting, asJSON bool) error {
	lock, err := r.Lock("maintain", "pass of upkeep")
	if err != nil {
		return err
	}
	defer lock.Release() // it ends with the process in any case
	stages, err := a.upkeep(ctx, r, effort{embed: a.app.EmbedAll, compacting: compacting})
	if err != nil {
		return err
	}
	if asJSON {
		err = a.printJSON(stages)
	} else {
		err = a.printStages(stages)
	}
	if failed(stages) != nil && err == nil {
		err = silentError{ExitInternal}
	}
	return err
}

// upkeep does a pass and, when nobody has the index open any more, deletes for good
// what is to be forgotten: what an interrupted command left, and what
// retention.delete gives up.
func (a *commands) upkeep(ctx context.Context, r app.Workspace, how effort) (stages []maintenance.Stage, err error) {
	f := forgetter(r)
	open, failed := f.Open(ctx) // before anything is captured
	parts, perr := f.OpenParts(ctx)
	failed = errors.Join(failed, perr)
	var due []string
	err = a.app.WithIndex(ctx, r, app.ReadWrite, func(x app.Archive) error {
		stages = a.runPass(ctx, x, how)
		if failed == nil {
			due, failed = f.Expired(ctx, x.Index, a.retention(x.Workspace, how.compacting), a.app.Now())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	st := maintenance.Stage{Name: "forget"}
	start := a.app.Now()
	for _, session := range due {
		if failed == nil {
			failed = f.Begin(ctx, session, archive.ForgetOld)
		}
	}
	if all := slices.Concat(open, due); failed == nil && len(all) > 0 {
		st.Before = app.TreeSize(r.File("log"))
		failed = a.erase(ctx, r, all)
		st.Done, st.After = len(all), app.TreeSize(r.File("log"))
	}
	if failed == nil && len(parts) > 0 {
		failed = a.eraseParts(ctx, r, parts)
		st.Done += len(parts)
	}
	if failed != nil {
		st.Error = failed.Error()
	}
	st.TookMS = a.app.Now().Sub(start).Milliseconds()
	return append(stages, st), nil
}

// effort is how much a pass does.
type effort struct {
	embed      func(context.Context, app.Archive) (int, error) // makes vectors that are missing
	learn      int                                             // cuts to learn from at most, 0 for all
	compacting bool
}

// behindCuts is how many cuts a pass learns from that nobody waits for, some
// hundredths of a second each.
const behindCuts = 20

// runPass notes that a pass begins and does it.
func (a *commands) runPass(ctx context.Context, x app.Archive, how effort) []maintenance.Stage {
	p := a.app.MaintenanceRunner(x.Workspace)
	p.Embed = func(ctx context.Context) (int, error) { return how.embed(ctx, x) }
	p.Measure = a.measureFor(x)
	p.Teach, p.Synthetic, p.Learned, p.LearnLimit = teacher{a, x}.Teach, teacher{a, x}.Synthetic, maintenance.Learned{Path: x.Config.Paths.Learned()}, how.learn
	p.Retention = a.retention(x.Workspace, how.compacting)
	p.Extra = append(p.Extra, maintenance.Step{Name: "segments", Run: func(ctx context.Context, _ maintenance.Index, st *maintenance.Stage) (err error) {
		st.Done, err = a.app.PruneSegments(ctx, x)
		return err
	}})
	p.Extra = append(p.Extra, a.syncStep(x)...)
	p.Schedule.Begin(a.app.Now())
	return p.Run(ctx, maintenance.Index{Index: x.Index, Tiers: x.Index, Outcomes: x.Index})
}

// retention is what the settings let leave the hot set, or go.
func (a *commands) retention(r app.Workspace, compacting bool) maintenance.Retention {
	return maintenance.Retention{
		Rule: recall.ConfidenceWithDecay(r.Config.Lifecycle.Decay),
		Age:  time.Duration(r.Config.Retention.Days) * 24 * time.Hour, MaxBytes: r.Config.Retention.MaxBytes,
		Delete: r.Config.Retention.Delete, Compact: compacting,
		Sizes: func() (int64, int64) {
			return app.TreeSize(r.Config.Paths.Index()) + app.TreeSize(r.Config.Paths.Index()+"-wal") + app.TreeSize(r.Config.Paths.Vectors()), app.TreeSize(r.File("log")) + app.TreeSize(r.Config.Paths.Journal())
		},
	}
}

// failed joins the errors of stages.
func failed(stages []maintenance.Stage) error {
	var errs []error
	for _, st := range stages {
		if st.Error != "" {
			errs = append(errs, fmt.Errorf("%s: %s", st.Name, st.Error))
		}
	}
	return errors.Join(errs...)
}

// upkeepBehind is a pass that nobody waits for: it gives way to everybody else,
// one that is running already does the work, and errors go where the hooks' go.
func (a *commands) upkeepBehind(ctx context.Context) error {
	r, err := a.app.LenientWorkspace()
	if err != nil {
		return err
	}
	a.app.System.LowerPriority()
	lock, err := state.TryLock(r.File("maintain.lock"))
	if errors.Is(err, state.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Release() // it ends with the process in any case
	stages, err := a.upkeep(ctx, r, effort{embed: a.app.EmbedSome, learn: behindCuts})
	if err = errors.Join(err, failed(stages)); err != nil {
		r.Logger().Error("upkeep", "event", "maintain", "error", err)
	}
	return err
}

// measureFor returns what measures a compaction for a maintenance run.
func (a *commands) measureFor(x app.Archive) func(context.Context, archive.Compaction) (compact.Outcome, error) {
	return func(ctx context.Context, c archive.Compaction) (compact.Outcome, error) {
		return compact.Measure(ctx, x.Index, c, x.Config.Restore.Budget, a.app.Replacer(x))
	}
}

// printStages prints what a pass did and nothing of stages that had nothing to
// do.
func (a *commands) printStages(stages []maintenance.Stage) error {
	t := newTable("STAGE", "DONE")
	for _, st := range stages {
		text := told(st)
		if st.Error != "" {
			text = strings.TrimPrefix(text+"; ", "; ") + a.paint().red(st.Error)
		}
		if text != "" {
			t.row(st.Name, text)
		}
	}
	if len(t.rows) == 0 {
		fmt.Fprintln(a.out, "Everything is in order: there was nothing to do.")
		return nil
	}
	return t.write(a.out, a.width())
}

// told says in words what a stage did, "" if that was nothing.
func told(st maintenance.Stage) string {
	if st.Done == 0 {
		return ""
	}
	text := map[string]string{
		"pending":  count(st.Done, "session") + " that hooks had left",
		"index":    count(st.Done, "session") + " indexed",
		"embed":    count(st.Done, "passage") + " embedded",
		"feedback": count(st.Done, "compaction") + " measured",
		"learn":    "learned from " + count(st.Done, "cut"),
		"tiers":    count(st.Done, "turn") + " taken out of the hot set or back",
		"compact":  count(st.Done, "turn") + " trimmed to summaries",
		"segments": count(st.Done, "archived summary") + " reduced to the text",
		"sync":     count(st.Done, "session") + " brought to the team's archive",
		"seal":     count(st.Done, "log") + " sealed",
		"state":    count(st.Done, "note") + " removed of sessions that ended long ago",
		"forget":   count(st.Done, "session") + " deleted for good",
	}[st.Name]
	text = cmp.Or(text, fmt.Sprintf("%d done", st.Done)) // a stage of others
	if st.Before > 0 {
		text += ", " + size(st.Before) + " → " + size(st.After)
	}
	if st.TookMS >= 1000 {
		text += fmt.Sprintf(" (%.1f s)", (time.Duration(st.TookMS) * time.Millisecond).Seconds())
	}
	return text
}
