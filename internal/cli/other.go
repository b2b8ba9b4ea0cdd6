package cli

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]string{"version": a.env.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			fmt.Fprintf(a.out, "strandline %s (%s, %s/%s)\n", a.env.Version, strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// hookHelp documents the command that the client calls; the door answers it
// before any of this is built.
func (a *app) hookHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook", Short: "Answer a hook of the client (stdin holds the event)", Args: arguments(),
		Long: `Answer a hook of the client: the event is read from stdin, the answer goes to stdout.
Nothing is printed on stderr; errors go to strandline.log in the archive's folder, and
` + "`strandline doctor`" + ` shows them.

Exit status: 0, whatever happens`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	return cmd
}
