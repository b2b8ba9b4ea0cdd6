package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// columns of a terminal that the story fits into.
const columns = 80

// page prints the story; the first error of the writer is kept in err.
type page struct {
	out   io.Writer
	color bool
	live  bool
	err   error
	drawn bool // a progress line waits for its end
}

func (p *page) print(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

func (p *page) paint(code, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *page) bold(format string, args ...any) string {
	return p.paint("1", fmt.Sprintf(format, args...))
}

func (p *page) blank() { p.print("\n") }

func (p *page) title(text string) { p.print("%s\n", p.paint("1", text)) }

func (p *page) step(n int, text string) {
	p.print("\n%s\n", p.paint("1;36", strconv.Itoa(n)+"  "+text))
}

// text prints a paragraph, broken at words.
func (p *page) text(format string, args ...any) {
	indent := "   "
	line := ""
	// A run of blanks inside a line is kept: it aligns columns.
	for word := range strings.SplitSeq(fmt.Sprintf(format, args...), " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns-len(indent) &&
			!strings.HasPrefix(line, "sha256") {
			p.print("%s%s\n", indent, line)
			line = word
			continue
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	p.print("%s%s\n", indent, line)
}

// row prints two cells of a table.
func (p *page) row(left, right string) { p.print("   %s %s\n", left, right) }

// quote prints a line of somebody else's text, clipped to the page.
func (p *page) quote(line string) {
	p.print("   %s %s\n", p.paint("36", "│"), clip(line, columns-5))
}

// hit prints a search hit on one line.
func (p *page) hit(handle, kind, text string) {
	head := fmt.Sprintf("%-14s %-8s ", handle, kind)
	p.print("   %s%s\n", p.paint("33", head), clip(text, columns-3-len(head)))
}

// mark prints yes or no in a cell of n characters.
func (p *page) mark(yes bool, n int) string {
	if yes {
		return p.paint("32", fmt.Sprintf("%-*s", n, "yes"))
	}
	return p.paint("31", fmt.Sprintf("%-*s", n, "no"))
}

// progress draws the bar of an import.
func (p *page) progress(done, total int64) {
	const cells = 40
	if total <= 0 {
		return
	}
	done = min(done, total)
	full := int(done * cells / total)
	bar := "   [" + strings.Repeat("█", full) + strings.Repeat("░", cells-full) + "] " + strconv.FormatInt(done*100/total, 10) + " %"
	switch {
	case p.live:
		p.print("\r%s", bar)
		p.drawn = true
	case done == total && !p.drawn:
		p.print("%s\n", bar)
		p.drawn = true
	}
}

func (p *page) endProgress() {
	if p.live && p.drawn {
		p.print("\n")
	}
	p.drawn = false
}

// excerpt returns text on one line, beginning a little before the first of the
// words that it holds.
func excerpt(text string, words []string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, w := range words {
		if i := strings.Index(text, w); i >= 0 {
			if i > 30 {
				start := i - 20
				for start < i && !utf8.RuneStart(text[start]) {
					start++
				}
				if space := strings.IndexByte(text[start:i], ' '); space >= 0 {
					start += space + 1
				}
				text = "…" + text[start:]
			}
			break
		}
	}
	return text
}

// clip shortens text to n characters.
func clip(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(int64(n)) + " " + what + "s"
}

func duration(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e6, 'f', 1, 64) + " ms"
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytesText(n int64) string {
	if n < 1<<20 {
		return strconv.FormatInt((n+512)>>10, 10) + " KB"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MB"
}
