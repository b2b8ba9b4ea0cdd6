package text

import "strings"

// Strip removes every fenced block from text, so that our own words are not
// taken for the session's when they are read back. A block whose end was cut
// off goes to the next block or to the end. The line in front of a block goes
// too where it is only indentation, a quote sign or the client's announcement
// of hook output. Text without a block is returned as it is.
func Strip(text string) string {
	from, nonce := findOpen(text, 0)
	if from < 0 {
		return text
	}
	var b strings.Builder
	kept := 0
	for from >= 0 {
		next, nextNonce := findOpen(text, from+len(OpenMark))
		end := blockEnd(text, from, nonce)
		if end < 0 { // cut off
			if end = next; end < 0 {
				end = len(text)
			}
		} else {
			for next >= 0 && next < end { // nested or repeated inside
				next, nextNonce = findOpen(text, next+len(OpenMark))
			}
		}
		start, whole := lineStart(text, kept, from)
		b.WriteString(text[kept:start])
		if whole {
			end = skipNewline(text, end)
		}
		kept, from, nonce = end, next, nextNonce
	}
	b.WriteString(text[kept:])
	return b.String()
}

// findOpen returns the offset and nonce of the first opening mark at or behind
// from, or -1.
func findOpen(text string, from int) (int, string) {
	for from <= len(text) {
		at := strings.Index(text[from:], OpenMark+" ")
		if at < 0 {
			return -1, ""
		}
		from += at
		rest := text[from+len(OpenMark)+1:]
		if n := hexPrefix(rest); n == nonceLen {
			return from, rest[:nonceLen]
		}
		from += len(OpenMark)
	}
	return -1, ""
}

// hexPrefix counts the hex digits that s begins with, up to one nonce.
func hexPrefix(s string) int {
	n := 0
	for n < len(s) && n < nonceLen && (s[n] >= '0' && s[n] <= '9' || s[n] >= 'a' && s[n] <= 'f') {
		n++
	}
	return n
}

// blockEnd returns the offset behind the closing mark of the block at from, -1
// when there is none.
func blockEnd(text string, from int, nonce string) int {
	mark := CloseMark + " " + nonce
	at := strings.Index(text[from:], mark)
	if at < 0 {
		return -1
	}
	return from + at + len(mark)
}

// lineStart returns where to cut before a block at offset from, no earlier than
// floor, and whether the block then has its lines for itself.
func lineStart(text string, floor, from int) (int, bool) {
	start := floor + strings.LastIndexByte(text[floor:from], '\n') + 1
	lead := text[start:from]
	bare := strings.Trim(lead, " \t>|*#/-") == ""
	announced := strings.HasSuffix(lead, "hook additional context: ") || strings.HasSuffix(lead, "hook success: ")
	if bare || announced {
		return start, start == 0 || text[start-1] == '\n'
	}
	return from, false
}

func skipNewline(text string, at int) int {
	if rest := text[at:]; strings.HasPrefix(rest, "\r\n") {
		return at + 2
	} else if strings.HasPrefix(rest, "\n") {
		return at + 1
	}
	return at
}
