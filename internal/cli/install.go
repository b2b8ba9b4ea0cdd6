package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
	"strandline/internal/install"
	"strandline/internal/logfile"
)

func (a *app) installer(cfg *config.Config, scope string) (*install.Installer, error) {
	if scope != string(install.ScopeUser) && scope != string(install.ScopeProject) {
		return nil, usageError{archive.Invalid(fmt.Sprintf("%q is no scope", scope), "--scope takes user or project")}
	}
	return install.New(install.Options{
		ClientDir: cfg.ClientDir, ProjectDir: a.projectRoot(), Home: cfg.Paths.Home, Exe: a.env.Exe,
		Scope: install.Scope(scope), Now: a.env.Now,
	}), nil
}

func (a *app) initCommand() *cobra.Command {
	var scope string
	var dry bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Wire Strandline into the client's settings",
		Long: `Add Strandline's hooks to the client's settings.json. What stands there stays as it
is, comments and order included; a second init changes nothing; uninstall gives the
file back byte for byte.`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			in, err := a.installer(cfg, scope)
			if err != nil {
				return err
			}
			plan, err := in.Plan()
			if err != nil {
				return err
			}
			if !dry {
				if plan, err = in.Apply(cmd.Context(), plan); err != nil {
					return err
				}
			}
			a.printPlan(plan, dry)
			if !dry {
				fmt.Fprintln(a.env.Stdout, "Sessions are recorded from the next start of the client on.\n`strandline import` brings in the sessions that exist.")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "user", "whose settings: user (every project) or project (this one)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would change and change nothing")
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	var scope string
	var dry bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take Strandline out of the client's settings; the archive stays",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			in, err := a.installer(cfg, scope)
			if err != nil {
				return err
			}
			plan, err := in.PlanUninstall()
			if err != nil {
				return err
			}
			if !dry {
				if plan, err = in.Apply(cmd.Context(), plan); err != nil {
					return err
				}
			}
			a.printPlan(plan, dry)
			fmt.Fprintf(a.env.Stdout, "The archive stays in %s.\n", cfg.Paths.Home)
			return nil
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "user", "whose settings: user or project")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would change and change nothing")
	return cmd
}

func (a *app) printPlan(plan install.Plan, dry bool) {
	w := a.env.Stdout
	for _, warning := range plan.Warnings {
		fmt.Fprintf(a.env.Stderr, "note: %s\n", warning)
	}
	if !plan.Changed() {
		fmt.Fprintln(w, "Nothing to change.")
		return
	}
	if dry {
		fmt.Fprint(w, plan.Diff())
		return
	}
	for _, f := range plan.Files {
		counts := map[install.Action]int{}
		for _, e := range f.Entries {
			counts[e.Action]++
		}
		fmt.Fprintf(w, "%s: %d entries added, %d updated, %d removed\n", f.Path,
			counts[install.ActionAdd], counts[install.ActionUpdate], counts[install.ActionRemove])
	}
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and show what went wrong lately",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := a.doctor(cmd)
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

func (a *app) doctor(cmd *cobra.Command) ([]install.Finding, error) {
	ctx := cmd.Context()
	cfg, err := a.config()
	if cfg == nil {
		return nil, err
	}
	findings := install.Check(ctx, install.CheckOptions{
		ClientDir: cfg.ClientDir, ProjectDir: a.projectRoot(), Home: cfg.Paths.Home, Exe: a.env.Exe, Version: a.env.Version,
		Getenv: a.env.Getenv, LookPath: a.env.LookPath, VersionOf: a.env.VersionOf,
	})
	for _, p := range cfg.Problems() {
		findings = append(findings, install.Finding{Level: install.LevelWarn, Topic: "settings", Msg: p.Msg, Hint: "`strandline config` prints what is in force"})
	}
	findings = append(findings, a.checkIndex(cmd, cfg)...)
	entries, err := logfile.Recent(filepath.Join(cfg.Paths.Home, "strandline.log"), a.env.Now().Add(-7*24*time.Hour), 10)
	if err != nil {
		return findings, err
	}
	for _, e := range entries {
		findings = append(findings, install.Finding{Level: install.LevelWarn, Topic: "errors",
			Msg: fmt.Sprintf("%s %s: %s", stamp(e.Time), firstOf(e.Event, e.Msg), firstOf(e.Error, e.Msg))})
	}
	return findings, nil
}

// checkIndex looks at the index and at what it may be missing.
func (a *app) checkIndex(cmd *cobra.Command, cfg *config.Config) []install.Finding {
	var out []install.Finding
	err := a.withStore(cmd.Context(), StoreRead, func(cfg *config.Config, c *capture.Capture, s Store) error {
		if err := s.Integrity(cmd.Context()); err != nil {
			return err
		}
		out = append(out, install.Finding{Level: install.LevelOK, Topic: "index", Msg: "the index is sound"})
		n, err := a.uncaptured(cmd.Context(), cfg, c)
		if err != nil {
			return err
		}
		if n > 0 {
			out = append(out, install.Finding{Level: install.LevelWarn, Topic: "capture",
				Msg: fmt.Sprintf("%d of the client's files hold more than is kept", n), Hint: "`strandline import` brings it in"})
		}
		return nil
	})
	switch archive.ErrorCode(err) {
	case "":
	case archive.CodeNotFound:
		out = append(out, install.Finding{Level: install.LevelInfo, Topic: "index", Msg: err.Error(), Hint: archive.ErrorHint(err)})
	default:
		out = append(out, install.Finding{Level: install.LevelFail, Topic: "index", Msg: err.Error(),
			Hint: firstOf(archive.ErrorHint(err), "`strandline reindex` rebuilds it from the logs; nothing is lost")})
	}
	if capturing := cfg.Capture.Enabled; !capturing {
		out = append(out, install.Finding{Level: install.LevelWarn, Topic: "capture", Msg: "recording is switched off (capture.enabled)", Hint: "`strandline config` says where"})
	}
	return out
}

func (a *app) printFindings(findings []install.Finding) {
	p := a.paint()
	marks := map[install.Level]string{
		install.LevelOK: p.green("✓"), install.LevelInfo: p.dim("·"), install.LevelWarn: p.yellow("!"), install.LevelFail: p.red("✗"),
	}
	for _, f := range findings {
		fmt.Fprintf(a.env.Stdout, "%s %s %s\n", marks[f.Level], p.dim(fmt.Sprintf("%-10s", f.Topic)), f.Msg)
		if f.Hint != "" {
			fmt.Fprintf(a.env.Stdout, "  %s %s\n", p.dim(fmt.Sprintf("%-10s", "")), p.dim("→ "+f.Hint))
		}
	}
}

// hookHelp documents the command that the client calls; the door answers it
// before any of this is built.
func (a *app) hookHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook", Short: "Answer a hook of the client (stdin holds the event)", Args: exactArgs(),
		Long: `Answer a hook of the client: the event is read from stdin, the answer goes to stdout.
It always exits 0 and prints nothing on stderr; errors go to strandline.log in the
archive's folder, and ` + "`strandline doctor`" + ` shows them.`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	return cmd
}
