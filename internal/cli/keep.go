package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/lifecycle"
	"strandline/internal/lockfile"
	"strandline/internal/sessionlog"
)

// verifyJSON is one verified log.
type verifyJSON struct {
	Log    string `json:"log"`
	OK     bool   `json:"ok"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256,omitempty"`
	// Source is "same", "ahead" (the client's file holds more), "gone", or
	// "differs".
	Source string `json:"source"`
	Error  string `json:"error,omitempty"`
}

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Check every byte: the logs' checksums, and the logs against the client's files",
		Long: `Decompress the logs, check every frame's checksum, and compare them byte for byte with
the client's files where these still exist. Prints a sha256 of each transcript.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			c, _, err := a.env.NewCapture(cfg)
			if err != nil {
				return err
			}
			only := ""
			if len(args) == 1 {
				if only, err = a.loggedSession(cmd.Context(), cfg, c, args[0]); err != nil {
					return err
				}
			}
			return a.verify(cmd.Context(), cfg, c, only, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) verify(ctx context.Context, cfg *config.Config, c *capture.Capture, only string, asJSON bool) error {
	checks, err := c.Verify(ctx, only)
	if err != nil {
		return err
	}
	bad := 0
	out := make([]verifyJSON, 0, len(checks))
	for _, v := range checks {
		rel, err := filepath.Rel(cfg.Paths.Home, v.Log)
		if err != nil {
			rel = v.Log
		}
		j := verifyJSON{Log: rel, OK: v.Err == nil && v.Source != capture.SourceDiffers, Bytes: v.Report.Raw, Lines: v.Report.Lines, Source: string(v.Source)}
		if v.Err != nil {
			j.Error = v.Err.Error()
		} else {
			j.SHA256 = hex.EncodeToString(v.Report.SHA256[:])
		}
		if !j.OK {
			bad++
		}
		out = append(out, j)
	}
	if asJSON {
		err = a.printJSON(out)
	} else {
		err = a.printVerify(out, bad, only != "")
	}
	if bad > 0 {
		return errors.Join(err, silentError{ExitCorrupt})
	}
	return err
}

func (a *app) printVerify(out []verifyJSON, bad int, each bool) error {
	p := a.paint()
	var total int64
	for _, v := range out {
		total += v.Bytes
		switch {
		case v.Error != "":
			fmt.Fprintf(a.env.Stdout, "%s %s: %s\n", p.red("✗"), v.Log, v.Error)
		case !v.OK:
			fmt.Fprintf(a.env.Stdout, "%s %s: the client's file no longer begins with what was logged; the next capture keeps it as a new generation\n", p.red("✗"), v.Log)
		case each:
			fmt.Fprintf(a.env.Stdout, "%s %s  %d bytes, %d lines, client's file: %s\n  sha256 %s\n", p.green("✓"), v.Log, v.Bytes, v.Lines, v.Source, v.SHA256)
		}
	}
	fmt.Fprintf(a.env.Stdout, "%d logs, %s: %d good, %d bad\n", len(out), size(total), len(out)-bad, bad)
	return nil
}

func (a *app) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Rebuild the index from the logs and the journal",
		Long: `Rebuild the index from the logs and the journal alone. The old one stays in place until
the new one is whole; nothing is lost if it is interrupted.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reindex(cmd.Context()) },
	}
}

func (a *app) reindex(ctx context.Context) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	lock, err := lockfile.Try(filepath.Join(cfg.Paths.Home, "reindex.lock"))
	if errors.Is(err, lockfile.ErrHeld) {
		return &archive.Error{Code: archive.CodeBusy, Msg: "another reindex is running", Hint: "wait for it to end"}
	}
	if err != nil {
		return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + cfg.Paths.Home, Err: err}
	}
	defer lock.Release() //nolint:errcheck // it ends with the process
	c, journal, err := a.env.NewCapture(cfg)
	if err != nil {
		return err
	}
	jobs, err := c.Logged(ctx)
	if err != nil {
		return err
	}
	final := indexPath(cfg.Paths.Home)
	fresh := final + ".new"
	if err := removeIndex(fresh); err != nil {
		return err
	}
	report, err := a.buildIndex(ctx, c, journal, fresh, jobs)
	if err != nil {
		return err
	}
	if err := swapIndex(ctx, fresh, final); err != nil {
		return err
	}
	fmt.Fprintf(a.env.Stdout, "%d sessions indexed from %s of logs\n", report.Sessions, size(report.Bytes))
	if len(report.Failed) > 0 {
		for _, f := range report.Failed {
			fmt.Fprintf(a.env.Stderr, "not indexed: %s: %v\n", f.Path, f.Err)
		}
		return silentError{ExitCorrupt}
	}
	return nil
}

// swapIndex puts a new index in the place of the old one while nobody has it
// open: the write-ahead log of the old one must not be taken for the new one's.
func swapIndex(ctx context.Context, fresh, final string) error {
	lock, err := lockfile.Wait(ctx, final+".lock", false)
	if err != nil {
		return &archive.Error{Code: archive.CodeBusy, Msg: "the index stays in use", Err: err, Hint: "end the commands that use it and reindex again"}
	}
	err = errors.Join(removeIfThere(final+"-wal"), removeIfThere(final+"-shm"), os.Rename(fresh, final))
	if err = errors.Join(err, lock.Release()); err != nil {
		return fmt.Errorf("put the new index in place: %w", err)
	}
	return nil
}

func (a *app) buildIndex(ctx context.Context, c *capture.Capture, journal capture.Journal, path string, jobs []capture.Job) (capture.Report, error) {
	idx, err := a.env.OpenStore(ctx, path, StoreBulk)
	if err != nil {
		return capture.Report{}, err
	}
	known, err := a.env.OpenStore(ctx, path, StoreRead)
	if err != nil {
		return capture.Report{}, errors.Join(err, idx.Close())
	}
	bar := a.newProgress("indexing", false)
	report, err := c.Bulk(ctx, idx, known, jobs, bar.capture)
	bar.end()
	if err == nil {
		err = journal.Sync(ctx, idx)
	}
	return report, errors.Join(err, known.Close(), idx.Close())
}

func removeIndex(path string) error {
	return errors.Join(removeIfThere(path), removeIfThere(path+"-wal"), removeIfThere(path+"-shm"))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove old index: %w", err)
	}
	return nil
}

func (a *app) maintainCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "maintain",
		Short: "Do one pass of upkeep: catch up, index, seal finished logs",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), StoreWrite, func(cfg *config.Config, c *capture.Capture, s Store) error {
				stages, err := a.pass(cfg, c).locked(cmd.Context(), cfg, s)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(stages)
				}
				for _, st := range stages {
					line := fmt.Sprintf("%-8s %4d done  %5d ms", st.Name, st.Done, st.TookMS)
					if st.Before > 0 {
						line += fmt.Sprintf("  %s -> %s", size(st.Before), size(st.After))
					}
					if st.Error != "" {
						line += "  " + st.Error
					}
					fmt.Fprintln(a.env.Stdout, line)
				}
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// upkeep is a pass with the lock that keeps it from running twice at once.
type upkeep struct{ lifecycle.Pass }

func (a *app) pass(cfg *config.Config, c *capture.Capture) upkeep {
	return upkeep{lifecycle.Pass{
		Capture: c, Now: a.env.Now, Rest: lifecycle.DefaultRest,
		Journal: capture.Journal{Log: sessionlog.Journal{Dir: filepath.Join(cfg.Paths.Home, "journal")}, Redact: a.env.Redact(cfg), Now: a.env.Now},
		Pending: capture.Pending{Dir: filepath.Join(cfg.Paths.Home, "state", "pending")},
	}}
}

func (u upkeep) locked(ctx context.Context, cfg *config.Config, s Store) ([]lifecycle.Stage, error) {
	lock, err := lockfile.Try(filepath.Join(cfg.Paths.Home, "maintain.lock"))
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, &archive.Error{Code: archive.CodeBusy, Msg: "another pass of upkeep is running", Hint: "it does the same; wait for it to end"}
	}
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + cfg.Paths.Home, Err: err}
	}
	defer lock.Release() //nolint:errcheck // it ends with the process
	return u.Run(ctx, s), nil
}

// How long a catch-up waits for the client's last rows. The client writes a tenth
// of a second behind, and some rows when its last hook has run.
const (
	quietTime = time.Second
	quietWait = 10 * time.Second
)

// catchupCommand is what hooks start when their deadline is near, and when a
// session ends; it is not for people.
func (a *app) catchupCommand() *cobra.Command {
	var ended capture.PendingWork
	cmd := &cobra.Command{
		Use: "catchup", Hidden: true, Args: exactArgs(), Short: "Finish what a hook had to leave",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if ended.Session != "" {
				if err := a.leaveEnded(cmd.Context(), ended); err != nil {
					return err
				}
			}
			return a.catchUp(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&ended.Session, "session", "", "a session that has ended: wait for its last rows")
	cmd.Flags().StringVar(&ended.Transcript, "transcript", "", "its transcript")
	cmd.Flags().StringVar(&ended.Cwd, "cwd", "", "its folder")
	return cmd
}

// leaveEnded waits until the client writes no more into an ended session, and
// notes the session if there is something new in it.
func (a *app) leaveEnded(ctx context.Context, ended capture.PendingWork) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	c, _, err := a.env.NewCapture(cfg)
	if err != nil {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, quietWait)
	defer cancel()
	if err := capture.AwaitQuiet(wait, ended.Transcript, quietTime); err != nil && ctx.Err() != nil {
		return err // the process is asked to end; a client that writes on is captured as far as it got
	}
	src, err := capture.TranscriptSource(ended.Transcript, ended.Session, ended.Cwd)
	if err != nil {
		return err
	}
	info, err := os.Stat(ended.Transcript)
	if errors.Is(err, os.ErrNotExist) {
		return nil // a session without a word
	}
	if err != nil {
		return fmt.Errorf("look at the transcript: %w", err)
	}
	if behind, err := c.Behind(src, info.Size()); err != nil || !behind {
		return err
	}
	return capture.Pending{Dir: filepath.Join(cfg.Paths.Home, "state", "pending")}.Add(ended)
}

// catchUp works until nothing is noted any more. Whoever notes work while
// another catch-up holds the lock relies on its last look.
func (a *app) catchUp(ctx context.Context) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	pending := capture.Pending{Dir: filepath.Join(cfg.Paths.Home, "state", "pending")}
	for pending.Any() {
		lock, err := lockfile.Try(filepath.Join(cfg.Paths.Home, "catchup.lock"))
		if errors.Is(err, lockfile.ErrHeld) {
			return nil
		}
		if err != nil {
			return err
		}
		err = a.withStore(ctx, StoreWrite, func(_ *config.Config, c *capture.Capture, s Store) error {
			work, err := pending.Take()
			for _, w := range work {
				if werr := c.CatchUp(ctx, s, w); werr != nil && !errors.Is(werr, os.ErrNotExist) {
					err = errors.Join(err, werr)
				}
			}
			return err
		})
		if err = errors.Join(err, lock.Release()); err != nil {
			return err
		}
	}
	return nil
}
