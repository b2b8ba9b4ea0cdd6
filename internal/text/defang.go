package text

import "strings"

// defang turns the equals signs of everything that looks like a mark into
// dashes. It is looser than Strip, since a model reads loosely: any case, any
// blanks, any number of signs.
func defang(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); {
		at := strings.Index(s[i:], "==")
		if at < 0 {
			break
		}
		from := i + at
		to := from
		for to < len(s) && s[to] == '=' {
			to++
		}
		i = to
		if namesMark(s[to:]) {
			b.WriteString(s[done:from])
			b.WriteString(strings.Repeat("-", to-from))
			done = to
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// namesMark reports whether s goes on like a mark behind its equals signs.
func namesMark(s string) bool {
	s = skipBlanks(s)
	if rest, ok := cutFold(s, "END"); ok {
		s = skipBlanks(rest)
	}
	_, ok := cutFold(s, "STRANDLINE")
	return ok
}

func skipBlanks(s string) string { return strings.TrimLeft(s, " \t\u00a0") }

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
