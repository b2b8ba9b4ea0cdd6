package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

// Browsing is what the terminal browser starts with.
type Browsing struct {
	Project  string // name of the current project
	All      bool   // search all projects
	Query    string
	Sessions int // number of archived sessions
}

func (a *commands) browseCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "browse [QUERY]",
		Short: "Search as you type, and read what is found",
		Long: `Search as you type, in the terminal: the hits, and beside them what stands where they
were found. Words and filters are those of ` + "`strandline search`" + `.

  up, down     choose a hit              enter   read it; again: its turn
  pgup, pgdn   scroll its text           ctrl+y  copy its handle (OSC 52)
  ctrl+p       this project, or all      ctrl+t  any time, 24 h, 7 or 30 days
  tab          letters are keys: y p t j k g G q, and / for the query
  esc          clear the query; leave`,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, stream := range []any{a.env.Stdin, a.env.Stdout} {
				w, ok := stream.(io.Writer)
				if ok {
					_, ok = a.env.Terminal(w)
				}
				if !ok {
					return archive.Invalid("browse needs a terminal", "`strandline search QUERY` prints what it finds")
				}
			}
			if a.env.Frontends == nil {
				return a.env.Companion(cmd.Context())
			}
			return a.browse(cmd.Context(), strings.Join(args, " "), all)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "begin with all projects")
	return cmd
}

func (a *commands) browse(ctx context.Context, query string, all bool) error {
	here, err := a.app.CurrentProject(ctx)
	if err != nil {
		return err
	}
	return a.env.Frontends.Browse(ctx, Browsing{Project: here.Name, All: all || !here.Archived, Query: query, Sessions: here.Sessions})
}
