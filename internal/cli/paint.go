package cli

import (
	"strings"

	"strandline/internal/archive"
)

// painter colours text for a terminal; its zero value leaves text as it is.
type painter struct{ on bool }

// paint colours only for a terminal, and not where NO_COLOR is set
// (https://no-color.org).
func (a *app) paint() painter {
	_, terminal := a.env.Terminal(a.env.Stdout)
	return painter{on: terminal && a.env.Getenv("NO_COLOR") == "" && a.env.Getenv("TERM") != "dumb"}
}

func (p painter) code(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p painter) bold(s string) string   { return p.code("1", s) }
func (p painter) dim(s string) string    { return p.code("2", s) }
func (p painter) red(s string) string    { return p.code("31", s) }
func (p painter) green(s string) string  { return p.code("32", s) }
func (p painter) yellow(s string) string { return p.code("33", s) }
func (p painter) kind(s string) string   { return p.code("36", s) }

// highlight marks the words of a query in a line.
func (p painter) highlight(line string, words []archive.Term) string {
	if !p.on {
		return line
	}
	lower := strings.ToLower(line)
	if len(lower) != len(line) {
		return line // a rune that changes its length with its case would shift the marks
	}
	mark := make([]bool, len(line))
	for _, w := range words {
		if w.Text == "" || w.Weight < 1 {
			continue
		}
		for from := 0; ; {
			i := strings.Index(lower[from:], w.Text)
			if i < 0 {
				break
			}
			for k := from + i; k < from+i+len(w.Text); k++ {
				mark[k] = true
			}
			from += i + len(w.Text)
		}
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		j := i
		for j < len(line) && mark[j] == mark[i] {
			j++
		}
		if mark[i] {
			b.WriteString(p.code("1;33", line[i:j]))
		} else {
			b.WriteString(line[i:j])
		}
		i = j
	}
	return b.String()
}
