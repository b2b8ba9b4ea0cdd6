package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// The most of each kind in the entry of a changed file.
const (
	maxDeclared = 6   // functions and types in its head
	maxHunk     = 480 // units of a recent hunk
	recentHunks = 3   // edits whose hunks are quoted whatever the budget
)

// change collects the edits of a file.
type change struct {
	entry          *entry
	added, removed int
	declared       []string
	partial        bool            // some of its edits are truncated
	gone           map[string]bool // lines that later edits removed
}

// collectFiles adds an entry for each changed file: the size of its changes, the
// functions in them, what each was for, and the new lines.
func collectFiles(c *collector) {
	edits, changes, hunks := c.editCounts(), map[string]*change{}, 0
	var order []*change
	for _, x := range slices.Backward(c.past.passages) {
		if x.Kind != archive.KindEdit || len(x.Paths) != 1 || edits[x.Paths[0]] == 0 || c.editFailed(x) {
			continue
		}
		path, age, h := x.Paths[0], c.age(x.Turn, x.Step), c.handle(x.Turn, x.Step)
		ch := changes[path]
		if ch == nil {
			ch = &change{entry: &entry{section: secFiles, order: age, handle: h, prior: 4 * decay(age, 60), source: true}, gone: map[string]bool{}}
			ch.entry.head = c.short(text.CleanLine(path)) + ", changed " + times(edits[path])
			changes[path] = ch
			order = append(order, ch)
		}
		if why := c.purpose(x); why != "" {
			c.addPiece(ch.entry, why, h, aged(densityReply, age), 1)
		}
		added := ch.follow(x)
		if hunks++; hunks <= recentHunks {
			c.addHunk(ch.entry, added, h, densityReply)
		} else if c.roomy() {
			c.addHunk(ch.entry, added, h, 0)
		}
	}
	for _, ch := range order {
		if !ch.partial {
			ch.entry.head += fmt.Sprintf(" (+%d -%d)", ch.added, ch.removed)
		}
		if len(ch.declared) > 0 {
			ch.entry.head += " in " + strings.Join(ch.declared, ", ")
		}
		n := c.add(*ch.entry)
		for _, l := range n.lines {
			l.entry = n
		}
	}
}

// roomy reports whether the budget has room for excerpts of code and output.
func (c *collector) roomy() bool { return c.req.Budget >= largeBudget || c.past.sparse(c.req.Budget) }

// follow counts an edit, which precedes those counted before, and returns the lines
// that it added and no later edit removed.
func (ch *change) follow(x archive.Passage) []string {
	added, removed := hunk(x)
	ch.partial = ch.partial || x.Partial
	ch.added, ch.removed = ch.added+len(added), ch.removed+len(removed)
	for _, l := range added {
		if name := declaredName(l); name != "" && !slices.Contains(ch.declared, name) && len(ch.declared) < maxDeclared && !ch.gone[strings.TrimSpace(l)] {
			ch.declared = append(ch.declared, name)
		}
	}
	left := slices.DeleteFunc(slices.Clone(added), func(l string) bool { return ch.gone[strings.TrimSpace(l)] })
	for _, l := range removed {
		ch.gone[strings.TrimSpace(l)] = true
	}
	for _, l := range added {
		delete(ch.gone, strings.TrimSpace(l))
	}
	return left
}

// addHunk adds the lines that an edit added as one piece, without its middle if it is
// long; with a density of zero, as several pieces.
func (c *collector) addHunk(e *entry, added []string, handle string, density float64) {
	if density == 0 {
		c.addCode(e, strings.Join(added, "\n"), handle, func(string) float64 { return 0 })
		return
	}
	var lines []string
	for _, l := range added {
		if l = strings.TrimRight(text.Clean(c.short(l)), " \t\r"); l != "" && !isImport(l) {
			lines = append(lines, "+ "+text.Truncate(l, maxLineUnits))
		}
	}
	if body, rest := split(strings.Join(lines, "\n"), maxHunk); body != "" {
		if rest != "" {
			body += fmt.Sprintf(" (%s more)", text.Count(strings.Count(rest, "\n")+1, "line"))
		}
		c.addPiece(e, body, handle, density, codeFactor)
	}
}

// purpose returns the announcement that preceded an edit, as a clause; "" for none.
func (c *collector) purpose(x archive.Passage) string {
	last := ""
	for _, y := range c.replyAt(x.Turn, x.Step) {
		for line := range strings.SplitSeq(y.Text, "\n") {
			text.Sentences(text.TrimMarkdown(text.CleanLine(line)), func(s string) {
				if a := announced(s); a != "" {
					last = a
				}
			})
		}
	}
	return text.Truncate(c.short(last), maxStatement)
}

// replyAt returns the replies of a step.
func (c *collector) replyAt(turn, step int) []archive.Passage {
	ps := c.past.passages
	from, _ := slices.BinarySearchFunc(ps, place{turn, step}, func(x archive.Passage, p place) int { return cmp.Or(x.Turn-p.turn, x.Step-p.step) })
	var out []archive.Passage
	for _, x := range ps[from:] {
		if x.Turn != turn || x.Step != step {
			break
		}
		if isReply(x) {
			out = append(out, x)
		}
	}
	return out
}

// hunk returns the lines that an edit added and removed.
func hunk(x archive.Passage) (added, removed []string) {
	var olds, news []string
	flush := func() {
		for len(olds) > 0 && len(news) > 0 && olds[0] == news[0] {
			olds, news = olds[1:], news[1:]
		}
		for len(olds) > 0 && len(news) > 0 && olds[len(olds)-1] == news[len(news)-1] {
			olds, news = olds[:len(olds)-1], news[:len(news)-1]
		}
		added, removed = append(added, news...), append(removed, olds...)
		olds, news = nil, nil
	}
	contentLines(x, func(raw string, _ int, old bool) {
		if old && len(news) > 0 {
			flush()
		}
		if old {
			olds = append(olds, raw)
		} else {
			news = append(news, raw)
		}
	})
	flush()
	return added, removed
}

// isImport reports whether a line of code imports something, which says nothing about a
// change.
func isImport(line string) bool {
	line = strings.TrimSpace(line)
	return text.HasAnyPrefix(line, "import ", "from ", "use ", "#include ", "require ") || len(line) > 2 && line[0] == '"' && strings.IndexByte(line[1:], '"') == len(line)-2
}

// declaredName returns the name of the function or type that a line of code declares,
// "" for none.
func declaredName(line string) string {
	line = strings.TrimSpace(line)
	for _, modifier := range []string{"export ", "default ", "public ", "private ", "static ", "async ", "pub "} {
		line = strings.TrimPrefix(line, modifier)
	}
	for _, keyword := range []string{"func ", "type ", "class ", "def ", "interface ", "struct ", "enum ", "fn ", "function "} {
		rest, ok := strings.CutPrefix(line, keyword)
		if !ok {
			continue
		}
		if strings.HasPrefix(rest, "(") { // the receiver of a method
			_, rest, _ = strings.Cut(rest, ")")
		}
		rest = strings.TrimSpace(rest)
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if end > 0 {
			return rest[:end]
		}
		return ""
	}
	return ""
}

// editFailed reports whether a passage is an edit that failed or was refused, so
// that no file holds its text. If several edits of a step changed the file it
// reports true only if all of them failed.
func (v *view) editFailed(x archive.Passage) bool {
	if x.Kind != archive.KindEdit || len(x.Paths) != 1 {
		return false
	}
	from, _ := slices.BinarySearchFunc(v.past.calls, place{x.Turn, x.Step}, func(call archive.Call, p place) int {
		return cmp.Or(call.Turn-p.turn, call.Step-p.step)
	})
	failed := false
	for _, call := range v.past.calls[from:] {
		if call.Turn != x.Turn || call.Step != x.Step {
			break
		}
		if call.Kind == archive.CallEdit && slices.Contains(call.Files, x.Paths[0]) {
			if !call.Failed {
				return false
			}
			failed = true
		}
	}
	return failed
}

// contentLines calls fn with each line of an edit, the replaced text first, or of
// an output, and its number in the passage. It skips line 0, which names the tool
// and its arguments.
func contentLines(x archive.Passage, fn func(raw string, n int, old bool)) {
	old, n := false, 0
	for raw := range strings.SplitSeq(x.Text, "\n") {
		switch {
		case n == 0:
		case x.Kind != archive.KindEdit:
			fn(raw, n, false)
		case raw == "--- old":
			old = true
		case raw == "+++ new":
			old = false
		default:
			fn(raw, n, old)
		}
		n++
	}
}
