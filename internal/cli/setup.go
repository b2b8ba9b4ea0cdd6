package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
)

// config loads the effective settings; a bad value is an error here, while a
// hook would go on with the default.
func (a *app) config() (*config.Config, error) {
	cfg, err := config.Load(config.Inputs{
		Env: a.env.Getenv, Home: a.env.Home, Cwd: a.projectRoot(), Flags: a.flags,
	})
	if err != nil {
		return nil, err
	}
	return cfg, nil
}

// projectRoot is the folder whose .strandline.toml counts.
func (a *app) projectRoot() string {
	if dir := a.env.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return a.env.Cwd
}

func indexPath(home string) string { return filepath.Join(home, "index.db") }

// withStore opens the configuration, the capture and the index for a command.
func (a *app) withStore(ctx context.Context, mode StoreMode, run func(*config.Config, *capture.Capture, Store) error) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	c, journal, err := a.env.NewCapture(cfg)
	if err != nil {
		return err
	}
	if _, err := os.Stat(indexPath(cfg.Paths.Home)); mode == StoreRead && errors.Is(err, os.ErrNotExist) {
		return archive.NotFound("there is no archive in "+cfg.Paths.Home+" yet",
			"`strandline import` brings in the sessions that exist, `strandline init` records the coming ones")
	}
	s, err := a.env.OpenStore(ctx, indexPath(cfg.Paths.Home), mode)
	if err != nil {
		return err
	}
	if mode != StoreRead {
		if err := journal.Sync(ctx, s); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return errors.Join(run(cfg, c, s), s.Close())
}

// session resolves what a user typed for a session.
func session(ctx context.Context, s Store, typed string) (archive.Handle, string, error) {
	h, err := archive.ParseHandle(typed)
	if err != nil {
		return h, "", err
	}
	id, err := s.Resolve(ctx, h.Session)
	return h, id, err
}

// printJSON writes v as indented JSON.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// exactArgs is cobra.ExactArgs with an error that names what is missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usageError{archive.Invalid(names[len(args)]+" is missing", "usage: "+cmd.UseLine())}
		case len(args) > len(names):
			return usageError{archive.Invalid(fmt.Sprintf("%q is one argument too many", args[len(names)]), "usage: "+cmd.UseLine())}
		}
		return nil
	}
}

func jsonFlag(cmd *cobra.Command, v *bool) {
	cmd.Flags().BoolVar(v, "json", false, "print JSON for scripts")
}
