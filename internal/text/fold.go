package text

import "strings"

// FoldTerminal returns the output of a program as a terminal shows it in the end:
// without colours and other escape sequences, and of lines that the program wrote over
// itself, such as a progress bar, only the last state.
func FoldTerminal(s string) string {
	if !strings.ContainsAny(s, "\x1b\r\b") {
		return s
	}
	lines := strings.Split(RemoveAt(s, "\x1b", sequenceLen), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = line[strings.LastIndexByte(line, '\r')+1:]
	}
	return strings.Join(lines, "\n")
}

// RemoveAt removes from s what begins at the characters of starts: the number of bytes that
// length returns, which is at least 1, for the rest of s from there.
func RemoveAt(s, starts string, length func(rest string) int) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		at := strings.IndexAny(s, starts)
		if at < 0 {
			return b.String() + s
		}
		b.WriteString(s[:at])
		s = s[at+length(s[at:]):]
	}
}

// sequenceLen returns the length of the escape sequence at the start of s: as EscapeLen,
// and that of a sequence with a text, such as a window's title or a link.
func sequenceLen(s string) int {
	const longest = 4096 // bytes of a text
	if !strings.HasPrefix(s, "\x1b]") {
		return EscapeLen(s)
	}
	inner := s[2:min(len(s), longest)]
	if end := strings.IndexAny(inner, "\a\x1b\n"); end >= 0 {
		switch {
		case inner[end] == '\a':
			return 2 + end + 1
		case strings.HasPrefix(inner[end:], "\x1b\\"):
			return 2 + end + 2
		}
	}
	return 1
}
