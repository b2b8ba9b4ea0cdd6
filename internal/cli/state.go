package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/logfile"
)

// statusJSON is the state of the archive for scripts.
type statusJSON struct {
	Version     string    `json:"version"`
	Home        string    `json:"home"`
	Sessions    int       `json:"sessions"`
	Agents      int       `json:"agents"`
	Projects    int       `json:"projects"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Passages    int       `json:"passages"`
	Compactions int       `json:"compactions"`
	Bytes       int64     `json:"bytes"`
	LogBytes    int64     `json:"log_bytes"`
	IndexBytes  int64     `json:"index_bytes"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Pending     bool      `json:"pending"`
	Errors      int       `json:"errors_24h"`
	Uncaptured  int       `json:"uncaptured_files"`
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what is kept, how large it is, and whether anything is missing",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(cfg *config.Config, c *capture.Capture, s Store) error {
				st, err := a.status(cmd.Context(), cfg, c, s)
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

func (a *app) status(ctx context.Context, cfg *config.Config, c *capture.Capture, s Store) (statusJSON, error) {
	t, err := s.Totals(ctx)
	if err != nil {
		return statusJSON{}, err
	}
	st := statusJSON{
		Version: a.env.Version, Home: cfg.Paths.Home, Sessions: t.Sessions, Agents: t.Agents, Projects: t.Projects,
		Turns: t.Turns, Steps: t.Steps, Calls: t.Calls, Passages: t.Passages, Compactions: t.Compactions,
		Bytes: t.Bytes, First: t.First, Last: t.Last,
		LogBytes: treeSize(filepath.Join(cfg.Paths.Home, "log")), IndexBytes: treeSize(indexPath(cfg.Paths.Home)) + treeSize(indexPath(cfg.Paths.Home)+"-wal"),
		Pending: capture.Pending{Dir: filepath.Join(cfg.Paths.Home, "state", "pending")}.Any(),
	}
	entries, err := logfile.Recent(filepath.Join(cfg.Paths.Home, "strandline.log"), a.env.Now().Add(-24*time.Hour), 1000)
	if err != nil {
		return st, err
	}
	st.Errors = len(entries)
	st.Uncaptured, err = a.uncaptured(ctx, cfg, c)
	return st, err
}

// uncaptured counts the client's files that hold bytes the logs do not.
func (a *app) uncaptured(ctx context.Context, cfg *config.Config, c *capture.Capture) (int, error) {
	projects := filepath.Join(cfg.ClientDir, "projects")
	if _, err := os.Stat(projects); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	jobs, _, err := c.Discover(ctx, []string{projects})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, j := range jobs {
		behind, err := c.Behind(*j.Source, j.Size)
		if err != nil {
			return n, err
		}
		if behind {
			n++
		}
	}
	return n, nil
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

func (a *app) printStatus(st statusJSON) {
	p, w := a.paint(), a.env.Stdout
	line := func(name, text string) { fmt.Fprintf(w, "%s %s\n", p.dim(fmt.Sprintf("%-11s", name)), text) }
	line("archive", st.Home)
	line("kept", fmt.Sprintf("%d sessions and %d sub-agents' runs of %d projects, %s to %s",
		st.Sessions, st.Agents, st.Projects, stamp(st.First), stamp(st.Last)))
	line("", fmt.Sprintf("%d turns · %d steps · %d tool calls · %d compactions · %d passages",
		st.Turns, st.Steps, st.Calls, st.Compactions, st.Passages))
	ratio := ""
	if st.LogBytes > 0 {
		ratio = fmt.Sprintf(" (%.1f : 1)", float64(st.Bytes)/float64(st.LogBytes))
	}
	line("on disk", fmt.Sprintf("%s of transcripts in %s of logs%s, index %s", size(st.Bytes), size(st.LogBytes), ratio, size(st.IndexBytes)))
	captured := p.green("everything that the client has on disk is kept")
	if st.Uncaptured > 0 {
		captured = p.yellow(fmt.Sprintf("%d of the client's files hold more than is kept: `strandline import` brings it in", st.Uncaptured))
	}
	line("captured", captured)
	if st.Pending {
		line("pending", p.yellow("a session waits to be indexed: `strandline maintain` does it now"))
	}
	if st.Errors > 0 {
		line("errors", p.yellow(fmt.Sprintf("%d in the last day: `strandline doctor` shows them", st.Errors)))
	}
}

// statsJSON are the sums of an archive or a session for scripts.
type statsJSON struct {
	Session     string    `json:"session,omitempty"`
	Sessions    int       `json:"sessions"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Compactions int       `json:"compactions"`
	Bytes       int64     `json:"bytes"`
	Input       int64     `json:"input_tokens"`
	Output      int64     `json:"output_tokens"`
	CacheRead   int64     `json:"cache_read_tokens"`
	CacheWrite  int64     `json:"cache_write_tokens"`
	CostUSD     float64   `json:"cost_usd"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
}

func (a *app) statsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats [SESSION]",
		Short: "Count turns, calls, tokens and cost of the archive or of one session",
		Long: `Count turns, calls, tokens and cost of the archive or of one session. Tokens are the
API's own figures, each response counted once; cost is what the client wrote down.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(_ *config.Config, _ *capture.Capture, s Store) error {
				st, err := stats(cmd.Context(), s, args)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(st)
				}
				a.printStats(st)
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func stats(ctx context.Context, s Store, args []string) (statsJSON, error) {
	if len(args) == 1 {
		_, id, err := session(ctx, s, args[0])
		if err != nil {
			return statsJSON{}, err
		}
		x, err := s.Session(ctx, id)
		return statsJSON{
			Session: id, Sessions: 1, Turns: x.Turns, Steps: x.Steps, Calls: x.Calls, Compactions: x.Compacts, Bytes: x.Bytes,
			Input: x.Usage.Input, Output: x.Usage.Output, CacheRead: x.Usage.CacheRead, CacheWrite: x.Usage.CacheWrite,
			CostUSD: x.Cost.USD, First: x.First, Last: x.Last,
		}, err
	}
	t, err := s.Totals(ctx)
	return statsJSON{
		Sessions: t.Sessions + t.Agents, Turns: t.Turns, Steps: t.Steps, Calls: t.Calls, Compactions: t.Compactions, Bytes: t.Bytes,
		Input: t.Usage.Input, Output: t.Usage.Output, CacheRead: t.Usage.CacheRead, CacheWrite: t.Usage.CacheWrite,
		CostUSD: t.CostUSD, First: t.First, Last: t.Last,
	}, err
}

func (a *app) printStats(st statsJSON) {
	w := a.env.Stdout
	if st.Session != "" {
		fmt.Fprintln(w, st.Session)
	}
	fmt.Fprintf(w, "%-12s %d\n%-12s %d\n%-12s %d\n%-12s %d\n%-12s %d\n%-12s %s\n",
		"sessions", st.Sessions, "turns", st.Turns, "steps", st.Steps, "tool calls", st.Calls, "compactions", st.Compactions, "transcripts", size(st.Bytes))
	fmt.Fprintf(w, "%-12s %s input · %s cache read · %s cache write · %s output\n", "tokens", tokens(st.Input), tokens(st.CacheRead), tokens(st.CacheWrite), tokens(st.Output))
	if st.CostUSD > 0 {
		fmt.Fprintf(w, "%-12s $%.2f as the client counted it\n", "cost", st.CostUSD)
	}
	fmt.Fprintf(w, "%-12s %s to %s\n", "time", stamp(st.First), stamp(st.Last))
}

func (a *app) projectsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "List the projects that sessions are kept of",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(_ *config.Config, _ *capture.Capture, s Store) error {
				list, err := s.Projects(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(list)
				}
				t := newTable("PROJECT", ">SESSIONS", ">TURNS", ">SIZE", "LAST", "FOLDER")
				for _, p := range list {
					t.row(firstOf(p.Project.Name, p.Project.Key), fmt.Sprint(p.Sessions), fmt.Sprint(p.Turns), size(p.Bytes), a.ago(p.Last), projectName(p.Project))
				}
				return t.write(a.env.Stdout, a.width())
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(a.mergeCommand())
	return cmd
}

// mergeCommand makes a folder that was moved one project with its old self.
func (a *app) mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge FROM INTO",
		Short: "Make the sessions of a moved folder belong to the project it is now",
		Long: `Make the sessions of one project belong to another: for a folder that was moved or
renamed. FROM and INTO are folders or the keys that ` + "`projects --json`" + ` prints. The
fact is kept in the journal, so that a rebuilt index knows it.`,
		Args: exactArgs("FROM", "INTO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd.Context(), StoreWrite, func(cfg *config.Config, c *capture.Capture, s Store) error {
				keys := [2]string{}
				for i, arg := range args {
					var err error
					if keys[i], err = a.projectKey(cmd.Context(), c, s, arg); err != nil {
						return err
					}
				}
				if keys[0] == keys[1] {
					return usageError{archive.Invalid("both are the same project", "")}
				}
				_, journal, err := a.env.NewCapture(cfg)
				if err != nil {
					return err
				}
				err = journal.Record(cmd.Context(), archive.JournalMerge, "", archive.MergeFact{From: keys[0], Into: keys[1]})
				return errors.Join(err, journal.Sync(cmd.Context(), s))
			})
		},
	}
}

// projectKey finds the project that a folder or a key names. A folder that is
// gone is found by where it was.
func (a *app) projectKey(ctx context.Context, c *capture.Capture, s Store, typed string) (string, error) {
	list, err := s.Projects(ctx)
	if err != nil {
		return "", err
	}
	path := a.abs(typed)
	for _, p := range list {
		if p.Project.Key == typed || p.Project.Root == path || p.Project.Worktree == path {
			return p.Project.Key, nil
		}
	}
	if _, err := os.Stat(path); err == nil {
		return c.Project(path).Key, nil
	}
	return "", archive.NotFound(fmt.Sprintf("no project %q is kept", typed), "`strandline projects` lists them")
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]string{"version": a.env.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			fmt.Fprintf(a.env.Stdout, "strandline %s (%s, %s/%s)\n", a.env.Version, strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	finish(cmd)
	return cmd
}
