package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/recall"
)

// scopeFlags adds the flags that limit fix and how. The returned function completes q.
func (a *commands) scopeFlags(cmd *cobra.Command, q *app.SearchQuery) func(args []string) error {
	f := cmd.Flags()
	scopeFlags(f, &q.Scope, "only this project, by name or folder")
	f.BoolVar(&q.Agents, "agents", false, "include sub-agents' runs")
	since := f.String("since", "", "only newer commands, e.g. 7d, 12h or 2026-11-01")
	return func(args []string) (err error) {
		q.Text = strings.Join(args, " ")
		q.Since, err = recall.Since(*since, a.app.Now())
		return err
	}
}

func (a *commands) fixCommand(cmd *cobra.Command) {
	var q app.SearchQuery
	cmd.Args = arguments("ERROR...")
	ready := a.scopeFlags(cmd, &q)
	query(a, cmd, func(ctx context.Context, args []string) ([]app.Fix, error) {
		if err := ready(args); err != nil {
			return nil, err
		}
		return a.app.Fixes(ctx, q)
	}, a.printFixes)
}

func (a *commands) printFixes(list []app.Fix) error {
	p := a.paint()
	if len(list) == 0 {
		return a.println("No failure like this is archived. Fewer words of the error find more, --all searches all projects.")
	}
	for i, f := range list {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		outcome := p.dim(f.Outcome())
		if f.Helped {
			outcome = p.green(f.Outcome())
		}
		fmt.Fprintf(a.out, "%s  %s  %s\n", p.bold(f.Handle), p.dim(a.ago(f.Time)), outcome)
		t := newTable("", "", "")
		t.cut = truncateMiddle
		t.row("", "failed", f.Failed)
		if f.Error != "" {
			t.row("", "", indent+f.Error)
		}
		for _, step := range f.Steps {
			t.row(indent+step.Handle, step.Verdict, step.What)
		}
		if err := t.write(a.out, a.width()); err != nil {
			return err
		}
	}
	return nil
}

func (a *commands) howCommand(cmd *cobra.Command) {
	var q app.SearchQuery
	cmd.Args = arguments("WORDS...")
	ready := a.scopeFlags(cmd, &q)
	limitFlag(cmd, &q.Limit, 12, "maximum number of commands")
	query(a, cmd, func(ctx context.Context, args []string) ([]app.Recipe, error) {
		if err := ready(args); err != nil {
			return nil, err
		}
		return a.app.Recipes(ctx, q)
	}, func(list []app.Recipe) error {
		empty := "No archived command matches. Other words find more, --all searches all projects."
		return printTable(a, empty, newTable("HANDLE", "LAST", "RESULT", "COMMAND"), list, func(r app.Recipe) []string {
			return []string{r.Handle, a.ago(r.Time), r.Outcome(), r.Command}
		})
	})
}
