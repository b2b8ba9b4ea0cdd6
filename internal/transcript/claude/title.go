package claude

import (
	"strings"
	"unicode"

	"strandline/internal/text"
)

// titleRank orders the sources of a session's title. A title is replaced by one of a
// higher rank, and a title of the client by a newer one.
type titleRank int

const (
	titleNone    titleRank = iota
	titleWeak              // a slash command, a greeting, a pasted banner
	titlePrompt            // the first prompt that instructs
	titlePlan              // the heading of the first plan
	titleSummary           // the client's, which it may renew
	titleUser              // the user's
)

// setTitle sets the session's title unless it has a better one.
func (r *Reader) setTitle(rank titleRank, s string) {
	st := &r.state
	if s = truncateChars(text.OneLine(s), maxSessionTitle); s != "" && (rank > st.title || rank == st.title && rank >= titleSummary) {
		st.facts.Title, st.title = s, rank
	}
}

// promptTitle takes the title from a prompt.
func (r *Reader) promptTitle(body string) {
	if r.state.title >= titlePlan {
		return
	}
	if intro, rest, ok := strings.Cut(strings.TrimSpace(body), "\n"); ok && isPlanIntro(intro) {
		r.setTitle(titlePlan, planHeading(rest))
	}
	line, strong := instruction(body)
	if strong {
		r.setTitle(titlePrompt, line)
	}
	r.setTitle(titleWeak, line)
}

// clientTitle takes the title that a row of the client gives a session. A summary row may
// be about another session.
func (r *Reader) clientTitle(row *row) {
	rank := titleSummary
	switch row.kind {
	case typeTitle:
		rank = titleUser
	case typeSummary:
		if _, ok := r.turnOf(hashOf(row.leaf)); !ok {
			return
		}
	}
	r.setTitle(rank, r.redact(string(row.title)))
}

// isPlanIntro reports whether a line introduces a plan, as the client writes it above one
// that the user accepted.
func isPlanIntro(line string) bool {
	return text.HasPrefixFold(line, "Implement the following plan") || text.HasPrefixFold(line, "Implement this plan")
}

// planHeading returns the first heading of a plan, "" if it has none.
func planHeading(plan string) string {
	for line := range strings.Lines(plan) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(strings.TrimSpace(line), "#"), " "); ok && strings.HasPrefix(strings.TrimSpace(line), "#") {
			return strings.TrimSpace(heading)
		}
	}
	return ""
}

// instruction returns the first line of a prompt that reads like prose, without leading
// symbols, and the next as well if it only introduces it. strong is false for a slash
// command, a greeting, and a text without such a line, whose first line it returns.
func instruction(body string) (line string, strong bool) {
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, "/") {
		return title(body, maxSessionTitle), false
	}
	for rest := body; rest != ""; {
		var first string
		whole := rest
		first, rest, _ = strings.Cut(rest, "\n")
		if lead := len(first) - len(strings.TrimLeftFunc(first, isLeadingSymbol)); isProse(first[lead:]) {
			return title(whole[lead:], maxSessionTitle), true
		}
	}
	return title(body, maxSessionTitle), false
}

func isLeadingSymbol(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("❯›>#*-–•⏺●", r)
}

// isProse reports whether a line has several words, most of them of letters, and is not
// a greeting.
func isProse(line string) bool {
	words, letters := strings.Fields(line), 0
	if len(words) == 0 || text.HasAnyPrefix(line, "==", "--", "~~", "__", "++") {
		return false
	}
	for _, w := range words {
		if r := []rune(w); unicode.IsLetter(r[0]) && unicode.IsLetter(r[len(r)/2]) {
			letters++
		}
	}
	wide := strings.ContainsFunc(line, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	})
	return wide || len(words) > 1 && 2*letters > len(words) && !isGreeting(words)
}

// isGreeting reports whether a line of a few words only greets or confirms.
func isGreeting(words []string) bool {
	switch strings.ToLower(strings.Trim(words[0], ",.!?")) {
	case "hi", "hello", "hey", "hallo", "hola", "bonjour", "yo", "good", "thanks", "thank", "ok", "okay", "yes", "no", "go", "continue", "test", "ping":
		return len(words) < 4
	}
	return false
}
