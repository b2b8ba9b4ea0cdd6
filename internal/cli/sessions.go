package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func (a *commands) sessionsCommand() *cobra.Command {
	var asJSON, agents, all bool
	var limit int
	var since, dir string
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions that are kept, newest first",
		Long: `List the sessions that are kept, of all projects, newest first. The handle in the first
column is what show, restore, export and search --session take. CUTS counts how often
the session's context was compacted.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return wrongUsage("--limit takes a number from 0 up", "")
			}
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				filter := archive.SessionFilter{Agents: agents || all, Limit: limit}
				if dir != "" {
					filter.Projects = []string{x.Capture.Project(a.abs(dir)).Key}
				}
				var err error
				if filter.Since, err = a.since(since); err != nil {
					return err
				}
				list, err := x.Index.Sessions(cmd.Context(), filter)
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(app.Sessions(list))
				}
				return a.printSessions(list, since != "" || dir != "")
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&agents, "agents", false, "list sub-agents' runs as well")
	f.BoolVar(&all, "all", false, "list everything there is")
	f.IntVarP(&limit, "limit", "n", 0, "at most this many (0: no limit)")
	f.StringVar(&since, "since", "", "only sessions that were active since, e.g. 7d, 12h or 2026-11-01")
	f.StringVar(&dir, "project", "", "only sessions of the project in this folder")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) printSessions(list []archive.Session, filtered bool) error {
	if len(list) == 0 && filtered {
		fmt.Fprintln(a.out, "No session fits.")
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.out, "No sessions. `strandline import` brings in the ones that the client has.")
		return nil
	}
	t := newTable("SESSION", "LAST", "PROJECT", ">TURNS", ">SIZE", ">CUTS", "TITLE")
	for _, s := range list {
		title := s.Title
		if s.Relation == archive.RelationAgent {
			title = cmp.Or(s.Agent.Description, s.Title)
			if s.Agent.Type != "" {
				title = s.Agent.Type + ": " + title
			}
		}
		t.row(archive.ShortID(s.ID), a.ago(s.Last), cmp.Or(s.Project.Name, s.Project.Key),
			fmt.Sprint(s.Turns), size(s.Bytes), fmt.Sprint(s.Compacts), title)
	}
	return t.write(a.out, a.width())
}
