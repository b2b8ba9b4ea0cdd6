package cli

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *commands) versionCommand() *cobra.Command {
	type version struct {
		Arch    string `json:"arch"`
		Go      string `json:"go"`
		OS      string `json:"os"`
		Version string `json:"version"`
	}
	return query(a, &cobra.Command{Use: "version", Short: "Print the version"},
		func(context.Context, []string) (version, error) {
			return version{runtime.GOARCH, runtime.Version(), runtime.GOOS, a.app.Version}, nil
		},
		func(v version) error {
			return a.println(fmt.Sprintf("strandline %s (%s, %s/%s)", v.Version, strings.TrimPrefix(v.Go, "go"), v.OS, v.Arch))
		})
}

// hookHelp documents the command that the client calls. Package main runs it before
// it builds the command line.
func (a *commands) hookHelp() *cobra.Command {
	return &cobra.Command{
		Use: "hook", Short: "Answer a hook of the client (stdin holds the event)",
		Long: `Answer a hook of the client: read the event from stdin and write the response to stdout.
Nothing is printed on stderr. Errors are logged in strandline.log in the archive's folder,
and ` + "`strandline doctor`" + ` lists them.

Exit status: 0, always`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
}

// statuslineHelp documents the other command that package main runs.
func (a *commands) statuslineHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "statusline", Short: "Print the client's statusline (stdin holds its state)",
		Long: `Print one line for the client's statusLine setting, from the JSON that the client writes
to stdin and from the archive's state folder:

    🛡️ 43% 86.7K ⊘ · 🧠 86%

The shield means that the session is archived up to now (an hourglass: not yet; a
warning: the last capture failed). Percent and tokens are the client's own usage of the
context window, green, yellow from 70 % and red from 85 %; ~ marks an estimate. ⊘ becomes
⟳2 after two reports that asked for sparing use. The last figure is the memory's health,
which ` + "`strandline status`" + ` breaks down.

The settings statusline.template and statusline.ascii change the form. NO_COLOR and
COLUMNS are respected.

Exit status: 0, always`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.Flags().String("with", "", "a command whose first line is printed before this one")
	return cmd
}

func (a *commands) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mcp", Short: "Serve the archive to a model (MCP on stdin and stdout)",
		Long: `Serve the archive to a model over the Model Context Protocol on stdin and stdout, for any
client that supports it. The tools search the archive and return the full text of a
handle. The server ends when stdin does.

` + "`strandline init`" + ` registers it. By hand, for this client or another one:

  claude mcp add --scope user strandline -- strandline mcp
  {"mcpServers": {"strandline": {"command": "strandline", "args": ["mcp"]}}}

Searches are limited to the project in CLAUDE_PROJECT_DIR, or else in the working
directory, unless they ask for more.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.env.Frontends == nil {
				return a.env.Companion(cmd.Context())
			}
			return a.env.Frontends.ServeMCP(cmd.Context())
		},
	}
}

// earlyCommand answers the compactor plugin after a turn. It is hidden, since only
// the plugin uses it.
func (a *commands) earlyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "early TOKENS WINDOW", Short: "Say whether the plugin should compact now", Hidden: true,
		Long: "Print \"compact\" if the tokens are more of the window than autopilot.compact_early,\nand nothing otherwise.",
		RunE: func(_ *cobra.Command, args []string) error {
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
		},
	}
}
