package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

type searchFlags struct {
	app.SearchQuery
	since  string
	kinds  []string
	asJSON bool
}

func (a *commands) searchCommand() *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find what was said and done, here or in all projects",
		Long: `Find what was said and done: prompts, replies, commands with their outcome, file
changes, outputs and summaries. Words may be parts of identifiers and paths; "quoted
words" belong together; a trailing * matches beginnings. Filters may stand in the query:
project: file: kind: since: session: and, beside other words,
times such as yesterday, last week, 2 days ago or in March (in quotes: as text).

The search is limited to the project one stands in; --all searches everything. A query
that begins with a dash stands behind two of them.

  strandline search retry policy              words, in any order
  strandline search '"retry policy"'          words that belong together
  strandline search maxBackoff --since 7d     of the last seven days
  strandline search file:pay/retry.go bans    where a file was worked on
  strandline search -- -race                  a query that begins with a dash`,
		Args: arguments("QUERY..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Limit < 0 {
				return wrongUsage("--limit takes a number from 0 up", "")
			}
			f.Text = strings.Join(args, " ")
			return a.search(cmd.Context(), f)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !strings.HasPrefix(err.Error(), "unknown") { // a flag without its value
			return cmd.Parent().FlagErrorFunc()(cmd, err)
		}
		return wrongUsage(err.Error(), "a query that begins with a dash goes behind two of them: strandline search -- -race")
	})
	fl := cmd.Flags()
	fl.IntVarP(&f.Limit, "limit", "n", 0, "at most this many hits (default: the setting)")
	fl.StringVar(&f.Session, "session", "", "only this session (handle or id)")
	fl.StringVar(&f.Dir, "project", "", "only the project in this folder")
	fl.BoolVar(&f.All, "all", false, "all projects")
	fl.StringVar(&f.since, "since", "", "only what is newer, e.g. 7d, 12h or 2026-11-01")
	fl.StringSliceVar(&f.kinds, "kind", nil, "only these kinds: prompt, reply, command, edit, output, summary")
	fl.BoolVar(&f.Agents, "agents", false, "sub-agents' runs as well")
	fl.BoolVar(&f.Rewound, "rewound", false, "turns that a rewind left behind as well")
	fl.BoolVar(&f.Deep, "deep", false, "also read the logs for what the index holds only in part")
	fl.BoolVar(&f.Explain, "explain", false, "say of each hit why it was found")
	fl.BoolVar(&f.Team, "team", false, "the team's archive instead of one's own (as with postgres.read)")
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

func (a *commands) search(ctx context.Context, f searchFlags) error {
	cfg, err := a.app.Settings()
	if err != nil {
		return err
	}
	f.Team = f.Team || cfg.Postgres.Read
	if a.app.NeedsNetwork() || f.Team && !a.app.Stores.LinksTeam() {
		return a.env.Companion(ctx)
	}
	if f.All {
		f.Dir = ""
	}
	if f.Since, err = a.since(f.since); err != nil {
		return err
	}
	for _, k := range f.kinds {
		kind, err := recall.ParseKind(k)
		if err != nil {
			return err
		}
		f.Kinds = append(f.Kinds, kind)
	}
	result, err := a.app.Search(ctx, f.SearchQuery)
	switch {
	case err != nil:
		return err
	case f.asJSON:
		return a.printJSON(result)
	}
	return a.printHits(result)
}

func (a *commands) printHits(result recall.Result) error {
	if len(result.Hits) == 0 {
		fmt.Fprintln(a.out, "Nothing found.")
		for _, c := range result.Corrected {
			fmt.Fprintln(a.out, c)
		}
		for _, n := range result.Notes {
			fmt.Fprintln(a.out, "note: "+oneLine(n))
		}
		for _, aside := range []struct {
			there bool
			say   string
		}{
			{result.Elsewhere, "There are hits in other projects: --all searches everything."},
			{result.InAgents, "There are hits in sub-agents' runs: --agents searches these as well."},
			{result.Rewound, "There are hits in turns that a rewind left behind: --rewound searches these as well."},
		} {
			if aside.there {
				fmt.Fprintln(a.out, aside.say)
			}
		}
		return nil
	}
	width := min(a.width(), 110)
	p := a.paint()
	var b strings.Builder
	for i, h := range result.Hits {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s  %s  %s", p.bold(h.Handle), p.kind(string(h.Kind)), p.dim(strings.TrimSuffix(a.ago(h.Time)+" · "+oneLine(h.Project)+" · "+oneLine(h.Author), " · ")))
		if h.Related {
			b.WriteString(p.dim(" · related in meaning"))
		}
		b.WriteByte('\n')
		for _, line := range a.snippet(h.Text, result.Terms, width-len(gap)) {
			if p.on {
				line = recall.Highlight(line, recall.Marks(line, result.Terms), colourSequence(colourMatch), colourSequence(colourOff))
			}
			b.WriteString(gap + line + "\n")
		}
		if h.Explanation != nil {
			for i, line := range wrap("why: "+h.Explanation.String(), width-2*len(gap)) {
				b.WriteString(strings.Repeat(gap, min(i, 1)+1) + p.dim(line) + "\n")
			}
		}
	}
	if result.Hits[0].Explanation != nil {
		b.WriteString("\n" + p.dim(explained) + "\n")
	}
	fmt.Fprintf(&b, "\n%s\n", p.dim(fmt.Sprintf("%s in %.0f ms. `strandline show HANDLE` prints one whole.", count(len(result.Hits), "hit"), result.TookMS)))
	if result.Hits[0].Related {
		b.WriteString(p.dim("No passage holds the words; these may be related.") + "\n")
	}
	for _, n := range result.Notes {
		b.WriteString(p.dim("note: "+oneLine(n)) + "\n")
	}
	if result.When != nil {
		b.WriteString(p.dim(result.When.String()) + "\n")
	}
	for _, c := range result.Corrected {
		b.WriteString(p.dim(c.String()) + "\n")
	}
	switch result.Relaxed {
	case recall.RelaxedPhrase:
		b.WriteString(p.dim("No passage holds the quoted words together; these hold them apart.") + "\n")
	case recall.RelaxedPrefix:
		b.WriteString(p.dim("No passage holds the words whole; these hold words that begin so.") + "\n")
	}
	if result.Elsewhere {
		b.WriteString(p.dim("There are hits in other projects: --all.") + "\n")
	}
	if _, err := io.WriteString(a.out, b.String()); err != nil {
		return cannotPrint(err)
	}
	return nil
}

// explained says what the numbers of an explanation are.
const explained = `words, turn, session: how well they match, as a share of the best hit's.
covered: the query's words it holds. near: its neighbours that stand together.
before: words the passage before it adds. meaning: cosine to the query.
sure: what is new, or was given to the model lately; it decides between equals.`

// snippetLines is how many lines of a terminal a hit's text may take.
const snippetLines = 2

// snippet is the part of a text that shows most of the terms, on at most
// snippetLines lines of a terminal; elsewhere it is one line.
func (a *commands) snippet(text string, terms []archive.Term, width int) []string {
	text, _ = recall.Snippet(text, terms, snippetLines*width)
	if _, terminal := a.env.Terminal(a.env.Stdout); !terminal {
		return []string{text}
	}
	return broken(text, width, snippetLines)
}
