package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/recall"
	"strandline/internal/text"
)

func (a *commands) statsCommand(cmd *cobra.Command) {
	var q app.StatsQuery
	since := cmd.Flags().String("since", "", "only what happened since, e.g. 7d, 12h or 2026-11-01")
	cmd.Flags().StringVar(&q.Name, "project", "", "only this project, by name or folder")
	clientFlag(cmd.Flags(), &q.Scope)
	query(a, cmd, func(ctx context.Context, args []string) (_ app.Stats, err error) {
		if q.Since, err = recall.Since(*since, a.app.Now()); err != nil {
			return app.Stats{}, err
		}
		q.Session, q.All = argument(args), true
		return a.app.Stats(ctx, q)
	}, a.printStats)
}

// listed is the number of models, projects and tools that stats lists.
const listed = 8

func (a *commands) printStats(st app.Stats) error {
	p, columns := a.paint(), a.columns(a.env.Stdout)
	line := func(name, value string) {
		hang(a.out, columns, p.dim(fmt.Sprintf("%-8s", name))+" ", 9, value, plain)
	}
	if st.Session != "" {
		line("session", p.bold(st.Session))
	}
	kept := runs(st.Sessions, st.Agents)
	if n := len(st.Projects); n > 1 {
		kept += " in " + count(n, "project")
	}
	line("kept", kept+", "+size(st.Bytes)+", "+a.stamp(st.First)+" to "+a.stamp(st.Last))
	line("did", strings.Join([]string{count(st.Turns, "turn"), count(st.Steps, "step"), count(st.Calls, "tool call"), count(st.Compactions, "compaction")}, " · "))
	input := fmt.Sprintf("%s in", tokens(st.Usage.Context()))
	if st.CacheShare != nil {
		input += fmt.Sprintf(" (%s read from the cache, %s written to it)", percent(*st.CacheShare), tokens(st.CacheWrite))
	}
	line("tokens", input+" · "+tokens(st.Output)+" out")
	line("cost", costText(st))
	if len(st.Unpriced) > 0 {
		line("", p.yellow("without a price: "+strings.Join(st.Unpriced, ", ")+"; `strandline config set stats.prices` takes one"))
	}
	if err := a.printDays(st.Days); err != nil {
		return err
	}
	if err := a.printNamed("MODEL", st.Models); err != nil {
		return err
	}
	if len(st.Projects) > 1 {
		if err := a.printNamed("PROJECT", st.Projects); err != nil {
			return err
		}
	}
	return a.printTools(st.Tools)
}

func costText(st app.Stats) string {
	switch {
	case st.CostUSD == 0:
		return "unknown"
	case st.EstimatedUSD == 0:
		return usd(st.CostUSD) + ", as the client counted it"
	case st.EstimatedUSD > 0.999*st.CostUSD:
		return usd(st.CostUSD) + " at the list prices of " + st.PricesDate
	}
	return fmt.Sprintf("%s: %s as the client counted it, %s at the list prices of %s",
		usd(st.CostUSD), usd(st.CostUSD-st.EstimatedUSD), usd(st.EstimatedUSD), st.PricesDate)
}

// usd formats a cost.
func usd(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("$%.0f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// allTokens returns the tokens that were sent and received.
func allTokens(s app.Sum) int64 { return s.Usage.Context() + s.Output }

// printDays prints the activity over time: on a terminal with bars, whose bright part is
// what was not read from the cache.
func (a *commands) printDays(days []app.DayStats) error {
	unit, list := periods(days)
	if len(list) < 2 { // it would repeat the totals
		return nil
	}
	most := int64(1)
	for _, d := range list {
		most = max(most, allTokens(d.Sum))
	}
	const others, least = 46, 8 // cells of the other columns, and of the shortest bar
	width := min(a.columns(a.env.Stdout)-others, 60)
	legend := "█ NEW ░ CACHED"
	if width < least {
		width, legend = 0, ""
	}
	fmt.Fprintln(a.out)
	t := newTable(unit, ">TOKENS", ">COST", ">TURNS", ">COMPACT", legend)
	for _, d := range list {
		all := allTokens(d.Sum)
		t.row(d.Day, tokens(all), usd(d.CostUSD), fmt.Sprint(d.Turns), fmt.Sprint(d.Compactions), stacked(all-d.CacheRead, d.CacheRead, most, width))
	}
	return t.write(a.out, a.width())
}

// stacked draws two amounts as one bar, of which width cells are the amount most.
func stacked(full, light, most int64, width int) string {
	cells := func(n int64) int { return int((n*int64(width) + most/2) / most) }
	all, part := cells(full+light), cells(full)
	if all == 0 && full+light > 0 && width > 0 {
		return "▏"
	}
	return strings.Repeat("█", part) + strings.Repeat("░", all-part)
}

// maxPeriods is the number of periods that stats prints at most.
const maxPeriods = 31

// periods returns the days, weeks or months between the first and the last day with
// activity, the shortest that are few enough, and the name of the unit.
func periods(days []app.DayStats) (unit string, out []app.DayStats) {
	days = slices.DeleteFunc(slices.Clone(days), func(d app.DayStats) bool { return d.Day == "" })
	if len(days) == 0 {
		return "", nil
	}
	date := func(d app.DayStats) time.Time {
		t, _ := time.Parse(time.DateOnly, d.Day) // as package app writes it
		return t
	}
	first, last := date(days[0]), date(days[len(days)-1])
	n := int(last.Sub(first).Hours()/24) + 1
	unit, start, next := "DAY", func(t time.Time) time.Time { return t }, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	switch {
	case n > 7*maxPeriods:
		unit, start = "MONTH", func(t time.Time) time.Time { return t.AddDate(0, 0, 1-t.Day()) }
		next = func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	case n > maxPeriods:
		unit, start = "WEEK OF", func(t time.Time) time.Time { return t.AddDate(0, 0, -int(t.Weekday()+6)%7) }
		next = func(t time.Time) time.Time { return t.AddDate(0, 0, 7) }
	}
	for at := start(first); !at.After(last); at = next(at) {
		p := app.DayStats{Day: at.Format(time.DateOnly)}
		if unit == "MONTH" {
			p.Day = at.Format("2006-01")
		}
		for ; len(days) > 0 && date(days[0]).Before(next(at)); days = days[1:] {
			d := days[0].Sum
			p.Turns, p.Steps, p.Compactions = p.Turns+d.Turns, p.Steps+d.Steps, p.Compactions+d.Compactions
			p.Usage, p.CostUSD = p.Usage.Add(d.Usage), p.CostUSD+d.CostUSD
		}
		out = append(out, p)
	}
	return unit, out[max(len(out)-maxPeriods, 0):]
}

func (a *commands) printNamed(head string, list []app.NamedStats) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	t := newTable(head, ">TOKENS", ">COST", ">STEPS", "CACHE")
	for _, x := range list[:min(len(list), listed)] {
		share := "-"
		if in := x.Usage.Context(); in > 0 {
			share = percent(float64(x.CacheRead) / float64(in))
		}
		t.row(text.TruncateCells(cmp.Or(x.Name, "unknown"), 40), tokens(allTokens(x.Sum)), usd(x.CostUSD), fmt.Sprint(x.Steps), share)
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	return a.more(len(list) - listed)
}

// printTools prints the tools with failed calls.
func (a *commands) printTools(tools []app.ToolStats) error {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t app.ToolStats) bool { return t.Failed == 0 })
	if len(tools) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	t := newTable("TOOL", ">CALLS", ">FAILED", ">SHARE", "MOST FREQUENT ERROR")
	for _, x := range tools[:min(len(tools), listed)] {
		often := x.Error
		if x.Times > 1 {
			often = fmt.Sprintf("%d× %s", x.Times, x.Error)
		}
		t.row(text.TruncateCells(x.Name, 30), fmt.Sprint(x.Calls), fmt.Sprint(x.Failed), percent(float64(x.Failed)/float64(x.Calls)), often)
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	return a.more(len(tools) - listed)
}

// more prints how many rows were left out.
func (a *commands) more(n int) error {
	if n <= 0 {
		return nil
	}
	return a.println(a.paint().dim(fmt.Sprintf("+%d more (--json lists all)", n)))
}
