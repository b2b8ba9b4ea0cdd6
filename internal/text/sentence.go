package text

import "strings"

// Unlist takes the marks of headings, lists and tables off the beginning of a
// line, and those of strong words. A number is taken off only where it counts a
// list.
func Unlist(line string) string {
	line = strings.TrimLeft(unbold(line), "#>*-•| ")
	if n := len(line) - len(strings.TrimLeft(line, "0123456789")); n > 0 && n < 3 && strings.HasPrefix(line[n:], ". ") {
		line = strings.TrimLeft(line[n+2:], "* ")
	}
	return line
}

// unbold takes the two stars off both ends of strong words. Those of a glob, of a
// power and of code stay, and so does one end without the other.
func unbold(s string) string {
	const stars = "**"
	if !strings.Contains(s, stars) {
		return s
	}
	var b strings.Builder
	from, open, code := 0, -1, false // open: where a strong word may have begun
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

// SentenceEnd returns where the first sentence of s ends, in bytes; one that is
// very short goes with the next.
func SentenceEnd(s string) int {
	const short = 24
	for i := short; i+2 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && (s[i+2] < 'a' || s[i+2] > 'z') {
			return i + 1
		}
	}
	return len(s)
}
