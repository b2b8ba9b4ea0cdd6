package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// OneLine joins the words of s with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Count returns a number with its noun: "1 entry", "2 entries", "0 turns".
func Count(n int, noun string) string {
	switch stem, ok := strings.CutSuffix(noun, "ry"); {
	case n == 1:
		return "1 " + noun
	case ok:
		return strconv.Itoa(n) + " " + stem + "ries"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// HasAnyPrefix reports whether s begins with one of the prefixes.
func HasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// HasPrefixFold reports whether s begins with prefix, in any case.
func HasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// TrimMarkdown removes the markup of headings, lists and tables from the start of
// a line, and the asterisks of bold text. A leading number is removed only if it
// numbers a list.
func TrimMarkdown(line string) string {
	line = strings.TrimLeft(unbold(line), "#>*-•| ")
	if n := len(line) - len(strings.TrimLeft(line, "0123456789")); n > 0 && n < 3 && strings.HasPrefix(line[n:], ". ") {
		line = strings.TrimLeft(line[n+2:], "* ")
	}
	return line
}

// unbold removes the asterisks around bold text. It leaves those of globs, powers
// and code, and unpaired ones.
func unbold(s string) string {
	const stars = "**"
	if !strings.Contains(s, stars) {
		return s
	}
	var b strings.Builder
	from, open, code := 0, -1, false // open: where bold text may have begun
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '`':
			code = !code
		case code || !strings.HasPrefix(s[i:], stars):
		case open >= 0 && s[i-1] != ' ' && (i+2 == len(s) || strings.IndexByte(" .,:;!?)]\"'|-", s[i+2]) >= 0 || s[i+2] >= 0x80):
			b.WriteString(s[from:open])
			b.WriteString(s[open+2 : i])
			from, open = i+2, -1
			i++
		case (i == 0 || strings.IndexByte(" ([\"'|>-", s[i-1]) >= 0) && i+2 < len(s) && strings.IndexByte(" */", s[i+2]) < 0:
			open = i
			i++
		}
	}
	b.WriteString(s[from:])
	return b.String()
}

// Sentences calls fn with each sentence of a line. A very short sentence is
// joined to the next.
func Sentences(line string, fn func(sentence string)) {
	for line != "" {
		end := sentenceEnd(line)
		fn(line[:end])
		line = strings.TrimLeft(line[end:], " ")
	}
}

// sentenceEnd returns the length of the first sentence of s in bytes.
func sentenceEnd(s string) int {
	const short = 24
	for i := short; i+2 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && (s[i+2] < 'a' || s[i+2] > 'z') {
			return i + 1
		}
	}
	return len(s)
}

// ProseLines calls fn with each line of a Markdown text, without its markup;
// code reports a line of a code block. The lines that begin and end a code block
// are left out.
func ProseLines(body string, fn func(line string, code bool)) {
	code := false
	for line := range strings.SplitSeq(body, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		fn(line, code)
	}
}

// Thousands formats a number with commas.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// LineNumberLen returns the length of the line number that the client's reading tool
// adds to a line: blanks, at most maxDigits digits, and an arrow or a tab. 0: none.
func LineNumberLen(line string, maxDigits int) int {
	from := len(line) - len(strings.TrimLeft(line, " "))
	end := len(line) - len(strings.TrimLeft(line[from:], "0123456789"))
	if end == from || end-from > maxDigits {
		return 0
	}
	for _, mark := range [...]string{"→", "\t"} {
		if strings.HasPrefix(line[end:], mark) {
			return end + len(mark)
		}
	}
	return 0
}

// Size formats a number of bytes in decimal units.
func Size(n int64) string { return scaled(n, "%d B", " kB", " MB", " GB", " TB") }

// TokenCount formats a number of tokens.
func TokenCount(n int64) string { return scaled(n, "%d", "K", "M", "G", "T") }

// scaled writes a number with one decimal and the largest unit that leaves it at 1
// or above after rounding.
func scaled(n int64, whole string, units ...string) string {
	if n < 1000 {
		return fmt.Sprintf(whole, n)
	}
	f := float64(n)
	for i, unit := range units {
		f /= 1000
		if math.Round(f*10) < 10000 || i == len(units)-1 {
			return fmt.Sprintf("%.1f%s", f, unit)
		}
	}
	return ""
}
