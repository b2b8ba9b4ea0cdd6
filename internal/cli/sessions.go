package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

func (a *commands) sessionsCommand(cmd *cobra.Command) {
	var q app.SessionsQuery
	f := cmd.Flags()
	a.paged(cmd)
	f.BoolVar(&q.Agents, "agents", false, "include sub-agents' runs")
	f.BoolVar(&q.Agents, "all", false, "list everything")
	limitFlag(cmd, &q.Limit, 0, "maximum number (0: no limit)")
	since := f.String("since", "", "only sessions active since, e.g. 7d, 12h or 2026-11-01")
	f.StringVar(&q.Name, "project", "", "only sessions of this project, by name or folder")
	clientFlag(f, &q.Scope)
	query(a, cmd, func(ctx context.Context, _ []string) (_ []app.Session, err error) {
		if q.Since, err = recall.Since(*since, a.app.Now()); err != nil {
			return nil, err
		}
		q.All = true
		return a.app.Sessions(ctx, q)
	}, func(list []app.Session) error {
		empty := "No sessions. `strandline import` imports the client's sessions."
		if *since != "" || q.Name != "" || len(q.Clients) > 0 {
			empty = "No session fits."
		}
		t := newTable("SESSION", "LAST", "PROJECT", ">TURNS", ">SIZE", ">COMPACT", "TITLE")
		narrow := a.width() < roomy // the title says more than sizes
		if narrow {
			t = newTable("SESSION", "LAST", "PROJECT", ">TURNS", "TITLE")
		}
		return printTable(a, empty, t, list, func(s app.Session) []string {
			title := s.Title
			if s.Relation == archive.RelationAgent {
				title = cmp.Or(s.Agent.Description, s.Title)
				if s.Agent.Type != "" {
					title = s.Agent.Type + ": " + title
				}
			}
			row := []string{s.Handle, a.ago(s.Last), s.ProjectName, fmt.Sprint(s.Turns)}
			if !narrow {
				row = append(row, size(s.Bytes), fmt.Sprint(s.Compacts))
			}
			return append(row, ofClient(s.Client, title))
		})
	})
}

// clientFlag adds the flag that limits a command to sessions of some clients.
func clientFlag(f *pflag.FlagSet, s *app.Scope) {
	f.StringSliceVar(&s.Clients, "client", nil, "only sessions of these clients: `NAME,...`, such as claude,codex")
}

// ofClient puts the name of a session's client before its title, except of Claude Code.
func ofClient(client, title string) string {
	if client = archive.OtherClient(client); client != "" {
		return client + ": " + title
	}
	return title
}

func (a *commands) projectsCommand(cmd *cobra.Command) {
	query(a, cmd, func(ctx context.Context, _ []string) ([]app.Project, error) { return a.app.Projects(ctx) }, func(list []app.Project) error {
		t := newTable("PROJECT", ">SESSIONS", ">TURNS", ">SIZE", "LAST", "FOLDER")
		t.cut = truncateStart
		return printTable(a, "", t, list, func(p app.Project) []string {
			name := p.Label
			if p.Tree != "" {
				name = indent + p.Tree
			}
			return []string{name, fmt.Sprint(p.Sessions), fmt.Sprint(p.Turns), size(p.Bytes), a.ago(p.Last), cmp.Or(p.Root, p.Key)}
		})
	})
	addCommands(cmd, command{"", "merge FROM INTO", "Assign the sessions of a moved folder to its new project", a.mergeCommand},
		command{"", "split FROM", "Undo a merge: the sessions of FROM are a project again", a.splitCommand})
}

func (a *commands) splitCommand(cmd *cobra.Command) {
	a.action(cmd, func(ctx context.Context, args []string) (string, error) {
		m, err := a.app.SplitProject(ctx, args[0])
		return fmt.Sprintf("%s of %s no longer belong to %s", count(m.Sessions, "session"), app.ProjectPath(m.From), app.ProjectPath(m.Into)), err
	})
}

func (a *commands) mergeCommand(cmd *cobra.Command) {
	a.action(cmd, func(ctx context.Context, args []string) (string, error) {
		m, err := a.app.MergeProjects(ctx, args[0], args[1])
		return fmt.Sprintf("%s of %s now belong to %s", count(m.Sessions, "session"), app.ProjectPath(m.From), app.ProjectPath(m.Into)), err
	})
}
