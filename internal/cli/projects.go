package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func (a *commands) projectsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "List the projects that sessions are kept of",
		Args:  knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				list, err := x.Index.Projects(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(app.Projects(list))
				}
				t := newTable("PROJECT", ">SESSIONS", ">TURNS", ">SIZE", "LAST", "FOLDER")
				t.paths = true
				for _, p := range list {
					t.row(cmp.Or(p.Project.Name, p.Project.Key), fmt.Sprint(p.Sessions), fmt.Sprint(p.Turns), size(p.Bytes), a.ago(p.Last), app.ProjectName(p.Project))
				}
				return t.write(a.out, a.width())
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(a.mergeCommand())
	return cmd
}

// mergeCommand makes a folder that was moved one project with its old self.
func (a *commands) mergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge FROM INTO",
		Short: "Make the sessions of a moved folder belong to its new project",
		Long: `Make the sessions of one project belong to another: for a folder that was moved or
renamed. FROM and INTO are folders or the keys that ` + "`projects --json`" + ` prints. The
fact is kept in the journal, so that a rebuilt index knows it.`,
		Args: arguments("FROM", "INTO"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadWrite, func(x app.Archive) error {
				return a.merge(cmd.Context(), x, args[0], args[1])
			})
		},
	}
}

func (a *commands) merge(ctx context.Context, x app.Archive, typedFrom, typedInto string) error {
	list, err := x.Index.Projects(ctx)
	if err != nil {
		return err
	}
	from, ok := a.kept(list, typedFrom)
	if !ok {
		return archive.NotFound(fmt.Sprintf("no sessions of %q are kept", typedFrom), "`strandline projects` lists the projects")
	}
	into, ok := a.kept(list, typedInto)
	if !ok {
		// A folder without a session so far: where the old one was moved to.
		if _, err := os.Stat(a.abs(typedInto)); err != nil {
			return archive.NotFound(fmt.Sprintf("%q is neither a folder nor a project", typedInto), "`strandline projects` lists the projects")
		}
		into.Project = x.Capture.Project(a.abs(typedInto))
	}
	if from.Project.Key == into.Project.Key {
		return wrongUsage("both are the same project", "")
	}
	err = x.Journal.Record(ctx, archive.JournalMerge, "", archive.MergeFact{From: from.Project.Key, Into: into.Project.Key})
	if err = errors.Join(err, x.Journal.Sync(ctx, x.Index)); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s of %s now belong to %s\n", count(from.Sessions, "session"), app.ProjectName(from.Project), app.ProjectName(into.Project))
	return nil
}

// kept finds the project that a folder or a key names, among those that sessions
// are kept of. A folder that is gone is found by where it was.
func (a *commands) kept(list []archive.ProjectSummary, typed string) (archive.ProjectSummary, bool) {
	path := a.abs(typed)
	for _, p := range list {
		if p.Project.Key == typed || p.Project.Root == path || p.Project.Worktree == path {
			return p, true
		}
	}
	return archive.ProjectSummary{}, false
}
