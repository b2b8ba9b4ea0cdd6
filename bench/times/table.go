package times

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Row is one line of the report: subject, figure and goal.
type Row struct {
	What   string
	Figure string
	Detail string
	Goal   string
	// OK reports whether the goal is reached; nil without a goal.
	OK *bool
}

// Report is a list of rows.
type Report struct {
	Rows []Row
}

// Add adds a row without a goal.
func (r *Report) Add(what, figure, detail string) {
	r.Rows = append(r.Rows, Row{What: what, Figure: figure, Detail: detail})
}

// AddGoal adds a row with a goal.
func (r *Report) AddGoal(what, figure, detail, goal string, ok bool) {
	r.Rows = append(r.Rows, Row{What: what, Figure: figure, Detail: detail, Goal: goal, OK: &ok})
}

// Missed returns the number of missed goals.
func (r *Report) Missed() int {
	n := 0
	for _, row := range r.Rows {
		if row.OK != nil && !*row.OK {
			n++
		}
	}
	return n
}

// Write prints the report as a Markdown table.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| what | figure | goal | | measured |\n|---|---:|---:|---|---|\n")
	for _, row := range r.Rows {
		verdict := ""
		if row.OK != nil {
			verdict = "reached"
			if !*row.OK {
				verdict = "**missed**"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", row.What, row.Figure, row.Goal, verdict, row.Detail)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/1e6) }

func mb(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func spread(t Times) string {
	return fmt.Sprintf("%d runs, %s to %s (10 to 90 %%), CPU %s, %d page faults", len(t.Wall),
		ms(t.Wall.Quantile(0.1)), ms(t.Wall.Quantile(0.9)), ms(t.CPU.Median()), slices.Sorted(slices.Values(t.Faults))[len(t.Faults)/2])
}
