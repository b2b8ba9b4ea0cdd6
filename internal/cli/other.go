package cli

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *commands) versionCommand(cmd *cobra.Command) {
	type version struct {
		Arch    string `json:"arch"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Version string `json:"version"`
	}
	query(a, cmd, func(context.Context, []string) (version, error) {
		return version{runtime.GOARCH, runtime.Version(), runtime.GOOS, a.app.Version}, nil
	}, func(v version) error {
		return a.println(fmt.Sprintf("strandline %s (%s, %s/%s)", v.Version, strings.TrimPrefix(v.Go, "go"), v.OS, v.Arch))
	})
}

// hookHelp documents the command that the client calls. Package main runs it before
// it builds the command line.
func (a *commands) hookHelp(cmd *cobra.Command) {
	cmd.RunE = func(*cobra.Command, []string) error { return nil }
}

// statuslineHelp documents the other command that package main runs.
func (a *commands) statuslineHelp(cmd *cobra.Command) {
	cmd.RunE = func(*cobra.Command, []string) error { return nil }
	cmd.Flags().String("with", "", "a command whose first line is printed before this one")
}

func (a *commands) mcpCommand(cmd *cobra.Command) {
	cmd.RunE = a.linked(func(ctx context.Context, _ []string) error { return a.env.Frontends.ServeMCP(ctx) })
}

// earlyCommand answers the compactor plugin after a turn. It is hidden, since only
// the plugin uses it.
func (a *commands) earlyCommand(cmd *cobra.Command) {
	cmd.Hidden = true
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		cfg, err := a.app.Settings()
		if err != nil {
			return err
		}
		var numbers [2]float64
		for i, arg := range args {
			if numbers[i], err = strconv.ParseFloat(arg, 64); err != nil {
				return wrongUsage(fmt.Sprintf("%q is not a number of tokens", arg), "")
			}
		}
		if early := cfg.Autopilot.CompactEarly; cfg.Autopilot.Enabled && early > 0 && numbers[1] > 0 && numbers[0] >= early*numbers[1] {
			return a.println("compact")
		}
		return nil
	}
}
