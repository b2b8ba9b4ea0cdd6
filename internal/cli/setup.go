package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/state"
)

// settings loads the effective settings. They can be used even where the error
// says that a value was not accepted: the next best one is in force then.
func (a *app) settings() (*config.Config, error) {
	return config.Load(config.Inputs{Env: a.env.Getenv, Home: a.env.Home, Cwd: a.projectRoot()})
}

// projectRoot is the folder whose .strandline.toml counts.
func (a *app) projectRoot() string {
	if dir := a.env.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		return dir
	}
	return a.env.Cwd
}

// rooms are what a command works with: its settings, and the archive's folder
// with what writes there.
type rooms struct {
	cfg     *config.Config
	capture *capture.Capture
	journal capture.Journal
}

// enter finds the archive of a command. A setting that was not
// accepted is an error here, while a hook would go on without it.
func (a *app) enter() (rooms, error) {
	cfg, err := a.settings()
	if err != nil {
		return rooms{}, err
	}
	c, journal, err := a.env.NewCapture(cfg)
	return rooms{cfg, c, journal}, err
}

// enterAnyway is enter for work behind the user's back: as in a hook, a setting
// that is not accepted stops nothing.
func (a *app) enterAnyway() (rooms, error) {
	cfg, _ := a.settings()
	c, journal, err := a.env.NewCapture(cfg)
	return rooms{cfg, c, journal}, err
}

// complain notes what went wrong where nobody reads what is printed.
func (r rooms) complain(msg string, args ...any) {
	slog.New(slog.NewJSONHandler(&state.LogFile{Path: r.cfg.Paths.Errors()}, nil)).Error(msg, args...)
}

// file is the path of a file in the archive's folder.
func (r rooms) file(parts ...string) string {
	return filepath.Join(append([]string{r.cfg.Paths.Home}, parts...)...)
}

func (r rooms) pending() capture.Pending { return capture.Pending{Dir: r.cfg.Paths.Pending()} }

// indexed are the rooms with an open index.
type indexed struct {
	rooms
	store Store
}

// withStore lets run work with the index. One that may be written has what the
// journal holds before run begins.
func (a *app) withStore(ctx context.Context, mode StoreMode, run func(indexed) error) error {
	r, err := a.enter()
	if err != nil {
		return err
	}
	return a.withIndex(ctx, r, mode, run)
}

// withIndex is withStore for a command that is inside already.
func (a *app) withIndex(ctx context.Context, r rooms, mode StoreMode, run func(indexed) error) error {
	if _, err := os.Stat(r.cfg.Paths.Index()); mode == StoreRead && errors.Is(err, os.ErrNotExist) {
		return archive.NotFound("there is no archive in "+r.cfg.Paths.Home+" yet",
			"`strandline import` brings in the sessions that exist, `strandline init` records the coming ones")
	}
	s, err := a.env.OpenStore(ctx, r.cfg.Paths.Index(), mode)
	if err != nil {
		return err
	}
	if mode != StoreRead && mode != StoreLate {
		if err := r.journal.Sync(ctx, s); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return errors.Join(run(indexed{r, s}), s.Close())
}

// lock keeps two commands from doing the same work at once.
func (r rooms) lock(name, work string) (*state.Lock, error) {
	lock, err := state.TryLock(r.file(name + ".lock"))
	return lock, r.notLocked(err, work)
}

// notLocked tells a user why a lock was not taken.
func (r rooms) notLocked(err error, work string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, state.ErrHeld):
		return &archive.Error{Code: archive.CodeBusy, Msg: "another " + work + " is running", Hint: "wait for it to end"}
	}
	return &archive.Error{
		Code: archive.CodeDenied, Msg: "cannot write to " + r.cfg.Paths.Home, Err: err,
		Hint: "check its permissions and the free space, or set STRANDLINE_HOME to another folder",
	}
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
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return cannotPrint(err)
	}
	return nil
}

// arguments is a check that a command gets the arguments that its usage line
// names; one in brackets may be missing, one that ends in dots may be repeated.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := "usage: " + cmd.UseLine()
		many := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "...")
		switch {
		case len(args) > len(names) && !many:
			return wrongUsage(fmt.Sprintf("%q is one argument too many", args[len(names)]), hint)
		case len(args) < len(names) && !strings.HasPrefix(names[len(args)], "["):
			return wrongUsage(strings.TrimSuffix(names[len(args)], "...")+" is missing", hint)
		}
		return nil
	}
}

func sessionFlag(cmd *cobra.Command, v *string) {
	cmd.Flags().StringVar(v, "session", "", "session or handle (default: the last session of this project)")
}

func jsonFlag(cmd *cobra.Command, v *bool) {
	cmd.Flags().BoolVar(v, "json", false, "print JSON for scripts")
}
