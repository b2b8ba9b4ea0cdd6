package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/config"
	"strandline/internal/demo"
	"strandline/internal/embed"
	"strandline/internal/recall"
)

func (a *commands) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the whole story in seconds, touching nothing of yours",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "strandline-demo-")
			if err != nil {
				return fmt.Errorf("make a folder for the demo: %w", err)
			}
			_, live := a.env.Terminal(a.env.Stdout)
			err = demo.Run(cmd.Context(), demo.Env{
				Out: a.env.Stdout, Color: a.paint().on, Live: live, Now: a.app.Now, Dir: dir,
				Open: a.openDemo,
			})
			return errors.Join(err, os.RemoveAll(dir))
		},
	}
}

// demoArchive is the demo's installation: the commands' own code over folders of
// its own.
type demoArchive struct {
	app     *commands
	cfg     *config.Config
	capture *capture.Capture
	store   *app.Index
	known   *app.Index
	table   *embed.Static
}

func (a *commands) openDemo(ctx context.Context, home, clientDir string) (demo.Archive, error) {
	env := map[string]string{"STRANDLINE_HOME": home, "CLAUDE_CONFIG_DIR": clientDir, "XDG_CONFIG_HOME": filepath.Join(home, "config")}
	cfg, err := config.Load(config.Inputs{Env: func(k string) string { return env[k] }, Home: home})
	if err != nil {
		return nil, err
	}
	c, _, err := a.app.NewCapture(cfg)
	if err != nil {
		return nil, err
	}
	s, err := a.app.Stores.OpenIndex(ctx, cfg.Paths.Index(), app.BulkWrite)
	if err != nil {
		return nil, err
	}
	known, err := a.app.Stores.OpenIndex(ctx, cfg.Paths.Index(), app.ReadOnly)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &demoArchive{app: a, cfg: cfg, capture: c, store: s, known: known, table: embed.NewStatic()}, nil
}

// Import implements demo.Archive.
func (d *demoArchive) Import(ctx context.Context, clientDir string, progress func(done, total int64)) (demo.Imported, error) {
	jobs, _, err := d.capture.Discover(ctx, []string{filepath.Join(clientDir, "projects")})
	if err != nil {
		return demo.Imported{}, err
	}
	report, err := d.capture.Bulk(ctx, d.store, d.known, jobs, func(p capture.Progress) { progress(p.Bytes, p.TotalBytes) })
	if err != nil {
		return demo.Imported{}, err
	}
	for _, f := range report.Failed {
		err = errors.Join(err, f.Err)
	}
	t, terr := d.store.Totals(ctx)
	return demo.Imported{Sessions: t.Sessions, Agents: t.Agents, Turns: t.Turns, Passages: t.Passages, Bytes: report.Bytes}, errors.Join(err, terr)
}

// Restore implements demo.Archive.
func (d *demoArchive) Restore(ctx context.Context, session string, beforeLine, budget int) (string, error) {
	block, err := compact.Restore(ctx, d.store, compact.Request{Session: session, AtLine: beforeLine, Budget: budget, Now: d.app.app.Now()})
	return block.Text, err
}

// Search implements demo.Archive.
func (d *demoArchive) Search(ctx context.Context, query string, n int) ([]archive.Hit, error) {
	req, err := recall.Parse(query, d.app.app.Now())
	if err != nil {
		return nil, err
	}
	req.Limit = n
	result, err := recall.New(d.store, d.app.app.Now, d.table).Search(ctx, req)
	if err != nil {
		return nil, err
	}
	var hits []archive.Hit
	for _, h := range result.Hits {
		hits = append(hits, archive.Hit{Score: h.Score, Passage: archive.Passage{
			Session: h.Ref.Session, Turn: h.Ref.Turn, Step: h.Ref.Step, Kind: h.Kind, Label: h.Label, Text: h.Text,
			Paths: h.Paths, LineFrom: h.LineFrom, LineTo: h.LineTo, Time: h.Time,
		}})
	}
	return hits, nil
}

// Export implements demo.Archive.
func (d *demoArchive) Export(_ context.Context, session string, w io.Writer) error {
	return d.capture.Export(session, 0, w)
}

// Close implements demo.Archive.
func (d *demoArchive) Close() error { return errors.Join(d.known.Close(), d.store.Close()) }
