package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
)

// sessionJSON is a session as scripts read it.
type sessionJSON struct {
	Session     string    `json:"session"`
	Handle      string    `json:"handle"`
	Project     string    `json:"project"`
	Client      string    `json:"client"`
	Title       string    `json:"title"`
	Turns       int       `json:"turns"`
	Steps       int       `json:"steps"`
	Calls       int       `json:"calls"`
	Bytes       int64     `json:"bytes"`
	First       time.Time `json:"first"`
	Last        time.Time `json:"last"`
	Compactions int       `json:"compactions"`
	Generation  int       `json:"generation"`
	Parent      string    `json:"parent,omitempty"`
	Relation    string    `json:"relation,omitempty"`
	Agent       string    `json:"agent_type,omitempty"`
	Model       string    `json:"model,omitempty"`
	Branch      string    `json:"branch,omitempty"`
	CostUSD     float64   `json:"cost_usd,omitempty"`
}

func toSessionJSON(s archive.Session) sessionJSON {
	return sessionJSON{
		Session: s.ID, Handle: archive.ShortID(s.ID), Project: projectName(s.Project), Client: s.Client,
		Title: s.Title, Turns: s.Turns, Steps: s.Steps, Calls: s.Calls, Bytes: s.Bytes,
		First: s.First, Last: s.Last, Compactions: s.Compacts, Generation: s.Generation,
		Parent: s.Parent, Relation: string(s.Relation), Agent: s.Agent.Type, Model: s.Model,
		Branch: s.GitBranch, CostUSD: s.Cost.USD,
	}
}

// projectName is how a project is shown: its folder, or its key when that is all
// that is known.
func projectName(p archive.Project) string {
	if p.Root != "" {
		return p.Root
	}
	return p.Key
}

func (a *app) sessionsCommand() *cobra.Command {
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
			return a.withStore(cmd.Context(), StoreRead, func(x indexed) error {
				filter := archive.SessionFilter{Agents: agents || all, Limit: limit}
				if dir != "" {
					filter.Projects = []string{x.capture.Project(a.abs(dir)).Key}
				}
				var err error
				if filter.Since, err = a.since(since); err != nil {
					return err
				}
				list, err := x.store.Sessions(cmd.Context(), filter)
				if err != nil {
					return err
				}
				if asJSON {
					out := make([]sessionJSON, 0, len(list))
					for _, s := range list {
						out = append(out, toSessionJSON(s))
					}
					return a.printJSON(out)
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

func (a *app) printSessions(list []archive.Session, filtered bool) error {
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
