package claude

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// ToolOutput returns the content of a tool result as the model got it: without the
// client's reminders and tags, terminal sequences and line numbers.
func ToolOutput(result string) string { return stripLineNumbers(clean(trimErrorTags(result))) }

// clean removes the parts of a text that are not content: the client's reminders,
// terminal sequences and NULs. It trims the white space around the rest.
func clean(s string) string {
	return strings.TrimSpace(stripTerminal(stripReminders(s)))
}

// stripReminders removes the reminders that older clients add to prompts and tool
// results. It leaves an unterminated tag, which is text about reminders.
func stripReminders(s string) string {
	if !strings.Contains(s, tagReminder) {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, tagReminder)
		_, after, closed := strings.Cut(rest, endReminder)
		if !found || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		s = after
	}
}

// stripTerminal removes terminal sequences, and NULs, which databases reject.
func stripTerminal(s string) string {
	if !strings.ContainsAny(s, "\x00\x1b") {
		return s
	}
	return text.RemoveAt(s, "\x00\x1b", func(rest string) int { return max(text.EscapeLen(rest), 1) })
}

// trimErrorTags removes the tags that the client adds around its own errors.
func trimErrorTags(s string) string {
	if inner, ok := strings.CutPrefix(s, "<tool_use_error>"); ok {
		return strings.TrimSuffix(inner, "</tool_use_error>")
	}
	return s
}

// stripLineNumbers removes the line numbers that the client adds to the lines of a
// file: spaces, digits and an arrow or a tab.
func stripLineNumbers(s string) string {
	if text.LineNumberLen(s, len(s)) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		b.WriteString(line[text.LineNumberLen(line, len(line)):])
	}
	return b.String()
}

// oneLine returns the first line of s that is not blank, with single spaces, in at
// most n characters. The result does not keep s in memory.
func oneLine(s string, n int) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = text.OneLine(text.Prefix(line, 4*n+64)); line != "" {
			return strings.Clone(truncateChars(line, n))
		}
	}
	return ""
}

// title returns the first line of a prompt, and the next as well if the first only
// introduces it ("Implement the following plan:").
func title(s string, n int) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(s), "\n")
	if len(line) < 60 && strings.HasSuffix(strings.TrimSpace(line), ":") {
		if next := oneLine(rest, n); next != "" {
			return truncateChars(oneLine(line, n)+" "+next, n)
		}
	}
	return oneLine(s, n)
}

// truncateChars shortens s to at most n characters, ellipsis included.
func truncateChars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count, last := 0, 0
	for i := range s {
		if count == n-1 {
			last = i
		}
		if count++; count > n {
			return s[:last] + "…"
		}
	}
	return s
}

// split splits a text into pieces of at most archive.MaxPassage bytes: between
// paragraphs if possible, else lines, else words, and never inside a character.
// Only white space between pieces is lost.
func split(s string) []string {
	var pieces []string
	for len(s) > archive.MaxPassage {
		at := splitPoint(s, archive.MaxPassage)
		if piece := strings.TrimRight(s[:at], " \t\r\n"); piece != "" {
			pieces = append(pieces, piece)
		}
		s = strings.TrimLeft(s[at:], "\r\n")
	}
	if strings.TrimSpace(s) != "" {
		pieces = append(pieces, s)
	}
	return pieces
}

// splitPoint returns the best offset in (0, n] at which to split s: the end of a
// paragraph, a line or a word in the last quarter.
func splitPoint(s string, n int) int {
	from := n * 3 / 4
	for _, sep := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(s[from:n], sep); at >= 0 {
			return from + at + len(sep)
		}
	}
	return max(len(text.Prefix(s, n)), 1)
}

// The sizes of an excerpt in bytes.
const (
	excerptHead   = 600
	excerptTail   = 300
	excerptErrors = 500
	excerptWhole  = excerptHead + excerptErrors + excerptTail
)

// excerpt returns s if it has at most whole bytes, else its start, its error lines
// if errors is set, and its end. It reports whether anything is left out.
func excerpt(s string, whole int, errors bool) (string, bool) {
	if len(s) <= whole {
		return s, false
	}
	headSize, tailSize := min(excerptHead, whole*3/5), min(excerptTail, whole/4)
	if whole > 2*excerptWhole {
		headSize, tailSize = whole*2/3, whole/4
	}
	head := s[:lineEndBefore(s, headSize)]
	tail := s[lineStartAfter(s, len(s)-tailSize):]
	var b strings.Builder
	b.Grow(whole + 16)
	b.WriteString(strings.TrimRight(head, "\n") + "\n…\n")
	if errors {
		if found := errorLines(s[len(head) : len(s)-len(tail)]); found != "" {
			b.WriteString(found + "…\n")
		}
	}
	b.WriteString(strings.TrimLeft(tail, "\n"))
	return b.String(), true
}

// lineEndBefore returns the offset after a line end in (n/2, n], else the start of
// the character at n.
func lineEndBefore(s string, n int) int {
	if at := strings.LastIndexByte(s[n/2:n], '\n'); at >= 0 {
		return n/2 + at + 1
	}
	return len(text.Prefix(s, n))
}

// lineStartAfter returns the offset of a line start in the first half of s[n:],
// else of the first character there.
func lineStartAfter(s string, n int) int {
	if at := strings.IndexByte(s[n:n+(len(s)-n)/2], '\n'); at >= 0 {
		return n + at + 1
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}

// errorLine returns the line of a failed result that describes the error: the
// first that looks like an error, else the first line of a usage text, else the
// last line.
func errorLine(s string) string {
	last := ""
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if _, isExit := exitCode(line); line == "" || isExit {
			continue
		}
		if looksLikeError(line) {
			last = line
			break
		}
		if !text.HasAnyPrefix(last, "usage: ", "Usage: ") {
			last = line
		}
	}
	if last == "" {
		last = strings.TrimSpace(s)
	}
	return strings.Clone(truncateChars(last, maxError)) // do not keep the output in memory
}

// errorLines returns the lines of s that look like errors, at most excerptErrors bytes
// of them.
func errorLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if len(line) < 4 || !looksLikeError(line) {
			continue
		}
		line = text.Prefix(strings.TrimRight(line, "\r\n"), 200)
		if b.Len()+len(line)+1 > excerptErrors {
			break
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// looksLikeError reports whether a line of output reports an error. It runs for
// every line of long outputs, so it only compares a few words by their first
// letter.
func looksLikeError(line string) bool {
	line = text.Prefix(line, 300)
	for i := 0; i+4 <= len(line); i++ {
		found := false
		switch rest := line[i:]; line[i] | 0x20 {
		case 'e':
			found = text.HasPrefixFold(rest, "error") || text.HasPrefixFold(rest, "exception")
		case 'f':
			found = text.HasPrefixFold(rest, "fatal") || text.HasPrefixFold(rest, "failed") || text.HasPrefixFold(rest, "failure") ||
				strings.HasPrefix(rest, "FAIL")
		case 'p':
			found = text.HasPrefixFold(rest, "panic:") || text.HasPrefixFold(rest, "permission denied")
		case 'n':
			found = text.HasPrefixFold(rest, "no such file") || text.HasPrefixFold(rest, "not found")
		case 'c':
			found = text.HasPrefixFold(rest, "cannot ") || text.HasPrefixFold(rest, "command not found")
		case 'u':
			found = text.HasPrefixFold(rest, "undefined") || text.HasPrefixFold(rest, "unexpected")
		}
		if found {
			return true
		}
	}
	return false
}

// exitCode reads "Exit code N" at the start of a failed command's result.
func exitCode(s string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(s, "Error: "), "Exit code ")
	after := strings.TrimLeft(rest, "0123456789")
	digits := rest[:len(rest)-len(after)]
	if n, err := strconv.Atoi(digits); ok && err == nil && len(digits) <= 6 && (after == "" || after[0] == '\n' || after[0] == '\r') {
		return n, true
	}
	return 0, false
}
