package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
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
	f.StringVar(&q.Dir, "project", "", "only the project in this folder")
	f.BoolVar(&q.All, "all", false, "all projects")
	since := f.String("since", "", "only newer passages, e.g. 7d, 12h or 2026-11-01")
	kinds := f.StringSlice("kind", nil, "only these kinds: prompt, reply, command, edit, output, summary")
	f.BoolVar(&q.Agents, "agents", false, "include sub-agents' runs")
	f.BoolVar(&q.Rewound, "rewound", false, "include rewound turns")
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
			q.Dir = ""
		}
		if q.Since, err = recall.Since(*since, a.app.Now()); err != nil {
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
	}, a.printHits)
}

func (a *commands) printHits(result recall.Result) error {
	p := a.paint()
	if len(result.Hits) == 0 {
		fmt.Fprintln(a.out, "Nothing found.")
		for _, c := range result.Corrected {
			fmt.Fprintln(a.out, c.String())
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
	for _, c := range result.Corrected {
		fmt.Fprintf(a.out, "%s\n\n", p.dim(c.String()))
	}
	for i, h := range result.Hits {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		a.printHit(h, result.Terms)
	}
	if result.Hits[0].Explanation != nil {
		fmt.Fprintf(a.out, "\n%s\n", p.dim(explanationHelp))
	}
	fmt.Fprintf(a.out, "\n%s\n", p.dim(fmt.Sprintf("%s in %.0f ms. `strandline show HANDLE` prints one in full.", count(len(result.Hits), "hit"), result.TookMS)))
	if result.Hits[0].Related {
		fmt.Fprintln(a.out, p.dim("No passage contains the words; these may be related."))
	}
	a.printNotes(result, p.dim)
	if result.Elsewhere {
		fmt.Fprintln(a.out, p.dim("There are hits in other projects: --all."))
	}
	return nil
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
	case result.Relaxed == recall.RelaxedPhrase:
		fmt.Fprintln(a.out, style("No passage contains the phrase; these contain its words."))
	case result.Relaxed == recall.RelaxedPrefix:
		fmt.Fprintln(a.out, style("No passage contains the words; these contain longer words with these prefixes."))
	}
}

func (a *commands) printHit(h recall.Hit, terms []archive.Term) {
	p, width := a.paint(), min(a.width(), 110)
	source := a.ago(h.Time) + " · " + oneLine(h.Project)
	if h.Author != "" {
		source += " · " + oneLine(h.Author)
	}
	if h.Related {
		source += " · related in meaning"
	}
	fmt.Fprintf(a.out, "%s  %s  %s\n", p.bold(h.Handle), p.kind(string(h.Kind)), p.dim(source))
	for _, line := range a.snippet(h.Text, terms, width-len(gap)) {
		if p.on {
			line = recall.Highlight(line, recall.Marks(line, terms), func(s string) string { return p.color(colorMatch, s) })
		}
		fmt.Fprintln(a.out, gap+line)
	}
	if h.Explanation != nil {
		for i, line := range wrap("why: "+h.Explanation.String(), width-2*len(gap)) {
			fmt.Fprintln(a.out, strings.Repeat(gap, min(i, 1)+1)+p.dim(line))
		}
	}
}

// explanationHelp describes the figures of an explanation.
const explanationHelp = `words, turn, session: match scores relative to the best hit.
covered: share of the query's words. near: adjacent query words.
before: words that the previous passage adds. meaning: cosine to the query.
sure: newer, or recently given to the model; breaks ties.`

// snippetLines is the number of terminal lines of a hit's text.
const snippetLines = 2

// snippet returns the part of a text with most of the terms: snippetLines lines on a
// terminal, else one line.
func (a *commands) snippet(text string, terms []archive.Term, width int) []string {
	text, _ = recall.Snippet(text, terms, snippetLines*width)
	if a.columns(a.env.Stdout) == 0 {
		return []string{text}
	}
	return wrapCells(text, width, snippetLines)
}
