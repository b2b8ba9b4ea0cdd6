package task

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Summary is what a stretch leaves behind, found without a model. The names are
// those of the files that older tools read.
type Summary struct {
	SessionID      string    `json:"session_id"`
	TaskID         string    `json:"task_id"`
	Subject        string    `json:"subject"`
	StartTurn      int       `json:"start_turn"`
	EndTurn        int       `json:"end_turn"`
	CompressedAt   time.Time `json:"compressed_at"`
	FilesModified  []string  `json:"files_modified"`
	CommandsRun    []string  `json:"commands_run"`
	KeyOutcomes    []string  `json:"key_outcomes"`
	ErrorsResolved []string  `json:"errors_resolved"` // "error => what cured it"
	// Details are names that the changes brought in, as "file: line".
	Details []string `json:"details,omitempty"`
}

// How many entries of a kind a summary has at most.
const (
	maxFiles    = 15
	maxCommands = 8
	maxOutcomes = 8
	maxErrors   = 5
	maxDetails  = 12
)

// Extract summarises a stretch from what was done and said in it. The summary is
// at most an eighth of the stretch, as far as that leaves room for a few lines.
func (p *History) Extract(t Task, now time.Time) Summary {
	s := Summary{
		SessionID: t.Session, TaskID: t.ID, Subject: t.Subject, StartTurn: t.First.Turn, EndTurn: t.Last.Turn, CompressedAt: now.UTC(),
		FilesModified: []string{}, CommandsRun: []string{}, KeyOutcomes: []string{}, ErrorsResolved: []string{},
	}
	x := extraction{
		past: p, calls: ofSteps(p, p.Calls, callPlace, t.Start, t.End),
		passages: ofSteps(p, p.Passages, passagePlace, t.Start, t.End), cwd: p.Session.Cwd,
	}
	room := budget(p.Tokens(t.Start, t.End))
	take := func(into *[]string, texts []string, limit int) {
		for _, body := range texts {
			if n := text.Units(body) + 3; len(*into) < limit && n <= room {
				*into = append(*into, body)
				room -= n
			}
		}
	}
	outcomes := x.outcomes()
	take(&s.KeyOutcomes, first(outcomes, 2), maxOutcomes)
	take(&s.FilesModified, x.files(), maxFiles)
	take(&s.ErrorsResolved, x.errors(), maxErrors)
	take(&s.CommandsRun, x.commands(), maxCommands)
	take(&s.KeyOutcomes, outcomes[min(2, len(outcomes)):], maxOutcomes)
	take(&s.Details, x.details(), maxDetails)
	return s
}

func first(texts []string, n int) []string { return texts[:min(n, len(texts))] }

// budget is how many UTF-16 units a summary of so many tokens takes: an eighth,
// between a few lines and a page.
func budget(tokens int) int { return min(max(tokens*unitsPerToken/8, 320), 3200) }

// unitsPerToken estimates the tokens of text that no response has counted.
const unitsPerToken = 4

// Tokens is what the steps [from, to) added to the context: the growth from one
// response to the next as the API counted them. What a compaction took away
// within counts as nothing.
func (p *History) Tokens(from, to int) int {
	var sum int64
	for i := from; i < min(to, len(p.Steps)); i++ {
		s := p.Steps[i]
		next := s.Usage.Context() + s.Usage.Output
		if i+1 < len(p.Steps) {
			next = p.Steps[i+1].Usage.Context()
		}
		if d := next - s.Usage.Context(); d > 0 && !s.Usage.IsZero() {
			sum += d
		}
	}
	if sum > 0 {
		return int(sum)
	}
	// A copied step counts no usage.
	units := 0
	for _, x := range ofSteps(p, p.Passages, passagePlace, from, to) {
		units += text.Units(x.Text)
	}
	return units / unitsPerToken
}

// extraction is the rows of one stretch.
type extraction struct {
	past     *History
	calls    []archive.Call
	passages []archive.Passage
	cwd      string
}

// short cuts the session's folder off a text.
func (x *extraction) short(text string) string {
	if x.cwd == "" || x.cwd == "/" {
		return text
	}
	return strings.ReplaceAll(text, x.cwd+"/", "")
}

// files lists what was changed, most often changed first.
func (x *extraction) files() []string {
	times := map[string]int{}
	var order []string
	for _, c := range x.calls {
		if c.Kind != archive.CallEdit || c.Failed {
			continue
		}
		for _, f := range c.Files {
			if times[f]++; times[f] == 1 {
				order = append(order, f)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(times[b], times[a]) })
	for i, f := range order {
		order[i] = x.short(text.OneLine(f))
	}
	return order
}

// commands lists what was run with its last outcome, tests and builds first.
func (x *extraction) commands() []string {
	type entry struct {
		text  string
		check bool
	}
	var out []entry
	seen := map[string]bool{}
	for _, c := range slices.Backward(x.calls) {
		key := archive.CommandKey(c.Command)
		if c.Kind != archive.CallCommand || key == "" || seen[key] || housekeeping(key) {
			continue
		}
		seen[key] = true
		out = append(out, entry{text.Truncate(x.short(text.OneLine(key)), 120) + ending(c), archive.IsCheck(key)})
	}
	slices.Reverse(out)
	slices.SortStableFunc(out, func(a, b entry) int {
		switch {
		case a.check == b.check:
			return 0
		case a.check:
			return -1
		}
		return 1
	})
	texts := make([]string, len(out))
	for i, e := range out {
		texts[i] = e.text
	}
	return texts
}

func ending(c archive.Call) string {
	switch {
	case c.LineResult < 0:
		return " (no result)"
	case c.Failed && c.Exit != nil:
		return fmt.Sprintf(" (exit %d)", *c.Exit)
	case c.Failed:
		return " (failed)"
	}
	return " (ok)"
}

// errors lists failures that were followed by a success of the same command or
// on the same file, with what was done in between.
func (x *extraction) errors() []string {
	var out []string
	open := map[string]archive.Call{}
	for i, c := range x.calls {
		key := archive.Subject(c)
		if key == "" || c.LineResult < 0 {
			continue
		}
		if c.Failed {
			if c.Error != "" && !formality(c.Error) {
				open[key] = c
			}
			continue
		}
		bad, failed := open[key]
		if !failed {
			continue
		}
		delete(open, key)
		out = append(out, text.Truncate(x.short(text.OneLine(bad.Error)), 160)+" => "+x.cure(bad, c, x.calls[:i]))
	}
	return out
}

// cure says what lay between a failure and the success after it: the model's own
// words of the reason, else the files changed.
func (x *extraction) cure(bad, good archive.Call, calls []archive.Call) string {
	for _, p := range x.passages {
		if p.Kind != archive.KindReply || p.LineFrom <= bad.LineUse || p.LineFrom > good.LineUse {
			continue
		}
		for _, s := range sentences(x.short(p.Text)) {
			if signal(s) > 0 && !announces(s) {
				return text.Truncate(s, 200)
			}
		}
	}
	var changed []string
	for _, c := range calls {
		if c.Kind == archive.CallEdit && !c.Failed && c.LineUse > bad.LineUse && len(c.Files) > 0 && !slices.Contains(changed, c.Files[0]) {
			changed = append(changed, c.Files[0])
		}
	}
	if len(changed) > 0 {
		return "changed " + x.short(text.OneLine(strings.Join(first(changed, 3), ", ")))
	}
	return "ran it again, " + strings.Trim(ending(good), " ()")
}

// outcomes are the sentences that say what came out, best first.
func (x *extraction) outcomes() []string {
	type candidate struct {
		text  string
		worth float64
	}
	var all []candidate
	seen := map[string]bool{}
	replies := slices.DeleteFunc(slices.Clone(x.passages), func(p archive.Passage) bool {
		return p.Kind != archive.KindReply || p.Label != ""
	})
	for i, p := range replies {
		for n, s := range sentences(x.short(p.Text)) {
			if seen[s] || announces(s) || len(s) < 30 {
				continue
			}
			seen[s] = true
			worth := signal(s)
			if i == len(replies)-1 {
				worth += 1 // conclusions come last
				if n == 0 {
					worth += 0.5
				}
			}
			if strings.ContainsAny(s, "`/") {
				worth += 0.4
			}
			if worth > 0.3 {
				all = append(all, candidate{text.Truncate(s, 240), worth})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.worth, a.worth) })
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = c.text
	}
	return out
}

// details are lines that changes brought in, by file: those that introduce a name
// first, then one more of each change.
func (x *extraction) details() []string {
	var named, other []string
	seen := map[string]bool{}
	for _, p := range x.passages {
		if p.Kind != archive.KindEdit || len(p.Paths) == 0 {
			continue
		}
		name := path.Base(strings.ReplaceAll(p.Paths[0], `\`, "/")) + ": "
		plain := false
		for _, line := range newLines(p.Text) {
			if seen[line] {
				continue
			}
			seen[line] = true
			switch {
			case declares(line):
				named = append(named, name+text.Truncate(strings.TrimRight(line, " {:"), 140))
			case !plain && len(line) > 24:
				plain = true
				other = append(other, name+text.Truncate(line, 140))
			}
		}
	}
	return append(named, other...)
}

// newLines are the lines of a change's new text that the old one does not have.
func newLines(edit string) (out []string) {
	_, edit, _ = strings.Cut(edit, "\n") // the tool and the file
	for block := range strings.SplitSeq("\n"+edit, "\n--- old\n") {
		old, added, replaced := strings.Cut(block, "\n+++ new\n")
		if !replaced {
			old, added = "", block
		}
		had := map[string]bool{}
		for line := range strings.SplitSeq(old, "\n") {
			had[text.OneLine(line)] = true
		}
		for line := range strings.SplitSeq(added, "\n") {
			if line = text.OneLine(line); line != "" && !had[line] {
				out = append(out, line)
			}
		}
	}
	return out
}

// Text is the summary as it enters a context: a title and its lists.
func (s Summary) Text() string {
	var b strings.Builder
	b.WriteString(s.Subject)
	if s.StartTurn == s.EndTurn {
		fmt.Fprintf(&b, " (turn %d)", s.StartTurn)
	} else {
		fmt.Fprintf(&b, " (turns %d to %d)", s.StartTurn, s.EndTurn)
	}
	list := func(title string, entries []string, sep string) {
		if len(entries) > 0 {
			b.WriteString("\n" + title + ": " + strings.Join(entries, sep))
		}
	}
	list("Outcomes", s.KeyOutcomes, " | ")
	list("Files changed", s.FilesModified, ", ")
	list("Errors cured", s.ErrorsResolved, " | ")
	list("Details", s.Details, " | ")
	list("Commands", s.CommandsRun, "; ")
	return b.String()
}
