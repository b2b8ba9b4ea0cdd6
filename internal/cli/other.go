package cli

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
)

func (a *commands) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: arguments(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(map[string]string{"version": a.app.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			fmt.Fprintf(a.out, "strandline %s (%s, %s/%s)\n", a.app.Version, strings.TrimPrefix(runtime.Version(), "go"), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// hookHelp documents the command that the client calls; the door answers it
// before any of this is built.
func (a *commands) hookHelp() *cobra.Command {
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

// statuslineHelp documents the other command that the client calls; the door
// answers it as well.
func (a *commands) statuslineHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use: "statusline", Short: "Print the client's statusline (stdin holds its state)", Args: arguments(),
		Long: `Print one line for the client's statusLine setting, from the JSON that the client
writes to stdin and from what the hooks have left in the archive's state folder:

    🛡️ 43% 86.7K ⊘ · 🧠 86%

The shield says that everything said so far is archived (an hourglass: not yet; a
warning: the last capture failed). Percent and tokens are the client's own count of
the context window, green, yellow from 70 % and red from 85 %; ~ marks an estimate.
⊘ becomes ⟳2 after two reports that asked for sparing use. The last figure is the
memory's health, which ` + "`strandline status`" + ` breaks down.

The settings statusline.template and statusline.ascii change the form; NO_COLOR and
COLUMNS are honoured.

Exit status: 0, whatever happens`,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.Flags().String("with", "", "a command of your own whose first line stands before ours")
	return cmd
}
