package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/config"
)

func (a *app) configCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print every setting, its value and where it comes from",
		Long: `Print every setting, its value and where it comes from: a flag, the environment
(STRANDLINE_<SECTION>_<KEY>, or the name that an older tool used), the project's
.strandline.toml, your config.toml, or the default.`,
		Args: exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if cfg == nil {
				return err
			}
			if asJSON {
				return a.printJSON(cfg.Entries())
			}
			fmt.Fprintf(a.env.Stdout, "archive   %s\nsettings  %s\nclient    %s\n\n", cfg.Paths.Home, cfg.ConfigFile, cfg.ClientDir)
			t := newTable("KEY", "VALUE", "FROM", "NOTE")
			for _, e := range cfg.Entries() {
				t.row(e.Key, e.Value, e.Source, e.Note)
			}
			if werr := t.write(a.env.Stdout, a.width()); werr != nil {
				return werr
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(a.configSetCommand())
	return cmd
}

func (a *app) configSetCommand() *cobra.Command {
	var inProject bool
	cmd := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Write a setting into your config.toml",
		Args:  exactArgs("KEY", "VALUE"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := a.config()
			if cfg == nil {
				return err
			}
			path := cfg.ConfigFile
			if inProject {
				path = filepath.Join(a.projectRoot(), ".strandline.toml")
			}
			if err := config.Set(path, args[0], args[1]); err != nil {
				return err
			}
			fmt.Fprintf(a.env.Stdout, "%s = %s in %s\n", args[0], args[1], path)
			after, err := a.config()
			if err != nil {
				return err
			}
			for _, e := range after.Entries() {
				if e.Key == args[0] && e.Value != args[1] {
					return archive.Invalid(fmt.Sprintf("%s stays %s: %s is stronger", e.Key, e.Value, e.Source), "")
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&inProject, "project", false, "write it into this project's .strandline.toml")
	return cmd
}
