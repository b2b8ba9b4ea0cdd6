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

// Summary is the summary of a segment, extracted without a model. The JSON names are
// those of older tools' files.
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
	ErrorsResolved []string  `json:"errors_resolved"` // "error => fix"
	// Details are new declarations in the changes, as "file: line".
	Details []string `json:"details,omitempty"`
}

// The largest number of entries of each kind in a summary.
const (
	maxFiles    = 15
	maxCommands = 8
	maxOutcomes = 8
	maxErrors   = 5
	maxDetails  = 12
)

// Extract summarises a segment from its calls and passages. The summary has at most an
// eighth of the segment's size, but at least minSummaryUnits.
func (h *History) Extract(t Task, now time.Time) Summary {
	s := Summary{
		SessionID: t.Session, TaskID: t.ID, Subject: t.Subject, StartTurn: t.First.Turn, EndTurn: t.Last.Turn, CompressedAt: now.UTC(),
		FilesModified: []string{}, CommandsRun: []string{}, KeyOutcomes: []string{}, ErrorsResolved: []string{},
	}
	x := extraction{calls: h.callsIn(t.Start, t.End), passages: h.passagesIn(t.Start, t.End), cwd: h.Session.Cwd}
	left := min(max(h.Tokens(t.Start, t.End)*unitsPerToken/8, minSummaryUnits), maxSummaryUnits)
	add := func(to *[]string, entries []string, limit int) {
		for _, e := range entries {
			if n := text.Units(e) + 3; len(*to) < limit && n <= left {
				*to = append(*to, e)
				left -= n
			}
		}
	}
	outcomes := x.outcomes()
	best := first(outcomes, 2)
	add(&s.KeyOutcomes, best, maxOutcomes)
	add(&s.FilesModified, x.files(), maxFiles)
	add(&s.ErrorsResolved, x.errors(), maxErrors)
	add(&s.CommandsRun, x.commands(), maxCommands)
	add(&s.KeyOutcomes, outcomes[len(best):], maxOutcomes)
	add(&s.Details, x.details(), maxDetails)
	return s
}

func first(texts []string, n int) []string { return texts[:min(n, len(texts))] }

// Sizes in UTF-16 units.
const (
	minSummaryUnits = 320
	maxSummaryUnits = 3200
	unitsPerToken   = 4 // an estimate
)

// Tokens returns the tokens that the steps [from, to) added to the context: the growth
// between responses as counted by the API, or an estimate if it counted nothing.
func (h *History) Tokens(from, to int) int {
	var sum int64
	for i := from; i < min(to, len(h.Steps)); i++ {
		s := h.Steps[i]
		next := s.Usage.Context() + s.Usage.Output
		if i+1 < len(h.Steps) {
			next = h.Steps[i+1].Usage.Context()
		}
		if d := next - s.Usage.Context(); d > 0 && !s.Usage.IsZero() { // negative at a compaction
			sum += d
		}
	}
	if sum > 0 {
		return int(sum)
	}
	units := 0
	for _, x := range h.passagesIn(from, to) {
		units += text.Units(x.Text)
	}
	return units / unitsPerToken
}

// extraction holds the rows of one segment.
type extraction struct {
	calls    []archive.Call
	passages []archive.Passage
	cwd      string
}

// relative removes the session's folder from the paths in a text.
func (x *extraction) relative(text string) string {
	if x.cwd == "" || x.cwd == "/" {
		return text
	}
	return strings.ReplaceAll(text, x.cwd+"/", "")
}

// clip returns at most n units of a text on one line, with relative paths.
func (x *extraction) clip(s string, n int) string {
	return text.Truncate(x.relative(text.OneLine(s)), n)
}

// files returns the changed files, those with the most changes first.
func (x *extraction) files() []string {
	changes := map[string]int{}
	var files []string
	for _, c := range x.calls {
		if c.Kind != archive.CallEdit || c.Failed {
			continue
		}
		for _, f := range c.Files {
			if changes[f]++; changes[f] == 1 {
				files = append(files, f)
			}
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(changes[b], changes[a]) })
	return archive.Convert(files, func(f string) string { return x.relative(text.OneLine(f)) })
}

// commands returns the commands with their last outcome, tests and builds first.
func (x *extraction) commands() []string {
	var checks, others []string
	seen := map[string]bool{}
	for _, c := range slices.Backward(x.calls) {
		key := archive.CommandKey(c.Command)
		if c.Kind != archive.CallCommand || key == "" || seen[key] || isHousekeeping(key) {
			continue
		}
		seen[key] = true
		list := &others
		if archive.IsCheck(key) {
			list = &checks
		}
		*list = slices.Insert(*list, 0, x.clip(key, 120)+outcome(c))
	}
	return append(checks, others...)
}

// outcome describes how a call ended.
func outcome(c archive.Call) string {
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

// errors returns the failures after which the same command, or a call on the same file,
// succeeded, each with its fix.
func (x *extraction) errors() (out []string) {
	failed := map[string]archive.Call{}
	for i, c := range x.calls {
		key := archive.Subject(c)
		if key == "" || c.LineResult < 0 {
			continue
		}
		if c.Failed {
			if c.Error != "" && !isToolMisuse(c.Error) {
				failed[key] = c
			}
			continue
		}
		if bad, ok := failed[key]; ok {
			delete(failed, key)
			out = append(out, x.clip(bad.Error, 160)+" => "+x.fix(bad, c, x.calls[:i]))
		}
	}
	return out
}

// fix describes what happened between a failure and the next success: the reason in the
// model's words, or else the changed files. calls are those before the success.
func (x *extraction) fix(bad, good archive.Call, calls []archive.Call) string {
	for _, p := range x.passages {
		if p.Kind != archive.KindReply || p.LineFrom <= bad.LineUse || p.LineFrom > good.LineUse {
			continue
		}
		for _, s := range sentences(x.relative(p.Text)) {
			if outcomeScore(s) > 0 && !isAnnouncement(s) {
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
		return "changed " + x.relative(text.OneLine(strings.Join(first(changed, 3), ", ")))
	}
	return "ran it again, " + strings.Trim(outcome(good), " ()")
}

// outcomes returns the sentences that state a result or a reason, best first.
func (x *extraction) outcomes() []string {
	score := map[string]float64{}
	var out []string
	seen := map[string]bool{}
	replies := archive.Select(x.passages, func(p archive.Passage) bool { return p.Kind == archive.KindReply && p.Label == "" })
	for i, p := range replies {
		for n, s := range sentences(x.relative(p.Text)) {
			if seen[s] || isAnnouncement(s) || len(s) < 30 {
				continue
			}
			seen[s] = true
			value := outcomeScore(s)
			if i == len(replies)-1 { // conclusions come last
				value += 1
				if n == 0 {
					value += 0.5
				}
			}
			if strings.ContainsAny(s, "`/") {
				value += 0.4
			}
			if value > 0.3 {
				score[s] = value
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return archive.Convert(out, func(s string) string { return text.Truncate(s, 240) })
}

// details returns added lines of the changes with their file: declarations first, then
// one other line of each change.
func (x *extraction) details() []string {
	var declarations, others []string
	seen := map[string]bool{}
	for _, p := range x.passages {
		if p.Kind != archive.KindEdit || len(p.Paths) == 0 {
			continue
		}
		prefix := fileName(p.Paths[0]) + ": "
		hasOther := false
		for _, line := range addedLines(p.Text) {
			if seen[line] {
				continue
			}
			seen[line] = true
			switch {
			case isDeclaration(line):
				declarations = append(declarations, prefix+text.Truncate(strings.TrimRight(line, " {:"), 140))
			case !hasOther && len(line) > 24:
				hasOther = true
				others = append(others, prefix+text.Truncate(line, 140))
			}
		}
	}
	return append(declarations, others...)
}

// fileName returns the last element of a path of any system.
func fileName(name string) string { return path.Base(strings.ReplaceAll(name, `\`, "/")) }

// addedLines returns the lines of a change's new text that the old text lacks.
func addedLines(body string) (out []string) {
	_, body, _ = strings.Cut(body, "\n") // the tool and the file
	for block := range strings.SplitSeq("\n"+body, "\n--- old\n") {
		before, after, replaced := strings.Cut(block, "\n+++ new\n")
		if !replaced {
			before, after = "", block
		}
		old := map[string]bool{}
		for line := range strings.SplitSeq(before, "\n") {
			old[text.OneLine(line)] = true
		}
		for line := range strings.SplitSeq(after, "\n") {
			if line = text.OneLine(line); line != "" && !old[line] {
				out = append(out, line)
			}
		}
	}
	return out
}

// Text returns the summary as it is put into a context.
func (s Summary) Text() string {
	var b strings.Builder
	turns := fmt.Sprintf("turn %d", s.StartTurn)
	if s.StartTurn != s.EndTurn {
		turns = fmt.Sprintf("turns %d to %d", s.StartTurn, s.EndTurn)
	}
	b.WriteString(s.Subject + " (" + turns + ")")
	for _, list := range []struct {
		title     string
		entries   []string
		separator string
	}{
		{"Outcomes", s.KeyOutcomes, " | "}, {"Files changed", s.FilesModified, ", "}, {"Errors cured", s.ErrorsResolved, " | "},
		{"Details", s.Details, " | "}, {"Commands", s.CommandsRun, "; "},
	} {
		if len(list.entries) > 0 {
			b.WriteString("\n" + list.title + ": " + strings.Join(list.entries, list.separator))
		}
	}
	return b.String()
}
