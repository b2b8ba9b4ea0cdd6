package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

func (a *commands) filesCommand(cmd *cobra.Command) {
	var q app.FilesQuery
	f := cmd.Flags()
	scopeFlags(f, &q.Scope, "this project instead of the current one, by name or folder")
	f.BoolVar(&q.Reads, "reads", false, "include reads and searches")
	f.StringVar(&q.Session, "session", "", "only this session (handle or ID)")
	since := f.String("since", "", "only newer entries, e.g. 7d, 12h or 2026-11-01")
	limitFlag(cmd, &q.Limit, 50, "maximum number, the newest (0: no limit)")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if q.All && q.Name != "" {
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
		history, err := a.app.FileHistory(cmd.Context(), q)
		if a.json {
			return printResult(a, history.Items, err, nil)
		}
		return printResult(a, history, err, func(h app.FileHistory) error {
			return a.printHistory(q, h, func(session string) string { return moreCommand(cmd, q.Path, session, 0) })
		})
	}
}

// touchesShown is the number of touches of a session that are printed beside others.
const touchesShown = 5

// printHistory prints the history of a file by session, newest first. more returns the
// command that prints all touches of one.
func (a *commands) printHistory(q app.FilesQuery, h app.FileHistory, more func(session string) string) error {
	p := a.paint()
	reads := ""
	if h.Reads > 0 {
		reads = count(h.Reads, "read") + " not listed (--reads)"
	}
	if len(h.Items) == 0 {
		fmt.Fprintf(a.out, "No archived session changed %s. --all searches all projects, --reads includes reads.\n", oneLine(q.Path))
		if reads != "" {
			fmt.Fprintln(a.out, reads+".")
		}
		return nil
	}
	shown := ""
	groups := touchGroups(q, h.Items)
	for _, g := range groups {
		if g.path != shown {
			shown = g.path
			fmt.Fprintf(a.out, "%s\n\n", p.bold(truncateStart(oneLine(shown), a.width())))
		}
		first := g.touches[0]
		a.printSession(recall.Hit{Session: first.Session, Title: first.Title, Project: first.Project, Time: first.Time})
		list := g.touches
		if len(groups) > 1 && len(list) > touchesShown {
			list = list[:touchesShown]
		}
		a.printTouches(list)
		if n := len(g.touches) - len(list); n > 0 {
			fmt.Fprintln(a.out, p.dim(fmt.Sprintf("%s+%d more: %s", gap, n, oneLine(more(archive.ShortID(first.Session))))))
		}
		fmt.Fprintln(a.out)
	}
	end := count(len(h.Items), "entry") + ", newest first"
	if h.Older > 0 {
		end += fmt.Sprintf("; %d older ones left out (-n 0 shows all)", h.Older)
	}
	if reads != "" {
		end += "; " + reads
	}
	fmt.Fprintln(a.out, p.dim(end+"."))
	return nil
}

// touchGroup holds the touches of a file in a session, newest first.
type touchGroup struct {
	path    string
	touches []app.Touch
}

// touchGroups groups touches by file and session, those with the newest first. A command
// belongs to the only file of its session, else of the list, else to the query's path.
func touchGroups(q app.FilesQuery, list []app.Touch) (groups []touchGroup) {
	only := map[string]string{} // path by session; "": of the list
	for _, t := range list {
		for _, of := range []string{t.Session, ""} {
			if t.Command == "" && cmp.Or(only[of], t.Path) == t.Path {
				only[of] = t.Path
			} else if t.Command == "" {
				only[of] = q.Path
			}
		}
	}
	var order []string
	at := map[[2]string]int{}
	for _, t := range slices.Backward(list) {
		path := t.Path
		if t.Command != "" {
			path = cmp.Or(only[t.Session], only[""], q.Path)
		}
		i, known := at[[2]string{path, t.Session}]
		if !known {
			i = len(groups)
			at[[2]string{path, t.Session}] = i
			groups = append(groups, touchGroup{path: path})
			if !slices.Contains(order, path) {
				order = append(order, path)
			}
		}
		groups[i].touches = append(groups[i].touches, t)
	}
	slices.SortStableFunc(groups, func(g, h touchGroup) int { return slices.Index(order, g.path) - slices.Index(order, h.path) })
	return groups
}

// printTouches prints touches below the heading of their session, which has the time of
// the first. A reason is printed once for those that share it.
func (a *commands) printTouches(list []app.Touch) {
	p, width := a.paint(), a.lineWidth()
	handles, sizes := 0, 0
	for _, t := range list {
		handles, sizes = max(handles, text.Cells(t.Handle)), max(sizes, text.Cells(t.Size()))
	}
	for i, t := range list {
		what := oneLine(t.Command)
		if t.Command == "" && len(t.Functions) > 0 {
			what = "in " + oneLine(strings.Join(t.Functions, ", "))
		}
		if at := a.ago(t.Time); at != a.ago(list[0].Time) {
			what = strings.TrimSpace(at + gap + what)
		}
		line := pad(oneLine(t.Size()), sizes, false) + gap + what
		line = truncateMiddle(strings.TrimRight(line, " "), max(width-2*len(gap)-handles, minColumn))
		if t.Failed {
			line = p.red(line)
		}
		fmt.Fprintln(a.out, gap+p.bold(pad(t.Handle, handles, false))+gap+line)
		if t.Why == "" || i > 0 && t.Why == list[i-1].Why {
			continue
		}
		for _, row := range wrapCells(oneLine(t.Why), width-2*len(gap), 2) {
			fmt.Fprintln(a.out, gap+gap+p.dim(row))
		}
	}
}

func (a *commands) printFiles(list []app.File) error {
	t := newTable("LAST", ">CHANGES", ">READS", "FILE")
	t.cut = truncateStart
	return printTable(a, "The session touched no file.", t, list, func(f app.File) []string {
		return []string{f.Handle, fmt.Sprint(f.Changes), fmt.Sprint(f.Reads), f.Path}
	})
}
