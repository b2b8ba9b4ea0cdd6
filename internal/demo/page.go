package demo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"strandline/internal/text"
)

// columns is the width of the output.
const columns = 80

// page formats the output. It keeps the first error of the writer.
type page struct {
	out   io.Writer
	color bool
	live  bool
	err   error
	drawn bool // a progress bar was printed
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

// text prints a paragraph, wrapped at words.
func (p *page) text(format string, args ...any) {
	indent := "   "
	line := ""
	// Runs of blanks align columns and are kept.
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

// quote prints a quoted line, clipped to the width.
func (p *page) quote(line string) {
	p.print("   %s %s\n", p.paint("36", "│"), clip(line, columns-5))
}

// hit prints a search hit.
func (p *page) hit(handle, kind, body string) {
	head := fmt.Sprintf("%-14s %-8s ", handle, kind)
	p.print("   %s%s\n", p.paint("33", head), clip(body, columns-3-len(head)))
}

// mark returns yes or no in a cell of n characters.
func (p *page) mark(yes bool, n int) string {
	if yes {
		return p.paint("32", fmt.Sprintf("%-*s", n, "yes"))
	}
	return p.paint("31", fmt.Sprintf("%-*s", n, "no"))
}

// progress draws a progress bar.
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

// excerpt returns text on one line, from shortly before the first of the words that
// it contains.
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

// clip shortens a line to n columns.
func clip(line string, n int) string {
	return text.TruncateCells(text.Visible(strings.ReplaceAll(line, "\t", " ")), n)
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
