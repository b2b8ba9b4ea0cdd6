package compact

import (
	"strings"
	"sync"

	"strandline/internal/text"
)

// Limits of a statement, in UTF-16 units.
const (
	maxStatement = 320 // from which a statement is divided at the end of a sentence or list entry
	minStatement = 110 // from which it ends with its paragraph
	maxCodeLines = 3   // of a block of commands; other code is left out
)

// statement is a part of a text that can be read alone: connected sentences, or
// entries of a list with the line that introduces them.
type statement struct {
	text    string
	heading string // of its section of the text
	reason  bool   // gives a reason, a decision or a constraint
	finding bool   // gives one of those, or a finding
}

// statementReader divides a Markdown text into statements.
type statementReader struct {
	emit    func(statement)
	seen    map[string]bool // sentences
	pick    func(sentence string) bool
	single  bool // sentences are taken out of their context
	body    strings.Builder
	units   int
	lead    string // a heading or "such as these:", printed with what follows
	heading string // the last one
	code    int    // lines left of the current code block
	list    bool   // the last line was an entry of a list
	coded   bool   // the last line was code
	finding bool
	reason  bool
}

// statements calls fn with the statements of a Markdown text. It leaves out
// sentences that only announce an action or think aloud, and those that pick, if it
// is not nil, rejects.
func statements(body string, pick func(sentence string) bool, fn func(statement)) {
	r := statementReader{emit: fn, pick: pick, seen: map[string]bool{}}
	r.read(body)
}

// excerpts is statements for a pick that takes single sentences out of their context:
// introductions and code are left out.
func excerpts(body string, pick func(sentence string) bool, fn func(statement)) {
	r := statementReader{emit: fn, pick: pick, single: true, seen: map[string]bool{}}
	r.read(body)
}

func (r *statementReader) read(body string) {
	code := false
	for raw := range strings.SplitSeq(body, "\n") {
		trimmed := strings.TrimSpace(raw)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			if code, r.code = !code, 0; isCommandBlock(trimmed) {
				r.code = maxCodeLines
			}
		case code:
			r.codeLine(raw)
		case trimmed == "":
			if r.units >= minStatement {
				r.flush()
			}
		default:
			r.line(trimmed)
		}
	}
	r.flush()
}

func (r *statementReader) line(s string) {
	entry, table := isListEntry(s), s[0] == '|'
	if r.list && !entry && r.units >= minStatement {
		r.flush()
	}
	r.list = entry
	heading := strings.HasPrefix(s, "#") || strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**") && !strings.HasSuffix(s, "?**")
	marker := ""
	if entry {
		marker = "- "
	}
	s = text.CleanLine(s)
	title := strings.TrimSuffix(strings.Trim(s, "#* "), ":") // with its number
	s = text.TrimMarkdown(s)
	switch {
	case !text.HasLetter(s):
	case heading && !strings.HasSuffix(s, "."):
		r.flush()
		r.heading = title
		r.setLead(strings.TrimSuffix(s, ":") + ":")
	case strings.HasSuffix(s, ":") && !entry:
		r.introduce(s)
	case table:
		r.row(strings.Trim(s, "| "))
	default:
		r.sentences(s, marker)
	}
}

// introduce takes a line that ends with a colon: its sentences, the last of which
// introduces what follows.
func (r *statementReader) introduce(s string) {
	last := ""
	text.Sentences(s, func(sentence string) {
		if last != "" {
			r.sentences(last, "")
		}
		last = sentence
	})
	if r.units >= minStatement {
		r.flush()
	}
	r.lead = ""
	if !isAnnouncement(last) {
		r.setLead(last)
	}
}

// setLead sets the line that is printed with the next sentence, unless that need not
// belong to it.
func (r *statementReader) setLead(s string) {
	if !r.single {
		r.lead = s
	}
}

// row adds a row of a table.
func (r *statementReader) row(s string) {
	if r.pick != nil && !r.pick(s) {
		return
	}
	r.finding = r.finding || givesReason(s) || reportsFinding(s)
	r.add("- "+text.Truncate(s, maxStatement), "\n")
}

func (r *statementReader) sentences(s, marker string) {
	text.Sentences(s, func(sentence string) {
		sentence = trimAnnouncement(trimInterjection(sentence))
		if sentence == "" || isAnnouncement(sentence) || isMusing(sentence) || r.pick != nil && !r.pick(sentence) || r.seen[sentence] {
			return
		}
		r.seen[sentence] = true
		r.reason = r.reason || givesReason(sentence)
		r.finding = r.finding || r.reason || reportsFinding(sentence)
		separator := "\n"
		if marker == "" && r.units > 0 && !r.list && !r.coded {
			separator = " "
		}
		r.add(marker+text.Truncate(sentence, 2*maxStatement), separator)
		marker, r.coded = "", false
	})
}

func (r *statementReader) codeLine(raw string) {
	if r.code--; r.code < 0 || strings.TrimSpace(raw) == "" || r.single {
		r.lead = "" // it introduced this code
		return
	}
	r.add(text.Truncate(text.CleanLine(strings.TrimRight(raw, " \t\r")), maxLineUnits), "\n")
	r.coded = true
}

func (r *statementReader) add(s, separator string) {
	n := text.Units(s) + 1
	if r.units > 0 && r.units+n > maxStatement {
		r.flush()
	}
	if r.lead != "" {
		s, r.lead = r.lead+"\n"+s, ""
		n, separator = text.Units(s)+1, "\n"
	}
	if r.units > 0 {
		s = separator + s
	}
	r.body.WriteString(s)
	r.units += n
}

func (r *statementReader) flush() {
	if r.units > 0 {
		r.emit(statement{strings.TrimSpace(r.body.String()), r.heading, r.reason, r.finding})
	}
	r.body.Reset()
	r.units, r.finding, r.reason = 0, false, false
}

// isCommandBlock reports whether a code block that begins with fence holds commands.
func isCommandBlock(fence string) bool {
	switch strings.TrimLeft(fence, "`") {
	case "sh", "bash", "shell", "console", "zsh":
		return true
	}
	return false
}

// isListEntry reports whether a line is an entry of a list or a row of a table.
func isListEntry(s string) bool {
	if text.HasAnyPrefix(s, "- ", "* ", "+ ", "• ", "|") {
		return true
	}
	n := len(s) - len(strings.TrimLeft(s, "0123456789"))
	return n > 0 && n < 3 && text.HasAnyPrefix(s[n:], ". ", ") ")
}

// trimInterjection removes an exclamation such as "Good progress!" from the start
// of a sentence.
func trimInterjection(s string) string {
	if at := strings.Index(s, "! "); at > 0 && at < 24 && text.HasAnyPrefix(s, "Good", "Great", "Perfect", "Excellent", "Yes", "Nice", "OK", "Done") {
		return strings.TrimSpace(s[at+2:])
	}
	return s
}

// trimAnnouncement removes an announcement from the end of a short sentence that it
// was joined to.
func trimAnnouncement(s string) string {
	for _, mark := range []string{"Let me ", "Now let me ", "Now let's ", "Let's "} {
		if at := strings.Index(s, mark); at > 1 && s[at-1] == ' ' && strings.IndexByte(".!?:", s[at-2]) >= 0 {
			s = s[:at-1]
		}
	}
	return s
}

// isMusing reports whether a sentence thinks aloud: it states neither a fact nor a
// decision.
func isMusing(s string) bool {
	return text.HasAnyPrefix(s, "I see", "I can see", "I think", "I should", "I wonder", "I understand", "Looking at ", "Wait", "Hmm", "Hm,",
		"Maybe", "Perhaps", "Actually", "But wait", "OK", "Okay", "Alright", "So I", "The user wants", "The user is", "Excellent", "I already read", "There are still", "You're right", "You're absolutely right") && text.Units(s) < 90
}

// reportsFinding reports whether a sentence states something that was found out.
func reportsFinding(s string) bool {
	return findingPhrases().in(s)
}

var findingPhrases = sync.OnceValue(func() *phraseSet {
	return newPhraseSet("found", "bug", "the issue", "the cause", "the error", "fails", "failed", "failing", "confirmed", "fixed", "missing",
		"works", "passes", "passing", "pass", "mismatch", "instead", "not", "no longer", "already", "only", "requires", "expects", "added", "removed",
		"changed", "renamed")
})

// announced returns what an announcement announces, such as "fix the test" of "Now
// let me fix the test:"; "" for any other sentence.
func announced(s string) string {
	s = strings.TrimSpace(s)
	trimmed := false
	for {
		rest := s
		for _, p := range []string{"Now, ", "Now ", "Next, ", "First, ", "Also, ", "Also ", "Then ", "Finally, ", "let me ", "Let me ", "let's ", "Let's ", "I'll ", "I will ",
			"I need to ", "I'm going to ", "also ", "start by ", "now "} {
			if after, ok := strings.CutPrefix(rest, p); ok {
				rest, trimmed = after, true
			}
		}
		if rest == s {
			break
		}
		s = rest
	}
	if !trimmed {
		return ""
	}
	s = strings.TrimRight(s, ":. ")
	return strings.TrimSpace(strings.TrimPrefix(s, "need to"))
}
