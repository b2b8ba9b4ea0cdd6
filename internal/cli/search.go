package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

func (a *commands) searchCommand(cmd *cobra.Command) {
	var q app.SearchQuery
	cmd.Args = arguments("QUERY...")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !strings.HasPrefix(err.Error(), "unknown") { // a flag without its value
			return cmd.Parent().FlagErrorFunc()(cmd, err)
		}
		return wrongUsage(err.Error(), "put -- before a query that begins with a dash: strandline search -- -race")
	})
	f := cmd.Flags()
	limitFlag(cmd, &q.Limit, 0, "maximum number of hits (default: the setting)")
	f.StringVar(&q.Session, "session", "", "only this session (handle or ID)")
	scopeFlags(f, &q.Scope, "only this project, by name or folder")
	since := f.String("since", "", "only newer passages, e.g. 7d, 12h, yesterday or 2026-11-01")
	until := f.String("until", "", "only older passages; a day or a month is included whole")
	kinds := f.StringSlice("kind", nil, "only these kinds: prompt, reply, thinking, command, edit, output, summary")
	clientFlag(f, &q.Scope)
	f.BoolVar(&q.Failed, "failed", false, "only commands and other calls that failed")
	f.StringVar(&q.Branch, "branch", "", "only sessions on this git branch, by name or a part of it")
	f.BoolVar(&q.Agents, "agents", false, "include sub-agents' runs")
	f.BoolVar(&q.Rewound, "rewound", false, "include rewound turns")
	f.BoolVar(&q.Regex, "regex", false, "QUERY is a regular expression (RE2), searched in the logs")
	f.BoolVar(&q.Deep, "deep", false, "also read the logs of partly indexed passages")
	f.BoolVar(&q.Explain, "explain", false, "explain the score of each hit")
	f.BoolVar(&q.Team, "team", false, "the team's archive instead of the local one (default with postgres.read)")
	query(a, cmd, func(ctx context.Context, args []string) (result recall.Result, err error) {
		cfg, err := a.app.Settings()
		if err != nil {
			return result, err
		}
		q.Team = q.Team || cfg.Postgres.Read
		if a.app.NeedsNetwork() || q.Team && !a.app.Stores.LinksTeam() {
			return result, cmp.Or[error](a.env.Companion(ctx), programError{ExitOK}) // the companion has printed the result
		}
		q.Text = strings.Join(args, " ")
		if q.All {
			q.Name = ""
		}
		q.Logs = !q.Team
		if !a.json {
			q.PerSession = perSession
		}
		if q.Since, err = recall.Since(*since, a.app.Now()); err != nil {
			return result, err
		}
		if q.Until, err = recall.Until(*until, a.app.Now()); err != nil {
			return result, err
		}
		for _, k := range *kinds {
			kind, err := recall.ParseKind(k)
			if err != nil {
				return result, err
			}
			q.Kinds = append(q.Kinds, kind)
		}
		return a.app.Search(ctx, q)
	}, func(result recall.Result) error {
		return a.printHits(result, func(session string, n int) string { return moreCommand(cmd, q.Text, session, n) })
	})
}

// perSession is the number of hits of a session that are printed.
const perSession = 3

// moreCommand returns the command that prints all n hits of a session for a query, or for
// the path of files.
func moreCommand(cmd *cobra.Command, query, session string, n int) string {
	parts := []string{"strandline", cmd.Name(), "--session", session}
	if n > recall.DefaultLimit {
		parts = append(parts, fmt.Sprintf("-n %d", n))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains([]string{"project", "all", "session", "limit", "json"}, f.Name) {
			return
		}
		parts = append(parts, "--"+f.Name)
		if f.Value.Type() != "bool" {
			parts = append(parts, shellWord(strings.Trim(f.Value.String(), "[]")))
		}
	})
	if strings.HasPrefix(query, "-") {
		parts = append(parts, "--")
	}
	for word := range strings.FieldsSeq(query) {
		if !plainWord(word) {
			return strings.Join(append(parts, shellWord(query)), " ")
		}
	}
	return strings.Join(append(parts, query), " ")
}

// plainWord reports whether a shell takes a word as it is.
func plainWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:=,@%+", r)
	})
}

// shellWord quotes a word for a shell where it has to be.
func shellWord(s string) string {
	if plainWord(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printHits prints the hits by session. more returns the command that prints all n hits of
// one.
func (a *commands) printHits(result recall.Result, more func(session string, n int) string) error {
	p := a.paint()
	for _, c := range result.Corrected {
		fmt.Fprintf(a.out, "%s\n\n", p.dim(c.String()))
	}
	a.printRemembered(result)
	if len(result.Hits) == 0 {
		if len(result.Remembered) == 0 {
			fmt.Fprintln(a.out, "Nothing found.")
		}
		a.printNotes(result, plain)
		if result.Elsewhere {
			fmt.Fprintf(a.out, "There are hits in other projects (%s): --all searches everything.\n", result.OthersText())
		}
		if result.InAgents {
			fmt.Fprintln(a.out, "There are hits in sub-agents' runs: --agents includes them.")
		}
		if result.Rewound {
			fmt.Fprintln(a.out, "There are hits in rewound turns: --rewound includes them.")
		}
		return nil
	}
	for _, group := range bySession(result.Hits) {
		a.printSession(group[0])
		for _, h := range group {
			a.printHit(h, result, group[0].Time)
		}
		if n := result.More[group[0].Session]; n > 0 {
			session := archive.ShortID(group[0].Session)
			line := gap + fmt.Sprintf("+%d more: ", n)
			if command := oneLine(more(session, len(group)+n)); text.Cells(line+command) <= max(a.lineWidth(), 80) {
				line += command
			} else {
				line += fmt.Sprintf("add --session %s -n %d", session, len(group)+n)
			}
			fmt.Fprintln(a.out, p.dim(line))
		}
		fmt.Fprintln(a.out)
	}
	if result.Hits[0].Explanation != nil {
		fmt.Fprintf(a.out, "%s\n\n", p.dim(explanationHelp))
	}
	fmt.Fprintln(a.out, p.dim(fmt.Sprintf("%s in %.0f ms. `strandline show HANDLE` prints one in full.", count(len(result.Hits), "hit"), result.TookMS)))
	if result.OnlyRelated() {
		fmt.Fprintln(a.out, p.dim("No passage contains the words; these may be related."))
	}
	a.printNotes(result, p.dim)
	if result.Elsewhere {
		fmt.Fprintln(a.out, p.dim("There are hits in other projects: --all."))
	}
	return nil
}

// bySession groups hits by their session, in the order of each session's first.
func bySession(hits []recall.Hit) (groups [][]recall.Hit) {
	at := map[string]int{}
	for _, h := range hits {
		i, known := at[h.Session]
		if !known {
			i, groups = len(groups), append(groups, nil)
			at[h.Session] = i
		}
		groups[i] = append(groups[i], h)
	}
	return groups
}

// maxLine is the largest width of a line of a hit: longer ones are hard to read.
const maxLine = 110

// lineWidth returns the width of the lines of hits.
func (a *commands) lineWidth() int { return min(a.width(), maxLine) }

// printSession prints the heading of a session's hits, given the first.
func (a *commands) printSession(h recall.Hit) {
	about := oneLine(h.Project)
	if h.Author != "" {
		about += " · " + oneLine(h.Author)
	}
	about += " · " + a.ago(h.Time)
	title := cmp.Or(oneLine(h.Title), "session "+archive.ShortID(h.Session))
	title = text.TruncateCells(ofClient(h.Client, title), max(a.lineWidth()-text.Cells(about)-len(gap), minColumn))
	fmt.Fprintf(a.out, "%s%s%s\n", a.paint().bold(title), gap, a.paint().dim(about))
}

// printNotes prints how the search read the query.
func (a *commands) printNotes(result recall.Result, style func(string) string) {
	for _, n := range result.Notes {
		fmt.Fprintln(a.out, style("note: "+oneLine(n)))
	}
	if result.When != nil && len(result.Hits) > 0 {
		fmt.Fprintln(a.out, style(result.When.String()))
	}
	switch {
	case len(result.Hits) == 0:
	case result.Relaxed == recall.RelaxedWritten:
		fmt.Fprintln(a.out, style("No indexed passage contains it as written; these contain its words. --deep reads the logs as well."))
	case result.Relaxed == recall.RelaxedLogs:
		fmt.Fprintln(a.out, style("The index holds these outputs in part; the logs were read briefly. --deep reads all of them."))
	case result.Relaxed == recall.RelaxedPhrase:
		fmt.Fprintln(a.out, style("No passage contains the phrase; these contain its words."))
	case result.Relaxed == recall.RelaxedPrefix:
		fmt.Fprintln(a.out, style("No passage contains the words; these contain longer words with these prefixes."))
	}
}

// printHit prints a hit below the heading of its session, which names a time.
func (a *commands) printHit(h recall.Hit, result recall.Result, at time.Time) {
	p, width := a.paint(), a.lineWidth()
	kind := string(h.ShownKind())
	mark := func(s string) string {
		if !p.on {
			return s
		}
		return recall.Highlight(s, result.Marks(s), func(s string) string { return p.color(colorMatch, s) })
	}
	line := gap + p.bold(h.Handle) + gap + p.kind(kind)
	cells := len(gap) + text.Cells(h.Handle) + len(gap) + len(kind)
	head, body := h.Head, h.Text
	if ago := a.ago(h.Time); ago != a.ago(at) {
		line, cells = line+gap+p.dim(ago), cells+len(gap)+text.Cells(ago)
	}
	if h.Related {
		line += gap + p.dim("related in meaning")
	} else if hasHead(h) {
		if !h.Deep {
			head, body, _ = strings.Cut(h.Text, "\n")
		}
		line += gap + mark(headLine(h, head, width-cells-len(gap)))
	}
	fmt.Fprintln(a.out, line)
	sign := 0
	if h.Kind == archive.KindEdit && !h.Deep {
		body, sign = recall.Signed(body), len("+ ")
	}
	for _, row := range excerptRows(body, result.Marks, sign, width-2*len(gap), hitRows) {
		fmt.Fprintln(a.out, gap+gap+mark(row))
	}
	if h.Superseded != nil {
		fmt.Fprintln(a.out, gap+gap+p.yellow(text.TruncateCells(h.Superseded.String(), width-2*len(gap))))
	}
	if len(h.CopyHandles) > 0 {
		fmt.Fprintln(a.out, gap+gap+p.dim(text.TruncateCells("the same text: "+strings.Join(h.CopyHandles, ", "), width-2*len(gap))))
	}
	if h.Explanation != nil {
		for i, line := range wrap("why: "+h.Explanation.String(), width-3*len(gap)) {
			fmt.Fprintln(a.out, strings.Repeat(gap, min(i, 1)+2)+p.dim(line))
		}
	}
}

// explanationHelp describes the figures of an explanation.
const explanationHelp = `words, turn, session: match scores relative to the best hit.
covered: share of the query's words. near: adjacent query words.
before: words that the previous passage adds. meaning: cosine to the query.
sure: newer, or recently given to the model; breaks ties.`
