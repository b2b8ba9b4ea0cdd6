package brief

import "strings"

// Unlist takes the marks of headings, lists and tables off the beginning of a
// line. A number is taken off only where it counts a list.
func Unlist(line string) string {
	line = strings.TrimLeft(line, "#>*-•| ")
	if n := len(line) - len(strings.TrimLeft(line, "0123456789")); n > 0 && n < 3 && strings.HasPrefix(line[n:], ". ") {
		line = strings.TrimLeft(line[n+2:], "* ")
	}
	return line
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
