package claude

import (
	"strings"

	"strandline/internal/text"
)

// clean removes from a text what is no content: Strandline's own blocks, the
// client's reminders, terminal colours and NULs. Space around is trimmed.
func clean(text string) string {
	text = stripOwn(text)
	text = stripReminders(text)
	text = stripTerminal(text)
	return strings.TrimSpace(text)
}

// stripOwn removes the fenced blocks that Strandline injected.
func stripOwn(body string) string {
	if !hasOwn(body) {
		return body
	}
	return text.StripFences(body)
}

// hasOwn reports whether text may hold a block that Strandline injected.
func hasOwn(body string) bool { return strings.Contains(body, text.FenceOpen) }

// standsFor reports whether text holds the record with which Strandline replaced a
// conversation.
func standsFor(body string) bool { return hasOwn(body) && strings.Contains(body, text.ReplacementOpening) }

// stripReminders removes the notes that older clients put into prompts and tool
// results. A note that does not end stays: it is somebody's text about notes.
func stripReminders(text string) string {
	at := strings.Index(text, tagReminder)
	if at < 0 {
		return text
	}
	var b strings.Builder
	for at >= 0 {
		end := strings.Index(text[at:], endReminder)
		if end < 0 {
			break
		}
		b.WriteString(text[:at])
		text = text[at+end+len(endReminder):]
		at = strings.Index(text, tagReminder)
	}
	b.WriteString(text)
	return b.String()
}

// stripTerminal removes escape sequences that colour a terminal, and NULs, which
// databases do not take.
func stripTerminal(text string) string {
	at := strings.IndexAny(text, "\x00\x1b")
	if at < 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case 0:
		case 0x1b:
			i = escapeEnd(text, i)
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// escapeEnd returns the offset of the last byte of the escape sequence at i.
func escapeEnd(text string, i int) int {
	if i+1 >= len(text) || text[i+1] != '[' {
		return i
	}
	for j := i + 2; j < len(text) && j < i+32; j++ {
		if c := text[j]; c >= 0x40 && c <= 0x7e {
			return j
		}
	}
	return i
}

// oneLine returns text's first line that is not blank with its space collapsed,
// cut to at most n characters. The result does not keep text in memory.
func oneLine(text string, n int) string {
	for len(text) > 0 {
		line, rest, _ := strings.Cut(text, "\n")
		if line = strings.Join(strings.Fields(clipBytes(line, 4*n+64)), " "); line != "" {
			return strings.Clone(clipRunes(line, n))
		}
		text = rest
	}
	return ""
}

// title returns the first line of a prompt, and the next one too when the first
// only announces it ("Implement the following plan:").
func title(text string, n int) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) < 60 && strings.HasSuffix(strings.TrimSpace(line), ":") {
		if next := oneLine(rest, n); next != "" {
			return clipRunes(oneLine(line, n)+" "+next, n)
		}
	}
	return oneLine(text, n)
}

// clipRunes cuts text to at most n characters, the last of which is then an
// ellipsis.
func clipRunes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	count, last := 0, 0
	for i := range text {
		if count == n-1 {
			last = i
		}
		if count++; count > n {
			return text[:last] + "…"
		}
	}
	return text
}

// clipBytes cuts text to at most n bytes at a rune boundary.
func clipBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return text[:n]
}

// Content returns what is content of a tool's answer as the client handed it to
// the model: without the client's reminders and marks, terminal colours, line
// numbers, and the blocks that Strandline itself put there.
func Content(answer string) string { return stripNumbers(clean(bareError(answer))) }
