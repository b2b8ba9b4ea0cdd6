package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
)

func (a *commands) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what is kept, how large it is, and whether anything is missing",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				st, err := a.status(cmd.Context(), x)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(st)
				}
				a.printStatus(st)
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) status(ctx context.Context, x app.Archive) (app.Status, error) {
	t, err := x.Index.Totals(ctx)
	if err != nil {
		return app.Status{}, err
	}
	st := app.Status{
		Version: a.app.Version, Home: x.Config.Paths.Home, Sessions: t.Sessions, Agents: t.Agents, Projects: t.Projects,
		Older: t.Older, Turns: t.Turns, Steps: t.Steps, Calls: t.Calls, Passages: t.Passages, Compactions: t.Compactions,
		Bytes: t.Bytes, First: t.First, Last: t.Last,
		LogBytes: treeSize(x.File("log")), IndexBytes: treeSize(x.Config.Paths.Index()) + treeSize(x.Config.Paths.Index()+"-wal"),
		Pending: x.Pending().Any(),
	}
	entries, err := state.RecentErrors(x.Config.Paths.Errors(), a.app.Now().Add(-24*time.Hour), 1000)
	if err != nil {
		return st, err
	}
	st.Errors = len(entries)
	if st.Measured, err = a.measured(ctx, x); err != nil {
		return st, err
	}
	files, err := clientFiles(ctx, x.Workspace)
	if err != nil {
		return st, err
	}
	h, err := a.pass(x.Workspace).Health(ctx, x.Index, files)
	st.Uncaptured, st.Unindexed, st.Memory = h.Uncaptured, h.Unindexed, app.NewMemory(h)
	return st, err
}

// statusCompactions is how many of the last compactions the status looks at.
// Those that were not measured yet take a hundredth of a second each.
const statusCompactions = 5

// measured returns the mean outcome of the last compactions, nil where there is
// none that tells something.
func (a *commands) measured(ctx context.Context, x app.Archive) (*app.Measured, error) {
	sessions, err := x.Index.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return nil, err
	}
	list, err := a.outcomes(ctx, x, sessions, statusCompactions)
	if err != nil {
		return nil, err
	}
	var m app.Measured
	for _, o := range list {
		if !o.Told {
			continue
		}
		m.Compactions++
		m.Kept += o.Kept
		if o.Given && !o.Compaction.Ours {
			m.Together += o.Together
		} else {
			m.Together += o.Kept // what would have been restored helped nobody
		}
	}
	if m.Compactions == 0 {
		return nil, nil
	}
	m.Kept, m.Together = *app.Rounded(m.Kept / float64(m.Compactions)), *app.Rounded(m.Together / float64(m.Compactions))
	return &m, nil
}

// clientFiles lists the files that the client has on disk.
func clientFiles(ctx context.Context, r app.Workspace) ([]capture.Job, error) {
	projects := filepath.Join(r.Config.ClientDir, "projects")
	if _, err := os.Stat(projects); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	jobs, _, err := capture.List(ctx, []string{projects})
	return jobs, err
}

// uncaptured counts the client's files that hold bytes the logs do not.
func uncaptured(ctx context.Context, r app.Workspace) (int, error) {
	jobs, err := clientFiles(ctx, r)
	if err != nil {
		return 0, err
	}
	m, err := r.Capture.Uncaptured(jobs)
	return m.Files, err
}

// treeSize adds up the sizes of the files at or below a path; what cannot be
// read counts nothing.
func treeSize(root string) int64 {
	var n int64
	_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // see the function's comment
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// holdMore says that so many files are ahead of their logs.
func holdMore(n int) string {
	if n == 1 {
		return "1 of the client's files holds more than is kept"
	}
	return fmt.Sprintf("%d of the client's files hold more than is kept", n)
}

// notIndexed says that so many sessions are logged and cannot be found.
func notIndexed(n int) string {
	if n == 1 {
		return "1 session that is kept is not in the index"
	}
	return fmt.Sprintf("%d sessions that are kept are not in the index", n)
}

func (a *commands) printStatus(st app.Status) {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	styled := func(name, text string, style func(string) string) {
		hang(a.out, columns, p.dim(fmt.Sprintf("%-11s", name))+" ", 12, text, style)
	}
	line := func(name, text string) { styled(name, text, plain) }
	line("archive", st.Home)
	line("kept", fmt.Sprintf("%s of %s, %s to %s",
		runs(st.Sessions, st.Agents), count(st.Projects, "project"), a.stamp(st.First), a.stamp(st.Last)))
	if st.Older > 0 {
		line("", count(st.Older, "earlier generation")+" of transcripts that were rewritten")
	}
	line("", strings.Join([]string{count(st.Turns, "turn"), count(st.Steps, "step"), count(st.Calls, "tool call"),
		count(st.Compactions, "compaction"), count(st.Passages, "passage")}, " · "))
	ratio := ""
	if st.LogBytes > 0 {
		ratio = fmt.Sprintf(" (%.1f : 1)", float64(st.Bytes)/float64(st.LogBytes))
	}
	line("on disk", fmt.Sprintf("%s of transcripts in %s of logs%s, index %s", size(st.Bytes), size(st.LogBytes), ratio, size(st.IndexBytes)))
	if m := st.Measured; m != nil {
		text := fmt.Sprintf("the last %s kept %s of what was needed next", count(m.Compactions, "compaction"), percent(m.Kept))
		if m.Together > m.Kept {
			text += ", " + percent(m.Together) + " with what was given back"
		}
		line("compacted", text)
	}
	a.printMemory(st)
	if st.Pending {
		styled("pending", "a session waits to be indexed: `strandline maintain` does it now", p.yellow)
	}
	if st.Errors > 0 {
		styled("errors", fmt.Sprintf("%d in the last day: `strandline doctor` shows what happened", st.Errors), p.yellow)
	}
}
