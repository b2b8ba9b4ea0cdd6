package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Browsing is what a terminal interface shows.
type Browsing struct {
	Archive  Browsable
	Project  string // the project one stands in
	All      bool   // search all projects at first
	Query    string // to begin with
	Sessions int    // how many the archive holds
}

// Browsable is an archive as it is browsed. It may be used by several
// goroutines.
type Browsable interface {
	// Search answers a query as it was typed, in the project one stands in or in
	// all; a zero time is no limit.
	Search(ctx context.Context, query string, all bool, since time.Time) (recall.Result, error)
	// Read returns the redacted text of a step, or of a turn if the step is
	// negative.
	Read(ctx context.Context, at archive.Ref) ([]app.LogBlock, error)
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
	return a.app.WithArchive(ctx, app.ReadOnly, func(x app.Archive) (err error) {
		totals, err := x.Index.Totals(ctx)
		if err != nil {
			return err
		}
		here := x.Capture.Project(a.app.ProjectDir())
		known, err := x.Index.Sessions(ctx, archive.SessionFilter{Projects: []string{here.Key}, Limit: 1})
		if err != nil {
			return err
		}
		name := here.Name
		if name == "" {
			name = here.Key
		}
		r, end := a.recall(x)
		defer func() { err = errors.Join(err, end()) }()
		return a.env.Frontends.Browse(ctx, Browsing{
			Archive: browsed{a, x, r}, Project: name,
			All: all || len(known) == 0, Query: query, Sessions: totals.Sessions,
		})
	})
}

// browseLimit is how many hits a search of browse gives.
const browseLimit = 50

// browsed is an open archive that is browsed.
type browsed struct {
	a      *commands
	x      app.Archive
	recall *recall.Recall
}

// Search implements Browsable.
func (b browsed) Search(ctx context.Context, query string, all bool, since time.Time) (recall.Result, error) {
	typed, err := recall.Parse(query, b.a.app.Now())
	if err != nil {
		return recall.Result{}, err
	}
	all = all && typed.Project == "" // what is typed is meant
	req, err := b.a.searchRequest(ctx, b.x, query, searchFlags{limit: browseLimit, all: all})
	if err != nil {
		return recall.Result{}, err
	}
	if req.Since.Before(since) { // since: in the query may be narrower
		req.Since = since
	}
	return b.recall.Search(ctx, req)
}

// Read implements Browsable.
func (b browsed) Read(ctx context.Context, at archive.Ref) ([]app.LogBlock, error) {
	return b.a.reader(b.x.Workspace).Blocks(ctx, b.x.Index, at.Session, archive.Handle(at))
}
