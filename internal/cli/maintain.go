package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
)

func (a *commands) maintainCommand(cmd *cobra.Command) {
	a.jsonFlag(cmd)
	compacting := cmd.Flags().Bool("compact", false, "drop duplicate texts of turns outside the hot set")
	background := cmd.Flags().Bool("background", false, "as a hook starts it")
	_ = cmd.Flags().MarkHidden("background") // fails only for an unknown flag
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		switch {
		case a.app.NeedsTeamDriver(), !*background && a.app.NeedsNetwork():
			return a.env.Companion(ctx)
		case *background:
			return a.app.MaintainInBackground(ctx)
		}
		stages, err := a.app.Maintain(ctx, *compacting)
		if failed := app.StageErrors(stages); err == nil && failed != nil {
			err = silentError{exitCode(failed)}
		}
		return printResult(a, stages, err, a.printStages)
	}
}

// printStages prints the stages that did something or failed.
func (a *commands) printStages(stages []app.Stage) error {
	t := newTable("STAGE", "DONE")
	for _, st := range stages {
		text := describeStage(st)
		if st.Error != "" {
			text = strings.TrimPrefix(text+"; ", "; ") + a.paint().red(st.Error)
		}
		if text != "" {
			t.row(st.Name, text)
		}
	}
	if len(t.rows) == 0 {
		return a.println("Everything is in order: there was nothing to do.")
	}
	return t.write(a.out, a.width())
}

// describeStage summarizes a stage, "" if it did nothing.
func describeStage(st app.Stage) string {
	if st.Done == 0 {
		return ""
	}
	units := map[string][2]string{
		"pending":  {"session", " that hooks had deferred"},
		"index":    {"session", " indexed"},
		"embed":    {"passage", " embedded"},
		"posted":   {"posted fact", " deleted after 30 days"},
		"feedback": {"compaction", " measured"},
		"learn":    {"compaction", " learned from"},
		"tiers":    {"turn", " moved out of the hot set or back"},
		"compact":  {"turn", " trimmed to summaries"},
		"segments": {"archived summary", " reduced to the text"},
		"sync":     {"session", " pushed to the team's archive"},
		"seal":     {"log", " sealed"},
		"state":    {"file", " removed of sessions that ended long ago"},
		"forget":   {"session", " deleted for good"},
		"redact":   {"session", " indexed again with newer rules for secrets"},
	}
	text := fmt.Sprintf("%d done", st.Done)
	if unit, ok := units[st.Name]; ok {
		text = count(st.Done, unit[0]) + unit[1]
	}
	if st.Before > 0 {
		text += ", " + size(st.Before) + " → " + size(st.After)
	}
	if st.TookMS >= 1000 {
		text += fmt.Sprintf(" (%.1f s)", (time.Duration(st.TookMS) * time.Millisecond).Seconds())
	}
	return text
}

func (a *commands) reindexCommand(cmd *cobra.Command) {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.reindex(cmd.Context()) }
}

func (a *commands) reindex(ctx context.Context) error {
	bar := a.newProgress("indexing")
	out, err := a.app.Reindex(ctx, bar.capture)
	bar.end()
	if r := out.Built; r.Done > 0 || err == nil {
		fmt.Fprintf(a.out, "%s indexed from %s of logs\n", runs(r.Sessions, r.Agents), size(r.Bytes))
	}
	if r := out.Later; r.Sessions+r.Agents > 0 {
		fmt.Fprintf(a.out, "%s changed meanwhile, now indexed as well\n", runs(r.Sessions, r.Agents))
	}
	for _, f := range out.Failed {
		fmt.Fprintf(a.errOut, "not indexed completely: %s\n", f)
	}
	if err == nil && len(out.Failed) > 0 {
		return silentError{ExitCorrupt}
	}
	return err
}

// catchupCommand is started by hooks, near their deadline and when a session ends.
// Its output is not shown.
func (a *commands) catchupCommand(cmd *cobra.Command) {
	var ended capture.PendingWork
	cmd.Hidden = true
	reindex := cmd.Flags().Bool("reindex", false, "rebuild the index first")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.app.CatchUp(cmd.Context(), ended, *reindex) }
	cmd.Flags().StringVar(&ended.Client, "client", "", "the client of the session")
	cmd.Flags().StringVar(&ended.Session, "session", "", "a session that has ended: wait for its last rows")
	cmd.Flags().StringVar(&ended.Transcript, "transcript", "", "its transcript")
	cmd.Flags().StringVar(&ended.Cwd, "cwd", "", "its folder")
}

func (a *commands) syncCommand(cmd *cobra.Command) {
	var push app.Push
	url := cmd.Flags().String("dsn", "", "address of the team's database (default: the settings)")
	cmd.Flags().BoolVar(&push.DryRun, "dry-run", false, "print the plan and change nothing")
	cmd.Flags().BoolVar(&push.Again, "again", false, "push everything again")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		bar := a.newProgress("syncing")
		push.Progress = func(done, all int) {
			bar.draw(int64(done), int64(all), fmt.Sprintf("%d/%d sessions", done, all), done == all)
		}
		report, err := a.app.Sync(cmd.Context(), *url, push)
		bar.end()
		if errors.Is(err, app.ErrNotLinked) {
			return a.env.Companion(cmd.Context())
		}
		return printResult(a, report, err, a.printSync)
	}
}

func (a *commands) printSync(r app.PushReport) error {
	verb := "pushed"
	if r.DryRun {
		verb = "would be pushed"
	}
	if r.Sessions+r.Facts == 0 {
		fmt.Fprintf(a.out, "Nothing is new: the team's archive has %s of yours.\n", count(r.Unchanged, "session"))
	} else {
		fmt.Fprintf(a.out, "%s %s: %s, %s of text; %d unchanged.\n", count(r.Sessions, "session"), verb, count(r.Passages, "passage"), size(r.Bytes), r.Unchanged)
	}
	for _, d := range r.Deleted {
		fmt.Fprintf(a.out, "%s deleted there for good: %d rows, none is left.\n", archive.ShortID(d.Session), d.Rows)
	}
	if n := len(r.Elsewhere); n > 0 {
		fmt.Fprintf(a.out, "%s left out: deleted from the team's archive for good.\n", count(n, "session"))
	}
	return nil
}
