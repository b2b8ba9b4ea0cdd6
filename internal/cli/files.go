package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/recall"
)

func (a *commands) filesCommand(cmd *cobra.Command) {
	var q app.FilesQuery
	f := cmd.Flags()
	f.StringVar(&q.Dir, "project", "", "the project in this folder instead of the current one")
	f.BoolVar(&q.All, "all", false, "all projects")
	f.BoolVar(&q.Reads, "reads", false, "include reads and searches")
	f.StringVar(&q.Session, "session", "", "only this session (handle or ID)")
	since := f.String("since", "", "only newer entries, e.g. 7d, 12h or 2026-11-01")
	limitFlag(cmd, &q.Limit, 50, "maximum number, the newest (0: no limit)")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.All && q.Dir != "" {
			return wrongUsage("--all and --project exclude each other", "")
		}
		if len(args) == 0 {
			list, err := a.app.SessionFiles(cmd.Context(), q.Session, q.Limit)
			return printResult(a, list, err, a.printFiles)
		}
		q.Path = args[0]
		if q.Since, err = recall.Since(*since, a.app.Now()); err != nil {
			return err
		}
		list, older, err := a.app.FileHistory(cmd.Context(), q)
		return printResult(a, list, err, func([]app.Touch) error { return a.printHistory(q, list, older) })
	}
}

// printHistory prints the history of a file, with the number of omitted older entries.
func (a *commands) printHistory(q app.FilesQuery, list []app.Touch, older int) error {
	if older > 0 {
		fmt.Fprintf(a.out, "%d older ones left out (-n 0 shows all)\n", older)
	}
	t := newTable("HANDLE", "WHEN", "DID", "WHAT")
	t.paths = !slices.ContainsFunc(list, func(j app.Touch) bool { return j.Command != "" })
	empty := "No archived session changed " + oneLine(q.Path) + ". --all searches all projects, --reads includes reads."
	return printTable(a, empty, t, list, func(j app.Touch) []string {
		return []string{j.Handle, a.stamp(j.Time), j.Action(), cmp.Or(j.Command, j.Path)}
	})
}

func (a *commands) printFiles(list []app.File) error {
	t := newTable("LAST", ">CHANGES", ">READS", "FILE")
	t.paths = true
	return printTable(a, "The session touched no file.", t, list, func(f app.File) []string {
		return []string{f.Handle, fmt.Sprint(f.Changes), fmt.Sprint(f.Reads), f.Path}
	})
}
