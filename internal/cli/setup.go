package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/config"
)

func wiringFlags(cmd *cobra.Command, o *app.WiringOptions) {
	cmd.Flags().StringVar(&o.Scope, "scope", "user", "whose settings: user (every project) or project (this one, on this machine)")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "print the changes and change nothing")
	cmd.Flags().StringSliceVar(&o.Clients, "client", nil, "which clients, such as claude,codex (default: those connected, or the first one found)")
}

func (a *commands) initCommand(cmd *cobra.Command) {
	var o app.WiringOptions
	wiringFlags(cmd, &o)
	cmd.Flags().BoolVar(&o.Plugin, "plugin", true, "install the compactor plugin")
	hooksOnly := cmd.Flags().Bool("no-plugin", false, "hooks only: the client summarizes with its model")
	noStatusline := cmd.Flags().Bool("no-statusline", false, "do not change the client's statusline")
	noMCP := cmd.Flags().Bool("no-mcp", false, "leave the MCP server out of the plugin")
	noSkill := cmd.Flags().Bool("no-skill", false, "leave the skill out of the plugin")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *hooksOnly && cmd.Flags().Changed("plugin") {
			return wrongUsage("--plugin and --no-plugin exclude each other", "")
		}
		o.Plugin, o.Statusline, o.MCP, o.Skill = o.Plugin && !*hooksOnly, !*noStatusline, !*noMCP, !*noSkill
		var others []string
		if len(o.Clients) == 0 {
			var err error
			if o.Clients, others, err = a.chooseClients(cmd.Context(), o); err != nil {
				return err
			}
			if len(o.Clients) == 0 {
				fmt.Fprintln(a.out, "Nothing was changed.")
				return nil
			}
		}
		out, err := a.wire(cmd.Context(), o, a.app.Install)
		if err != nil || o.DryRun {
			return err
		}
		fmt.Fprintln(a.out, "Sessions are recorded from the next start of the client on.")
		if len(others) > 0 {
			connects := map[bool]string{true: "connects it", false: "connects them"}[len(others) == 1]
			fmt.Fprintf(a.out, "Found, too: %s; `strandline init --client %s` %s.\n", strings.Join(others, ", "), strings.Join(others, ","), connects)
		}
		if n := out.Found; n.Sessions > 0 {
			fmt.Fprintf(a.out, "Next: `strandline import` (%s, %s found)\n", count(n.Sessions, "session"), size(n.Bytes))
		}
		return nil
	}
}

func (a *commands) uninstallCommand(cmd *cobra.Command) {
	var o app.WiringOptions
	a.action(cmd, func(ctx context.Context, _ []string) (string, error) {
		if len(o.Clients) == 0 && o.Scope == "user" {
			o.Clients = names(a.app.FoundClients(), func(f app.FoundClient) bool { return f.Connected })
		}
		out, err := a.wire(ctx, o, a.app.Uninstall)
		return "The archive stays in " + out.Home + ".", err
	})
	wiringFlags(cmd, &o)
}

// names returns the names of the clients that match.
func names(found []app.FoundClient, match func(app.FoundClient) bool) (list []string) {
	for _, f := range found {
		if match(f) {
			list = append(list, f.Name)
		}
	}
	return list
}

// chooseClients returns the clients that an init without --client connects: those that are
// connected, or the first one of this machine. On a terminal it asks for the others; else
// it returns their names.
func (a *commands) chooseClients(ctx context.Context, o app.WiringOptions) (chosen, others []string, err error) {
	all := a.app.FoundClients()
	if o.Scope != "user" || len(all) == 0 {
		return []string{app.DefaultClient}, nil, nil
	}
	chosen = names(all, func(f app.FoundClient) bool { return f.Connected })
	others = names(all, func(f app.FoundClient) bool { return !f.Connected })
	var first []string
	if len(chosen) == 0 {
		first = others[:1:1]
	}
	_, asks := a.env.Terminal(a.env.Stdout)
	if asks = asks && !o.DryRun && len(all) > 1 && len(others) > 0; asks {
		more, err := a.askClients(ctx, o, all, others, first)
		return append(chosen, more...), nil, err
	}
	return append(chosen, first...), others[len(first):], nil
}

// askClients lists what an init would write for each client that is not connected, and
// returns those that the user wants; without an answer, the default.
func (a *commands) askClients(ctx context.Context, o app.WiringOptions, all []app.FoundClient, others, preset []string) ([]string, error) {
	fmt.Fprintln(a.out, "Found on this machine, and not connected:")
	t := newTable("CLIENT", "NAME", "WHAT INIT WRITES")
	t.wrapped = true
	list := slices.DeleteFunc(slices.Clone(all), func(f app.FoundClient) bool { return f.Connected })
	var failed error
	err := printTable(a, "", t, list, func(f app.FoundClient) []string {
		o.Clients, o.DryRun = []string{f.Name}, true
		out, err := a.app.Install(ctx, o)
		failed = errors.Join(failed, err)
		var files []string
		for _, w := range out.Files {
			files = append(files, fmt.Sprintf("%s (%d entries)", w.Path, w.Added+w.Updated))
		}
		return []string{f.Title, f.Name, strings.Join(files, ", ")}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	question := "Connect them? Type yes, no, or names with commas between them: "
	if len(preset) > 0 {
		question = "Connect them? Type yes, no, or names with commas between them (Enter: " + preset[0] + "): "
	}
	switch answer := a.ask(question); strings.ToLower(answer) {
	case "":
		return preset, nil
	case "no", "n":
		return nil, nil
	case "yes", "y", "all":
		return others, nil
	default:
		return strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' }), nil
	}
}

// wire changes the client's settings and prints the changes.
func (a *commands) wire(ctx context.Context, o app.WiringOptions, change func(context.Context, app.WiringOptions) (app.Wiring, error)) (app.Wiring, error) {
	out, err := change(ctx, o)
	if err != nil {
		return out, err
	}
	for _, warning := range out.Warnings {
		fmt.Fprintf(a.errOut, "note: %s\n", warning)
	}
	if len(out.Files) == 0 {
		fmt.Fprintln(a.out, "Nothing to change.")
	}
	for _, f := range out.Files {
		fmt.Fprintf(a.out, "%s: %d entries added, %d updated, %d removed\n", f.Path, f.Added, f.Updated, f.Removed)
	}
	t := newTable("PART", "STATE", "WITHOUT IT", "WHAT IT DOES")
	t.wrapped = true
	row := func(p app.WiredPart) []string { return []string{p.Name, p.State(), p.Switch, p.Detail} }
	if len(out.Parts) > 0 {
		err = printTable(a, "", t, out.Parts, row)
	}
	fmt.Fprint(a.out, out.Diff)
	return out, err
}

func (a *commands) configCommand(cmd *cobra.Command) {
	cmd.RunE = func(*cobra.Command, []string) error {
		cfg, err := a.app.Settings()
		if a.json {
			return errors.Join(a.printJSON(cfg.Entries()), err)
		}
		fmt.Fprintf(a.out, "archive   %s\nsettings  %s\nclient    %s\n\n", cfg.Paths.Home, cfg.ConfigFile, cfg.ClientDir)
		t := newTable("KEY", "VALUE", "FROM", "NOTE")
		t.wrapped = true
		row := func(e config.Entry) []string { return []string{e.Key, e.Value, e.Source, e.Note} }
		return errors.Join(printTable(a, "", t, cfg.Entries(), row), err)
	}
	a.jsonFlag(cmd)
	addCommands(cmd,
		command{"", "get KEY", "Print the value of one setting", a.configGetCommand},
		command{"", "set KEY VALUE", "Write a setting into your config.toml", a.configSetCommand},
		command{"", "unset KEY", "Remove a setting from your config.toml", a.configUnsetCommand})
}

func (a *commands) configUnsetCommand(cmd *cobra.Command) {
	inProject := cmd.Flags().Bool("project", false, "remove it from this project's .strandline.toml")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		_, now, err := a.app.SetSetting(args[0], nil, *inProject)
		if now != nil {
			fmt.Fprintf(a.out, "%s = %s (%s)\n", now.Key, now.Value, now.Source)
		}
		return err
	}
}

func (a *commands) configGetCommand(cmd *cobra.Command) {
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		cfg, err := a.app.Settings()
		for _, e := range cfg.Entries() {
			if e.Key == args[0] {
				fmt.Fprintln(a.out, e.Value)
				return err
			}
		}
		return archive.NotFound(fmt.Sprintf("%s is not a setting", args[0]), "`strandline config` lists them")
	}
}

func (a *commands) configSetCommand(cmd *cobra.Command) {
	inProject := cmd.Flags().Bool("project", false, "write it into this project's .strandline.toml")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		file, override, err := a.app.SetSetting(args[0], &args[1], *inProject)
		if file == "" {
			return err
		}
		fmt.Fprintf(a.out, "%s = %s in %s\n", args[0], args[1], file)
		if e := override; e != nil {
			fmt.Fprintf(a.errOut, "note: %s stays %s: %s overrides it\n", e.Key, e.Value, e.Source)
		}
		return err
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return wrongUsage(err.Error(), "write -- before a value that begins with a dash: strandline config set KEY -- -5")
	})
}
