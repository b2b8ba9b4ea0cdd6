package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

func (a *commands) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Print every setting, its value and its source",
		Long: `Print every setting, its value and its source: a flag, the environment
(STRANDLINE_<SECTION>_<KEY>, or the name that an older tool used), the project's
.strandline.toml, your config.toml, or the default.`,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.app.Settings()
			if a.json {
				return errors.Join(a.printJSON(cfg.Entries()), err)
			}
			fmt.Fprintf(a.out, "archive   %s\nsettings  %s\nclient    %s\n\n", cfg.Paths.Home, cfg.ConfigFile, cfg.ClientDir)
			t := newTable("KEY", "VALUE", "FROM", "NOTE")
			t.wrapped = true
			for _, e := range cfg.Entries() {
				t.row(e.Key, e.Value, e.Source, e.Note)
			}
			return errors.Join(t.write(a.out, a.width()), err)
		},
	}
	a.jsonFlag(cmd)
	cmd.AddCommand(a.configGetCommand(), a.configSetCommand())
	return cmd
}

func (a *commands) configGetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print the value of one setting",
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.app.Settings()
			for _, e := range cfg.Entries() {
				if e.Key == args[0] {
					fmt.Fprintln(a.out, e.Value)
					return err
				}
			}
			return archive.NotFound(fmt.Sprintf("%s is not a setting", args[0]), "`strandline config` lists them")
		},
	}
}

func (a *commands) configSetCommand() *cobra.Command {
	var inProject bool
	cmd := &cobra.Command{
		Use: "set KEY VALUE", Short: "Write a setting into your config.toml",
		RunE: func(_ *cobra.Command, args []string) error {
			file, override, err := a.app.SetSetting(args[0], args[1], inProject)
			if file == "" {
				return err
			}
			fmt.Fprintf(a.out, "%s = %s in %s\n", args[0], args[1], file)
			if e := override; e != nil {
				fmt.Fprintf(a.errOut, "note: %s stays %s: %s overrides it\n", e.Key, e.Value, e.Source)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&inProject, "project", false, "write it into this project's .strandline.toml")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return wrongUsage(err.Error(), "write -- before a value that begins with a dash: strandline config set KEY -- -5")
	})
	return cmd
}
