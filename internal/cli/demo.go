package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/demo"
)

func (a *commands) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show what Strandline does in seconds, changing nothing of yours",
		Args:  arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := os.MkdirTemp("", "strandline-demo-")
			if err != nil {
				return fmt.Errorf("make a folder for the demo: %w", err)
			}
			_, live := a.env.Terminal(a.env.Stdout)
			err = demo.Run(cmd.Context(), demo.Env{
				Out: a.env.Stdout, Color: a.paint().on, Live: live, Now: a.app.Now, Dir: dir, Open: a.openDemo,
			})
			return errors.Join(err, os.RemoveAll(dir))
		},
	}
}

// openDemo returns the application over folders of the demo, with default settings.
func (a *commands) openDemo(home, clientDir string) demo.Archive {
	o := a.app.Options
	env := map[string]string{"STRANDLINE_HOME": home, "CLAUDE_CONFIG_DIR": clientDir, "XDG_CONFIG_HOME": filepath.Join(home, "config")}
	o.Home, o.Cwd, o.Getenv, o.Changes = home, home, func(key string) string { return env[key] }, nil
	return app.New(o)
}
