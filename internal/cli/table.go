package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"strandline/internal/recall"
)

// table prints columns as wide as their content; the last one takes what is left
// of the terminal's width.
type table struct {
	head  []string
	right []bool
	rows  [][]string
}

// newTable takes the headings; one that begins with ">" aligns to the right.
func newTable(head ...string) *table {
	t := &table{}
	for _, h := range head {
		name, right := strings.CutPrefix(h, ">")
		t.head, t.right = append(t.head, name), append(t.right, right)
	}
	return t
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer, width int) error {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	last := len(widths) - 1
	used := 2 * last
	for _, n := range widths[:last] {
		used += n
	}
	room := max(width-used, 12)
	var b strings.Builder
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			if i == last {
				b.WriteString(cut(c, room))
				break
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if t.right[i] {
				b.WriteString(pad + c + "  ")
			} else {
				b.WriteString(c + pad + "  ")
			}
		}
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return string(r[:max(n-1, 0)]) + "…"
}

// defaultWidth is used where the output is no terminal: nothing is cut that a
// script might want.
const defaultWidth = 400

func (a *app) width() int {
	if w, ok := a.env.Terminal(a.env.Stdout); ok && w > 0 {
		return w
	}
	return defaultWidth
}

// size formats a number of bytes.
func size(n int64) string {
	const unit = 1000
	switch {
	case n < unit:
		return fmt.Sprintf("%d B", n)
	case n < unit*unit:
		return fmt.Sprintf("%.1f kB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MB", float64(n)/unit/unit)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/unit/unit/unit)
}

// tokens formats a number of tokens.
func tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fK", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// ago formats a time for people: near ones by their distance.
func (a *app) ago(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	switch d := a.env.Now().Sub(t); {
	case d < 0:
		return t.Local().Format("2006-01-02 15:04")
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return t.Local().Format("2006-01-02")
}

// since reads a --since value.
func (a *app) since(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return recall.ParseTime(s, a.env.Now())
}

// abs makes a path absolute against the working directory.
func (a *app) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.env.Cwd, path)
}
