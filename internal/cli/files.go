package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

type filesFlags struct {
	dir, session, since string
	all, reads, asJSON  bool
	limit               int
}

func (a *commands) filesCommand() *cobra.Command {
	var f filesFlags
	cmd := &cobra.Command{
		Use:   "files [PATH]",
		Short: "List what was done to a file, or which files a session touched",
		Long: `With PATH: every change to the file and every command that named it, in all sessions of
this project, oldest first, with handles. PATH is the whole path or its end at a slash
(pay/retry.go). Reads are left out unless --reads is given.

Without PATH: the files that a session touched, the most often changed first.`,
		Args: arguments("[PATH]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.limit < 0 {
				return wrongUsage("--limit takes a number from 0 up", "")
			}
			if f.all && f.dir != "" {
				return wrongUsage("--all and --project exclude each other", "")
			}
			if len(args) == 0 {
				return a.sessionFiles(cmd.Context(), f)
			}
			return a.fileHistory(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.dir, "project", "", "of the project in this folder instead of the one you stand in")
	fl.BoolVar(&f.all, "all", false, "of all projects")
	fl.BoolVar(&f.reads, "reads", false, "list reads and searches as well")
	fl.StringVar(&f.session, "session", "", "only this session, or a handle of it")
	fl.StringVar(&f.since, "since", "", "only what was done since, e.g. 7d, 12h or 2026-11-01")
	fl.IntVarP(&f.limit, "limit", "n", 50, "at most this many, the newest (0: no limit)")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (a *commands) fileHistory(ctx context.Context, path string, f filesFlags) error {
	q := app.FilesQuery{Path: path, Scope: app.Scope{All: f.all, Dir: f.dir}, Session: f.session, Reads: f.reads, Limit: f.limit}
	var err error
	if q.Since, err = a.since(f.since); err != nil {
		return err
	}
	out, left, err := a.app.FileHistory(ctx, q)
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.printJSON(out)
	}
	if len(out) == 0 {
		fmt.Fprintln(a.out, "Nothing was done to "+oneLine(path)+" in a session that is kept. --all looks into all projects, --reads lists reads as well.")
		return nil
	}
	if left > 0 {
		fmt.Fprintf(a.out, "%d older ones left out (-n 0 shows all)\n", left)
	}
	t := newTable("HANDLE", "WHEN", "DID", "WHAT")
	t.paths = !slices.ContainsFunc(out, func(j app.Touch) bool { return j.Command != "" })
	for _, j := range out {
		did := j.Tool
		if j.Failed {
			did += " failed"
		}
		t.row(j.Handle, a.stamp(j.Time), did, cmp.Or(j.Command, j.Path))
	}
	return t.write(a.out, a.width())
}

// sessionFiles lists the files that one session touched.
func (a *commands) sessionFiles(ctx context.Context, f filesFlags) error {
	list, err := a.app.SessionFiles(ctx, f.session, f.limit)
	if err != nil {
		return err
	}
	if f.asJSON {
		return a.printJSON(list.Files)
	}
	if len(list.Files) == 0 {
		fmt.Fprintln(a.out, "Session "+archive.ShortID(list.Session)+" touched no file.")
		return nil
	}
	t := newTable("LAST", ">CHANGES", ">READS", "FILE")
	t.paths = true
	for _, j := range list.Files {
		t.row(j.Handle, fmt.Sprint(j.Changes), fmt.Sprint(j.Reads), j.Path)
	}
	return t.write(a.out, a.width())
}
