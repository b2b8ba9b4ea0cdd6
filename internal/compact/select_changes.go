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
	maxHunk     = 480 // bytes from which a piece of a recent hunk ends
	recentHunks = 3   // edits whose hunks are quoted whatever the budget
)

// change collects the edits of a file.
type change struct {
	path           string
	edits          []fileEdit // newest first
	added, removed int
	declared       []string
	partial        bool // some of its edits are truncated
}

// fileEdit is an edit of a changed file.
type fileEdit struct {
	passage archive.Passage
	left    []string // lines that it added and no later edit removed
	recent  bool     // one of the newest edits of all files
}

// collectFiles adds an entry for each changed file: the size of its changes, the
// functions in them, what each was for, and the new lines.
func collectFiles(c *collector) {
	counts := c.editCounts()
	for _, ch := range c.changes(counts) {
		head := c.short(text.CleanLine(ch.path)) + ", changed " + times(counts[ch.path])
		if !ch.partial {
			head += fmt.Sprintf(" (+%d -%d)", ch.added, ch.removed)
		}
		if len(ch.declared) > 0 {
			head += " in " + strings.Join(ch.declared, ", ")
		}
		newest := ch.edits[0].passage
		age := c.age(newest.Turn, newest.Step)
		e := c.add(entry{section: secFiles, order: age, handle: c.handle(newest.Turn, newest.Step), prior: 4 * decay(age, 60), source: true, head: head})
		for _, edit := range ch.edits {
			x := edit.passage
			h := c.handle(x.Turn, x.Step)
			if why := c.purpose(x); why != "" {
				c.addPiece(e, why, h, aged(densityReply, c.age(x.Turn, x.Step)), 1)
			}
			switch {
			case edit.recent:
				c.addHunk(e, edit.left, h)
			case c.roomy():
				c.addCode(e, strings.Join(edit.left, "\n"), h, func(string) float64 { return 0 })
			}
		}
	}
}

// changes returns the changed files, the one with the newest edit first. counts are
// those of editCounts.
func (c *collector) changes(counts map[string]int) []*change {
	var order []*change
	byPath, gone, edits := map[string]*change{}, removedLines{}, 0
	for i, x := range slices.Backward(c.past.passages) {
		h := c.hunks[i]
		if h == nil || counts[x.Paths[0]] == 0 {
			continue
		}
		path := x.Paths[0]
		ch := byPath[path]
		if ch == nil {
			ch = &change{path: path}
			byPath[path] = ch
			order = append(order, ch)
		}
		left := gone.follow(path, h)
		for _, l := range left {
			if name := DeclaredName(l); name != "" && !slices.Contains(ch.declared, name) && len(ch.declared) < maxDeclared {
				ch.declared = append(ch.declared, name)
			}
		}
		edits++
		ch.edits = append(ch.edits, fileEdit{x, left, edits <= recentHunks})
		ch.partial = ch.partial || x.Partial
		ch.added, ch.removed = ch.added+len(h.added), ch.removed+len(h.removed)
	}
	return order
}

// roomy reports whether the budget has room for excerpts of code and output.
func (c *collector) roomy() bool { return c.req.Budget >= largeBudget || c.past.sparse(c.req.Budget) }

// addHunk adds the lines that an edit added in pieces. Each counts half of the one before
// it.
func (c *collector) addHunk(e *entry, added []string, handle string) {
	var piece strings.Builder
	d := densityReply
	flush := func() {
		c.addPiece(e, strings.TrimSuffix(piece.String(), "\n"), handle, d, codeFactor)
		piece.Reset()
		d /= 2
	}
	for _, l := range added {
		if l = strings.TrimRight(text.Clean(c.short(l)), " \t\r"); l == "" || isImport(l) {
			continue
		}
		if piece.WriteString("+ " + text.Truncate(l, maxLineUnits) + "\n"); piece.Len() > maxHunk {
			flush()
		}
	}
	if piece.Len() > 0 {
		flush()
	}
}

// purpose returns the announcement that preceded an edit, as a clause; "" for none.
func (c *collector) purpose(x archive.Passage) string {
	last := ""
	for _, y := range c.past.passagesAt(place{x.Turn, x.Step}) {
		if isReply(y) {
			last = cmp.Or(Purpose(y.Text), last)
		}
	}
	return text.Truncate(c.short(last), maxStatement)
}

// Purpose returns the last announcement of a message that precedes an edit, as a clause:
// "cap the wait" for "Now let me cap the wait:". It returns "" for none.
func Purpose(message string) (last string) {
	for line := range strings.SplitSeq(message, "\n") {
		text.Sentences(text.TrimMarkdown(text.CleanLine(line)), func(s string) { last = cmp.Or(announced(s), last) })
	}
	return last
}

// hunk holds the lines that an edit added and removed.
type hunk struct{ added, removed []string }

// findHunks returns the hunks of the passages, nil for any but a successful edit of one
// file.
func (v *view) findHunks() []*hunk {
	all := make([]*hunk, len(v.past.passages))
	for i := range all {
		if x := &v.past.passages[i]; x.Kind == archive.KindEdit && len(x.Paths) == 1 && !v.editFailed(*x) {
			all[i] = parseHunk(x.Text)
		}
	}
	return all
}

// parseHunk parses the passage of an edit. Its first line names the tool and the file.
func parseHunk(body string) *hunk {
	h := &hunk{}
	var olds, news []string
	flush := func() {
		for len(olds) > 0 && len(news) > 0 && olds[0] == news[0] {
			olds, news = olds[1:], news[1:]
		}
		for len(olds) > 0 && len(news) > 0 && olds[len(olds)-1] == news[len(news)-1] {
			olds, news = olds[:len(olds)-1], news[:len(news)-1]
		}
		h.added, h.removed = append(h.added, news...), append(h.removed, olds...)
		olds, news = nil, nil
	}
	old := false
	_, body, more := strings.Cut(body, "\n")
	for raw := range strings.SplitSeq(body, "\n") {
		switch {
		case !more:
		case raw == "--- old":
			old = true
		case raw == "+++ new":
			old = false
		case old:
			if len(news) > 0 {
				flush()
			}
			olds = append(olds, raw)
		default:
			news = append(news, raw)
		}
	}
	flush()
	return h
}

// removedLines holds, by file, the lines that edits removed. Edits are followed from the
// newest back, because earlier edits and readings of a file show the lines.
type removedLines map[string]map[string]bool

func (r removedLines) has(path, line string) bool { return r[path][strings.TrimSpace(line)] }

// follow takes an edit that precedes those taken before, and returns the lines that it
// added and no later edit removed.
func (r removedLines) follow(path string, h *hunk) []string {
	left := slices.DeleteFunc(slices.Clone(h.added), func(l string) bool { return r.has(path, l) })
	if r[path] == nil {
		r[path] = map[string]bool{}
	}
	for _, l := range h.removed {
		r[path][strings.TrimSpace(l)] = true
	}
	for _, l := range h.added {
		delete(r[path], strings.TrimSpace(l))
	}
	return left
}

// isImport reports whether a line of code imports something, which says nothing about a
// change.
func isImport(line string) bool {
	line = strings.TrimSpace(line)
	return text.HasAnyPrefix(line, "import ", "from ", "use ", "#include ", "require ") || len(line) > 2 && line[0] == '"' && strings.IndexByte(line[1:], '"') == len(line)-2
}

// DeclaredName returns the name of the function or type that a line of code declares,
// "" for none.
func DeclaredName(line string) string {
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
	failed := false
	for _, call := range v.past.callsAt(place{x.Turn, x.Step}) {
		if call.Kind == archive.CallEdit && slices.Contains(call.Files, x.Paths[0]) {
			if !call.Failed {
				return false
			}
			failed = true
		}
	}
	return failed
}
