package foresight

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table measures texts of strandline and prints their shares.
type Table struct {
	Ruler *Ruler
	// Run calls strandline with arguments and returns its output.
	Run  func(ctx context.Context, args ...string) (string, error)
	Out  io.Writer
	Each bool // also print each compaction
}

// summarySize is the budget in characters where the client made no summary: the
// mean size of its summaries.
const summarySize = 12_300

// budgets are those of a row of the table; 0 means as many characters as
// the client's summary has.
func budgets() []int { return []int{4_000, 9_500, 0, 100_000} }

// maker makes one kind of text.
type maker struct {
	name string
	args func(c Cut, chars int) []string
}

func makers() []maker {
	at := func(command string, c Cut) []string {
		return []string{command, "--session", c.Session, "--at-line", strconv.Itoa(c.Line)}
	}
	return []maker{
		{"restore", func(c Cut, chars int) []string { return append(at("restore", c), "--budget", strconv.Itoa(chars)) }},
		{"compact", func(c Cut, chars int) []string {
			// Seven characters are two tokens.
			return append(at("compact", c), "--format", "text", "--budget-tokens", strconv.Itoa(chars*2/7))
		}},
	}
}

// Print measures every compaction at every budget and prints the means.
func (t Table) Print(ctx context.Context, title string, cuts []Cut) error {
	if len(cuts) == 0 {
		return t.line("%s: none\n", title)
	}
	if err := t.line("%-44s%10s%10s%10s%10s\n", title, "4,000", "9,500", "summary", "100,000"); err != nil {
		return err
	}
	if cuts[0].Summary != "" {
		sum := 0.0
		for _, c := range cuts {
			sum += c.Share(t.Ruler, c.Summary)
		}
		if err := t.line("%-44s%10s%10s%10.3f\n", "client's summary", "", "", sum/float64(len(cuts))); err != nil {
			return err
		}
	}
	for _, m := range makers() {
		means := make([]float64, len(budgets()))
		for _, c := range cuts {
			shares, err := t.shares(ctx, m, c)
			if err != nil {
				return err
			}
			for i, v := range shares {
				means[i] += v / float64(len(cuts))
			}
			if !t.Each {
				continue
			}
			if err := t.row(fmt.Sprintf("  %s %.8s at line %d, %d needed", m.name, c.Session, c.Line, len(c.Needed)), shares); err != nil {
				return err
			}
		}
		if err := t.row(m.name, means); err != nil {
			return err
		}
	}
	return nil
}

func (t Table) line(format string, args ...any) error {
	_, err := fmt.Fprintf(t.Out, format, args...)
	return err
}

func (t Table) row(name string, shares []float64) error {
	var b strings.Builder
	for _, v := range shares {
		fmt.Fprintf(&b, "%10.3f", v)
	}
	return t.line("%-44s%s\n", name, b.String())
}

// shares measures the texts for a compaction, one for each budget.
func (t Table) shares(ctx context.Context, m maker, c Cut) ([]float64, error) {
	var all []float64
	for _, n := range budgets() {
		v, err := t.share(ctx, m, c, n)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// share measures one text; characters above its budget are ignored.
func (t Table) share(ctx context.Context, m maker, c Cut, chars int) (float64, error) {
	if chars == 0 {
		chars = summarySize
		if c.Summary != "" {
			chars = utf8.RuneCountInString(c.Summary)
		}
	}
	text, err := t.Run(ctx, m.args(c, chars)...)
	if err != nil {
		return 0, err
	}
	if utf8.RuneCountInString(text) > chars {
		text = string([]rune(text)[:chars])
	}
	return c.Share(t.Ruler, text), nil
}
