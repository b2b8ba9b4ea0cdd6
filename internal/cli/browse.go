package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

// Browsing is the initial state of the terminal browser.
type Browsing struct {
	Project  string // name of the current project
	All      bool   // search all projects
	Query    string
	Sessions int // number of archived sessions
}

func (a *commands) browseCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "browse [QUERY]", Short: "Search as you type, and read the hits",
		Long: `Search as you type, in the terminal: the hits, and next to them the text around the
selected one. Words and filters are those of ` + "`strandline search`" + `.

  up, down     choose a hit              enter   read it; again: its turn
  pgup, pgdn   scroll its text           ctrl+y  copy its handle (OSC 52)
  ctrl+p       this project, or all      ctrl+t  any time, 24 h, 7 or 30 days
  tab          letters are keys: y p t j k g G q, and / for the query
  esc          clear the query; leave`,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, ok := a.env.Stdin.(io.Writer) // a terminal is a file
			if !ok || a.columns(in) == 0 || a.columns(a.env.Stdout) == 0 {
				return archive.Invalid("browse needs a terminal", "use `strandline search QUERY`")
			}
			if a.env.Frontends == nil {
				return a.env.Companion(cmd.Context())
			}
			here, err := a.app.CurrentProject(cmd.Context())
			if err != nil {
				return err
			}
			return a.env.Frontends.Browse(cmd.Context(), Browsing{
				Project: here.Name, All: all || !here.Archived, Query: strings.Join(args, " "), Sessions: here.Sessions,
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "start with all projects")
	return cmd
}
