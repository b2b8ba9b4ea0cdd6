package cli

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/recall"
)

func (a *commands) rememberCommand(cmd *cobra.Command) {
	f := cmd.Flags()
	dir := f.String("project", "", "only for the project in this folder (default: every project)")
	list := f.Bool("list", false, "list the notes")
	forget := f.String("forget", "", "remove the note with this ID")
	a.jsonFlag(cmd)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		switch {
		case *list || *forget != "":
			if len(args) > 0 || *list && *forget != "" {
				return wrongUsage("--list and --forget take no text, and exclude each other", "")
			}
		case len(args) != 1:
			return wrongUsage("the text of one note is missing", `such as: strandline remember "we deploy from the release branch"; --list lists the notes`)
		}
		switch {
		case *list:
			notes, err := a.app.Notes(ctx, app.Scope{All: *dir == "", Dir: *dir})
			return printResult(a, notes, err, a.printNoteList)
		case *forget != "":
			return a.printNote(ctx, "forgot", func(ctx context.Context) (recall.Note, error) { return a.app.ForgetNote(ctx, *forget) })
		}
		return a.printNote(ctx, "remembered", func(ctx context.Context) (recall.Note, error) { return a.app.Remember(ctx, args[0], *dir) })
	}
}

// printNote prints the outcome of a note.
func (a *commands) printNote(ctx context.Context, did string, do func(context.Context) (recall.Note, error)) error {
	note, err := do(ctx)
	return printResult(a, note, err, func(n recall.Note) error {
		return a.println(fmt.Sprintf("%s note %s for %s: %s", did, n.ID, oneLine(cmp.Or(n.Project, "every project")), oneLine(n.Text)))
	})
}

func (a *commands) printNoteList(notes []recall.Note) error {
	t := newTable("NOTE", "WHEN", "PROJECT", "TEXT")
	t.wrapped = true
	return printTable(a, "No notes. `strandline remember \"text\"` adds one.", t, notes, func(n recall.Note) []string {
		return []string{n.ID, a.ago(n.Time), cmp.Or(n.Project, "every project"), n.Text}
	})
}

// printRemembered prints the notes that match a search.
func (a *commands) printRemembered(result recall.Result) {
	p := a.paint()
	for _, n := range result.Remembered {
		id, kind := n.ID, "note"
		if n.File != "" {
			id, kind = oneLine(n.ID+" "+n.File), "file"
		}
		fmt.Fprintf(a.out, "%s  %s  %s\n", p.bold(id), p.kind(kind), p.dim(a.ago(n.Time)+" · "+oneLine(cmp.Or(n.Project, "every project"))))
		for _, line := range wrap(n.Text, min(a.width(), 110)-len(gap)) {
			fmt.Fprintln(a.out, gap+recall.Highlight(line, recall.Marks(line, result.Terms), func(s string) string { return p.color(colorMatch, s) }))
		}
		fmt.Fprintln(a.out)
	}
}
