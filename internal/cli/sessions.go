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
			q := app.SessionsQuery{Scope: app.Scope{All: true, Dir: dir}, Agents: agents || all, Limit: limit}
			var err error
			if q.Since, err = a.since(since); err != nil {
				return err
			}
			list, err := a.app.Sessions(cmd.Context(), q)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			return a.printSessions(list, since != "" || dir != "")
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

func (a *commands) printSessions(list []app.Session, filtered bool) error {
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
		title, project := s.Title, s.Info.Project
		if s.Info.Relation == archive.RelationAgent {
			title = cmp.Or(s.Info.Agent.Description, s.Title)
			if s.Agent != "" {
				title = s.Agent + ": " + title
			}
		}
		t.row(s.Handle, a.ago(s.Last), cmp.Or(project.Name, project.Key),
			fmt.Sprint(s.Turns), size(s.Bytes), fmt.Sprint(s.Compactions), title)
	}
	return t.write(a.out, a.width())
}
