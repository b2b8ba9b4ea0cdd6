package claude

import "strings"

// maxError is the size of a call's error line in characters.
const maxError = 500

// errorLine returns the line of a failed result that says what went wrong: the
// first that looks like an error, else the head of a usage, else the last one.
func errorLine(text string) string {
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || isExitLine(line) {
			continue
		}
		if looksLikeError(line) {
			return strings.Clone(clipRunes(line, maxError))
		}
		if last == "" || !hasAnyPrefix(last, "usage: ", "Usage: ") {
			last = line
		}
	}
	if last == "" {
		last = strings.TrimSpace(text)
	}
	return strings.Clone(clipRunes(last, maxError)) // the output may be large
}

// bareError removes the tags that the client puts around its own refusals.
func bareError(text string) string {
	if inner, ok := strings.CutPrefix(text, "<tool_use_error>"); ok {
		return strings.TrimSuffix(inner, "</tool_use_error>")
	}
	return text
}

// errorLines returns the lines of text that look like errors, each with a
// newline, up to n bytes.
func errorLines(text string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) < 4 || !looksLikeError(line) {
			continue
		}
		line = clipBytes(strings.TrimRight(line, "\r\n"), 200)
		if b.Len()+len(line)+1 > n {
			break
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// looksLikeError reports whether a line of output tells of a failure. It is a
// test of a few words, since it runs over every line of every long output.
func looksLikeError(line string) bool {
	line = clipBytes(line, 300)
	for i := 0; i+4 <= len(line); i++ {
		switch line[i] | 0x20 {
		case 'e':
			if word(line, i, "error") || word(line, i, "exception") {
				return true
			}
		case 'f':
			if word(line, i, "fatal") || word(line, i, "failed") || word(line, i, "failure") || strings.HasPrefix(line[i:], "FAIL") {
				return true
			}
		case 'p':
			if word(line, i, "panic:") || word(line, i, "permission denied") {
				return true
			}
		case 'n':
			if word(line, i, "no such file") || word(line, i, "not found") {
				return true
			}
		case 'c':
			if word(line, i, "cannot ") || word(line, i, "command not found") {
				return true
			}
		case 'u':
			if word(line, i, "undefined") || word(line, i, "unexpected") {
				return true
			}
		}
	}
	return false
}

// word reports whether lower stands at offset i of line in any case.
func word(line string, i int, lower string) bool {
	return len(line)-i >= len(lower) && strings.EqualFold(line[i:i+len(lower)], lower)
}

// isExitLine reports whether a line is the client's note of an exit code.
func isExitLine(line string) bool {
	_, ok := exitCode(line)
	return ok
}

// exitCode reads "Exit code N" at the head of a failed command's result.
func exitCode(text string) (int, bool) {
	text = strings.TrimPrefix(text, "Error: ")
	rest, ok := strings.CutPrefix(text, "Exit code ")
	if !ok {
		return 0, false
	}
	n, digits := 0, 0
	for digits < len(rest) && digits < 6 && rest[digits] >= '0' && rest[digits] <= '9' {
		n = n*10 + int(rest[digits]-'0')
		digits++
	}
	if digits == 0 || digits < len(rest) && rest[digits] != '\n' && rest[digits] != '\r' {
		return 0, false
	}
	return n, true
}
