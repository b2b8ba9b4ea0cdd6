package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/config"
	"strandline/internal/install"
)

// wiring are the flags that init and uninstall share.
type wiring struct {
	scope string
	dry   bool
	// plugin and line say what init wires beside the hooks.
	plugin, line bool
}

func (w *wiring) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.scope, "scope", "user", "whose settings: user (every project) or project (this one)")
	cmd.Flags().BoolVar(&w.dry, "dry-run", false, "show what would change and change nothing")
}

// rewire makes a plan, carries it out unless only its print is wanted, and tells
// what came of it.
func (a *commands) rewire(ctx context.Context, w wiring, plan func(*install.Installer) (install.Plan, error)) (*config.Config, error) {
	cfg, err := a.app.Settings()
	if err != nil {
		return nil, err
	}
	if w.scope != string(install.ScopeUser) && w.scope != string(install.ScopeProject) {
		return nil, wrongUsage(fmt.Sprintf("%q is not a scope", w.scope), "--scope takes user or project")
	}
	in := install.New(install.Options{
		ClientDir: cfg.ClientDir, ProjectDir: a.app.ProjectDir(), Home: cfg.Paths.Home, Exe: a.app.Exe,
		Scope: install.Scope(w.scope), Plugin: w.plugin, NoStatusline: !w.line, Now: a.app.Now,
	})
	p, err := plan(in)
	if err == nil && !w.dry {
		p, err = in.Apply(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	a.printPlan(p, w.dry)
	return cfg, nil
}

func (a *commands) initCommand() *cobra.Command {
	var w wiring
	var classic, noLine bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Wire Strandline into the client's settings",
		Long: `Add Strandline's hooks and its statusline to the client's settings.json. What stands
there stays as it is, comments and order included; a second init changes nothing;
uninstall gives the file back byte for byte. A statusline of your own is kept: its
line stands before ours. With --scope project, and with --no-statusline, the
statusline is left alone.

Unless --no-plugin is given, a plugin is switched on as well that lets Strandline
compact in the client's place, without a model. It uses an early access interface of
the client; where that fails, the client compacts by itself.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if classic && cmd.Flags().Changed("plugin") {
				return wrongUsage("--plugin and --no-plugin exclude each other", "")
			}
			w.plugin, w.line = w.plugin && !classic, !noLine
			if _, err := a.rewire(cmd.Context(), w, (*install.Installer).Plan); err != nil {
				return err
			}
			if !w.dry {
				fmt.Fprintln(a.out, "Sessions are recorded from the next start of the client on.\n`strandline import` brings in the sessions that exist.")
			}
			return nil
		},
	}
	w.register(cmd)
	cmd.Flags().BoolVar(&w.plugin, "plugin", true, "switch the compactor plugin on")
	cmd.Flags().BoolVar(&classic, "no-plugin", false, "hooks only: the client summarizes with its model")
	cmd.Flags().BoolVar(&noLine, "no-statusline", false, "leave the client's statusline as it is")
	return cmd
}

func (a *commands) uninstallCommand() *cobra.Command {
	var w wiring
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Take Strandline out of the client's settings; the archive stays",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.rewire(cmd.Context(), w, (*install.Installer).PlanUninstall)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "The archive stays in %s.\n", cfg.Paths.Home)
			return nil
		},
	}
	w.register(cmd)
	return cmd
}

func (a *commands) printPlan(plan install.Plan, dry bool) {
	w := a.out
	for _, warning := range plan.Warnings {
		fmt.Fprintf(a.errOut, "note: %s\n", warning)
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
