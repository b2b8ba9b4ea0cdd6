package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/config"
	"strandline/internal/install"
	"strandline/internal/project"
	"strandline/internal/state"
)

func (a *commands) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and show what went wrong lately",
		Long: `Check how the client's settings call Strandline, whether the archive is sound and
complete, and show the errors of the last week. Exits with 1 when something keeps
sessions from being recorded or found.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := a.doctor(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(findings)
			} else {
				a.printFindings(findings)
			}
			for _, f := range findings {
				if f.Level == install.LevelFail {
					return silentError{ExitInternal}
				}
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) doctor(ctx context.Context) ([]install.Finding, error) {
	cfg, _ := a.app.Settings() // what was not accepted is a finding below
	findings := install.Check(ctx, install.CheckOptions{
		ClientDir: cfg.ClientDir, ProjectDir: a.app.ProjectDir(), Home: cfg.Paths.Home, Exe: a.app.Exe, Version: a.app.Version,
		Getenv: a.app.Getenv, LookPath: a.app.System.LookPath, VersionOf: a.app.System.VersionOf,
	})
	for _, p := range cfg.Problems() {
		findings = append(findings, install.Finding{Level: install.LevelWarn, Topic: "settings", Msg: p.Msg, Hint: "`strandline config` prints what is in force"})
	}
	if !cfg.Capture.Enabled {
		findings = append(findings, install.Finding{Level: install.LevelWarn, Topic: "capture", Msg: "recording is switched off (capture.enabled)", Hint: "`strandline config` says where"})
	}
	if cfg.Compaction.BlockAuto == config.BlockAlways {
		findings = append(findings, install.Finding{Level: install.LevelWarn, Topic: "blocking",
			Msg:  "automatic compactions are blocked (compaction.block_auto = always): at the window's end the client answers a prompt with an error before one goes through",
			Hint: "headroom blocks only while there is room; /compact is never blocked"})
	}
	findings = append(findings, a.checkCompanion(ctx)...)
	findings = append(findings, a.checkModel(ctx, cfg)...)
	findings = append(findings, a.checkDisk(cfg.Paths.Home)...)
	archived, err := a.checkArchive(ctx, cfg)
	findings = append(findings, archived...)
	return findings, err
}

// checkCompanion says so when the program that serves models, and whatever else
// this build leaves out, is not there or of another version.
func (a *commands) checkCompanion(ctx context.Context) []install.Finding {
	path, err := a.app.System.FindCompanion()
	if err != nil {
		return []install.Finding{{Level: install.LevelWarn, Topic: "program", Msg: app.ErrorText(err), Hint: archive.ErrorHint(err)}}
	}
	if path == "" {
		return nil
	}
	switch version, err := a.app.System.VersionOf(ctx, path); {
	case err != nil:
		return []install.Finding{{Level: install.LevelWarn, Topic: "program", Msg: app.ErrorText(err), Hint: "install strandline again; its two programs belong together"}}
	case version != a.app.Version:
		return []install.Finding{{Level: install.LevelWarn, Topic: "program",
			Msg: fmt.Sprintf("%s has version %s, this program %s", path, version, a.app.Version), Hint: "install strandline again; its two programs belong together"}}
	}
	return nil
}

// What of the disk must be free: below the first nothing can be recorded for
// long, below the second a day's work may not fit.
const (
	diskFull = 4 << 20
	diskLow  = 200 << 20
)

// checkDisk says so when the disk that the archive lies on is full or nearly so.
func (a *commands) checkDisk(home string) []install.Finding {
	free, ok := a.app.System.DiskFree(home)
	switch {
	case !ok || free >= diskLow:
		return nil
	case free < diskFull:
		return []install.Finding{{Level: install.LevelFail, Topic: "disk", Msg: "the disk is full: nothing can be recorded in " + home,
			Hint: "make room; hooks catch up by themselves, and the client keeps its own files for 30 days"}}
	}
	return []install.Finding{{Level: install.LevelWarn, Topic: "disk", Msg: "only " + size(free) + " are left on the disk of " + home,
		Hint: "`strandline status` says what the archive takes"}}
}

// checkArchive looks at the index, at what it may be missing, and at the errors of
// the last week.
func (a *commands) checkArchive(ctx context.Context, cfg *config.Config) ([]install.Finding, error) {
	r, err := a.app.LenientWorkspace()
	if err != nil {
		return nil, err
	}
	var out []install.Finding
	err = a.app.WithIndex(ctx, r, app.ReadOnly, func(x app.Archive) error {
		if err := x.Index.Integrity(ctx); err != nil {
			return err
		}
		n, err := a.app.MaintenanceRunner(r).Unindexed(ctx, x.Index)
		if err != nil {
			return err
		}
		if n > 0 {
			out = append(out, install.Finding{Level: install.LevelWarn, Topic: "index",
				Msg: notIndexed(n), Hint: "`strandline maintain` indexes the rest"})
		} else {
			out = append(out, install.Finding{Level: install.LevelOK, Topic: "index", Msg: "the index is sound"})
		}
		n, err = uncaptured(ctx, r)
		if n > 0 {
			out = append(out, install.Finding{Level: install.LevelWarn, Topic: "capture",
				Msg: holdMore(n), Hint: "`strandline import` brings it in"})
		}
		moved, merr := a.checkMoved(ctx, x)
		out = append(out, moved...)
		return errors.Join(err, merr)
	})
	switch archive.ErrorCode(err) {
	case "":
	case archive.CodeNotFound:
		out = append(out, install.Finding{Level: install.LevelInfo, Topic: "index", Msg: app.ErrorText(err), Hint: archive.ErrorHint(err)})
	default:
		out = append(out, install.Finding{Level: install.LevelFail, Topic: "index", Msg: app.ErrorText(err),
			Hint: cmp.Or(archive.ErrorHint(err), "`strandline reindex` rebuilds it from the logs; nothing is lost")})
	}
	entries, err := state.RecentErrors(r.Config.Paths.Errors(), a.app.Now().Add(-7*24*time.Hour), 10)
	for _, e := range entries {
		out = append(out, install.Finding{Level: install.LevelWarn, Topic: "errors",
			Msg: fmt.Sprintf("%s %s: %s", a.stamp(e.Time), cmp.Or(e.Event, e.Msg), cmp.Or(e.Error, e.Msg))})
	}
	return out, err
}

// checkMoved asks whether the folder that one stands in is a project's new place.
func (a *commands) checkMoved(ctx context.Context, x app.Archive) ([]install.Finding, error) {
	list, err := x.Index.Projects(ctx)
	if err != nil {
		return nil, err
	}
	known := make([]archive.Project, len(list))
	for i, p := range list {
		known[i] = p.Project
	}
	here := x.Capture.Project(a.app.ProjectDir())
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	before, ok := project.MovedFrom(here, known, exists)
	if !ok {
		return nil, nil
	}
	return []install.Finding{{Level: install.LevelInfo, Topic: "project",
		Msg:  fmt.Sprintf("this folder has the remote of %s, which is gone: it may have been moved here", app.ProjectPath(before)),
		Hint: fmt.Sprintf("`strandline projects merge %q %q` makes them one", app.ProjectPath(before), here.Root)}}, nil
}

func (a *commands) printFindings(findings []install.Finding) {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	marks := map[install.Level]string{
		install.LevelOK: p.green("✓"), install.LevelInfo: p.dim("·"), install.LevelWarn: p.yellow("!"), install.LevelFail: p.red("✗"),
	}
	for _, f := range findings {
		const indent = 2 + 10 + 1
		hang(a.out, columns, marks[f.Level]+" "+p.dim(fmt.Sprintf("%-10s", f.Topic))+" ", indent, f.Msg, plain)
		if f.Hint != "" {
			hang(a.out, columns, strings.Repeat(" ", indent)+p.dim("→ "), indent+2, f.Hint, p.dim)
		}
	}
}
