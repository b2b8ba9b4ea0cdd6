package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
)

func (a *app) importCommand() *cobra.Command {
	var from string
	var asJSON, dry bool
	cmd := &cobra.Command{
		Use:   "import [PATH...]",
		Short: "Bring in the sessions that the client has on disk",
		Long: `Bring in the sessions that the client has on disk: transcripts, sub-agents' runs
and large tool outputs. Without PATH, everything in the client's folder; a PATH is a
transcript or a folder of transcripts.

An import that was interrupted goes on where it stopped, and one that runs again
adds only what is new.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if from != "claude" {
				return usageError{archive.Invalid(fmt.Sprintf("cannot import from %q", from), "--from takes claude")}
			}
			return a.runImport(cmd.Context(), args, dry, asJSON)
		},
	}
	cmd.Flags().StringVar(&from, "from", "claude", "whose files they are: claude")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be imported and do nothing")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// importJSON is the outcome of an import for scripts.
type importJSON struct {
	Files    int      `json:"files"`
	Sessions int      `json:"sessions"`
	Bytes    int64    `json:"bytes"`
	Added    int64    `json:"added_bytes"`
	TookMS   int64    `json:"took_ms"`
	Failed   []string `json:"failed,omitempty"`
}

func (a *app) runImport(ctx context.Context, paths []string, dry, asJSON bool) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{filepath.Join(cfg.ClientDir, "projects")}
	}
	for i := range paths {
		paths[i] = a.abs(paths[i])
	}
	c, _, err := a.env.NewCapture(cfg)
	if err != nil {
		return err
	}
	jobs, unreadable, err := c.Discover(ctx, paths)
	if err != nil {
		return err
	}
	if dry {
		return a.dryImport(jobs, asJSON)
	}
	start := a.env.Now()
	bar := a.newProgress("importing", asJSON)
	var report capture.Report
	err = a.bulk(ctx, cfg, func(idx Store, known Store) error {
		var err error
		report, err = c.Bulk(ctx, idx, known, jobs, bar.capture)
		return err
	})
	bar.end()
	if err != nil {
		return err
	}
	report.Failed = append(unreadable, report.Failed...)
	out := importJSON{
		Files: report.Jobs, Sessions: report.Sessions, Bytes: report.Bytes, Added: report.Added,
		TookMS: a.env.Now().Sub(start).Milliseconds(),
	}
	for _, f := range report.Failed {
		out.Failed = append(out.Failed, fmt.Sprintf("%s: %v", f.Path, f.Err))
	}
	if asJSON {
		err = a.printJSON(out)
	} else {
		a.printImport(out)
	}
	if len(out.Failed) > 0 {
		return errors.Join(err, silentError{ExitInternal})
	}
	return err
}

// bulk opens the index twice: one connection writes while the other is asked.
func (a *app) bulk(ctx context.Context, cfg *config.Config, run func(idx, known Store) error) error {
	idx, err := a.env.OpenStore(ctx, indexPath(cfg.Paths.Home), StoreBulk)
	if err != nil {
		return err
	}
	known, err := a.env.OpenStore(ctx, indexPath(cfg.Paths.Home), StoreRead)
	if err != nil {
		return errors.Join(err, idx.Close())
	}
	return errors.Join(run(idx, known), known.Close(), idx.Close())
}

func (a *app) dryImport(jobs []capture.Job, asJSON bool) error {
	out := importJSON{Files: len(jobs)}
	for _, j := range jobs {
		out.Bytes += j.Size
		if j.Source.Rel == "" {
			out.Sessions++
		}
	}
	if asJSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.env.Stdout, "%d sessions in %d files, %s, would be imported.\n", out.Sessions, out.Files, size(out.Bytes))
	return nil
}

func (a *app) printImport(r importJSON) {
	fmt.Fprintf(a.env.Stdout, "%d files read (%s), %s new, %d sessions indexed, %.1f s\n",
		r.Files, size(r.Bytes), size(r.Added), r.Sessions, float64(r.TookMS)/1000)
	for i, f := range r.Failed {
		if i == 10 {
			fmt.Fprintf(a.env.Stderr, "… and %d more\n", len(r.Failed)-i)
			break
		}
		fmt.Fprintf(a.env.Stderr, "not imported: %s\n", f)
	}
}
