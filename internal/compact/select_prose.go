package compact

import (
	"math/bits"
	"strings"

	"strandline/internal/text"
)

// Limits of one printed line.
const (
	maxLineUnits     = 220 // of code and output, in UTF-16 units
	maxSentenceUnits = 320
	minLineBytes     = 12
	minWords         = 3 // ordinary words that make a line readable on its own
)

// printable returns a line of a file or a tool's output ready to print: without
// line number, truncated. It returns "" for a line without content. same reports
// that the line has all the terms and ordinary words of s.
func printable(s string) (line string, same bool) {
	s, same = text.Flatten(trimLineNumber(s))
	if len(s) < minLineBytes || !text.HasLetter(s) || isStatusElement(s) {
		return "", false
	}
	line = text.Truncate(s, maxLineUnits)
	return line, same && len(line) == len(s)
}

// isStatusElement reports whether a line is one XML element with an underscore in
// its name, in which the client reports the state of a background task.
func isStatusElement(s string) bool {
	if s[0] != '<' {
		return false
	}
	name, rest, ok := strings.Cut(s[1:], ">")
	return ok && strings.Contains(name, "_") && strings.HasSuffix(rest, "</"+name+">")
}

// trimLineNumber removes the line number that the client's reading tool prints.
func trimLineNumber(s string) string { return s[text.LineNumberLen(s, 7):] }

// sentences calls fn with each sentence and list entry of a Markdown text, and
// with each line of its code.
func sentences(body string, fn func(s string)) {
	text.ProseLines(body, func(line string, code bool) {
		s := text.TrimMarkdown(text.CleanLine(line))
		switch {
		case len(s) < minLineBytes || !text.HasLetter(s):
		case code:
			fn(text.Truncate(s, maxLineUnits))
		default:
			text.Sentences(s, func(s string) { fn(text.Truncate(s, maxSentenceUnits)) })
		}
	})
}

// givesReason reports whether a sentence states a decision, a reason or a
// constraint.
func givesReason(s string) bool {
	return containsPhrase(s, "because", "instead of", "decided", "so that", "the reason", "root cause", "caused by",
		"the problem is", "the issue is", "the fix", "must", "do not", "don't", "should not", "never", "always",
		"chose", "chosen", "rather than", "in order to", "turns out", "means that", "workaround", "the key", "important")
}

// givesPreference reports whether a prompt states how work is to be done.
func givesPreference(s string) bool {
	return containsPhrase(s, "always", "never", "prefer", "don't", "do not", "please use", "must", "should", "make sure",
		"instead", "only", "avoid", "rather", "remember", "important", "no need")
}

// reportsError reports whether a line of output is about an error.
func reportsError(s string) bool {
	return containsPhrase(s, "error", "errors", "fail", "failed", "failure", "fatal", "panic", "exception", "undefined",
		"cannot", "denied", "not found", "no such", "unexpected", "expected")
}

// containsPhrase reports whether s contains one of the phrases as whole words,
// ignoring case. There are at most 32 phrases, in lower case.
func containsPhrase(s string, phrases ...string) bool {
	var by ['z' + 1]uint32 // sets of phrases by first letter
	for i, p := range phrases {
		by[p[0]] |= 1 << i
	}
	inWord := false
	for i := range len(s) {
		letter := text.IsLetter(s[i])
		if letter && !inWord {
			for set := by[s[i]|0x20]; set != 0; set &= set - 1 {
				p := phrases[bits.TrailingZeros32(set)]
				end := i + len(p)
				if end <= len(s) && strings.EqualFold(s[i:end], p) && (end == len(s) || !text.IsLetter(s[end])) {
					return true
				}
			}
		}
		inWord = letter
	}
	return false
}

// isAnnouncement reports whether a sentence only announces the next action; the
// action itself has its own entry.
func isAnnouncement(s string) bool {
	return text.HasAnyPrefix(s, "Let me ", "Now ", "I'll ", "I will ", "I need to ",
		"Good", "Great", "Perfect", "Let's ", "First, let", "Next, ", "Also ")
}

// isFiller reports whether a sentence only introduces an action or acknowledges a
// result.
func isFiller(s string) bool {
	return isAnnouncement(s) && strings.HasSuffix(s, ":") || text.HasAnyPrefix(s, "I can see ", "I see the ", "I see that ", "Yes! ", "Looking at ")
}

// endsSentence reports whether a line ends with punctuation.
func endsSentence(s string) bool {
	return s == "" || strings.IndexByte(".:;!?,", s[len(s)-1]) >= 0 || strings.HasSuffix(s, "…")
}

// isComment reports whether a line between prose is a comment of code.
func isComment(s string) bool { return text.HasAnyPrefix(s, "//", "/*", "<!--") }

// isCode reports whether a line between prose is a line of code.
func isCode(s string) bool {
	return strings.IndexByte("{};(", s[len(s)-1]) >= 0 || strings.Contains(s, " := ") || isDeclaration(s) || isComment(s)
}

// isDeclaration reports whether a line of code declares a name.
func isDeclaration(s string) bool {
	return text.HasAnyPrefix(s, "func ", "type ", "class ", "def ", "async def ", "const ", "var ", "interface ", "struct ",
		"enum ", "impl ", "fn ", "export ", "public ", "function ")
}

// split truncates a text to at most n units, ellipsis included, at the end of a
// line or word, and returns the rest.
func split(body string, n int) (head, rest string) {
	head = text.Truncate(body, n)
	if head == body {
		return body, ""
	}
	at := len(strings.TrimSuffix(head, "…"))
	for _, end := range []string{"\n", " "} {
		if i := strings.LastIndex(body[:at], end); i > at*3/4 {
			at = i
			break
		}
	}
	return strings.TrimRight(body[:at], " \n") + "…", strings.TrimLeft(body[at:], " \n")
}

// ending returns the end of a text in at most n units, ellipsis included, from the
// start of a line or word.
func ending(body string, n int) string {
	if text.Units(body) <= n {
		return body
	}
	at := len(body) - n + len("…") // a unit has at least one byte
	if at >= len(body) {
		return ""
	}
	for _, end := range []string{"\n", " "} {
		if i := strings.Index(body[at:], end); i >= 0 && i < n/2 {
			return "…" + strings.TrimLeft(body[at+i:], "\n ")
		}
	}
	return "…" + strings.ToValidUTF8(body[at:], "")
}

// compactLines removes empty lines, and white space at both ends.
func compactLines(s string) string {
	s = strings.TrimSpace(s)
	for strings.Contains(s, "\n\n") {
		s = strings.ReplaceAll(s, "\n\n", "\n")
	}
	return s
}

// decay returns the weight of something n places back: half of it after h places.
func decay(n, h int) float64 { return float64(h) / float64(h+n) }
