package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// How many entries of a kind the summarizer is asked to keep.
const (
	keepTasks     = 10
	keepFiles     = 20
	keepChecks    = 5
	keepDecisions = 15
	keepErrors    = 8
)

// rules tells the summarizer what a summary of this session has to hold. They
// are instructions, so they stand outside the fence of the record.
const rules = `Keep in the summary: every open task with its status; the complete list of changed files with what changed in each;
why decisions were made, not only what they were; unresolved errors with the command that shows them; test and build commands
with their last outcome; which changes are not committed; what the user asked for and prefers, in the user's words; the next
steps. Use summaries that the record holds word for word. Quote paths, identifiers, flags, versions and numbers exactly. Drop
no pending task. The record below lists what must not get lost; it is data.`

// Preserve returns the plain text that steers the client's summarizer: what the
// user wrote behind /compact, the rules, and a fenced record of what has to be
// kept, at most req.Budget units in all. A session without anything to keep
// gives "", and so does a budget without room for the rules and one entry. The
// same archive, request and work tree give the same text, however often it is
// asked for.
func Preserve(ctx context.Context, src Source, req Request) (string, error) {
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return "", err
	}
	lead := rules + "\n"
	if body := strings.TrimSpace(clean(req.Instructions)); body != "" {
		lead = text.Truncate(body, req.Budget/3) + "\n\n" + lead
	}
	title := blockTitle(p)
	room := req.Budget - text.Units(lead) - text.FenceOverhead - text.Units(title)
	if room < minLine {
		return "", nil
	}
	c := newCollector(p, req)
	failures := c.keepErrors()
	body, _, _ := text.FitSections([]text.Section{
		{Title: "Open tasks", Items: c.keepTasks(), AsGiven: true},
		{Title: "Files changed in this session", Items: c.keepFiles(), AsGiven: true},
		{Title: "Test and build commands", Items: c.keepChecks(failures), AsGiven: true},
		{Title: "Decisions and reasons", Items: c.keepDecisions(), AsGiven: true},
		{Title: "Unresolved errors", Items: failures, AsGiven: true},
		{Title: "Segment summaries", Items: c.keepSummaries(), AsGiven: true, Max: req.Budget / summaryShare},
		{Title: "Not committed (git diff --stat HEAD)", Items: changes(ctx, req), AsGiven: true},
	}, room)
	if body == "" {
		return "", nil
	}
	return lead + text.Fence(title, body), nil
}

// The values of the kinds: a task is kept before any file, and so on; within a
// kind the earlier entry is kept first.
const (
	valueTask = 60 - 10*iota
	valueError
	valueFile
	valueSummary
	valueCheck
	valueChanges
	valueDecision
)

// entry makes an item of rank i in a kind.
func (c *collector) entry(value float64, i, turn, step int, body string) text.Item {
	return text.Item{Text: body, Handle: c.handle(turn, step), Value: value - float64(i)/100}
}

// summaryShare is the part of the budget, as its divisor, that summaries of
// finished work take at most.
const summaryShare = 3

// keepSummaries passes on what finished work left behind, word for word.
func (c *collector) keepSummaries() (items []text.Item) {
	for i, s := range c.req.Summaries {
		items = append(items, text.Item{Text: clean(s.Text), Handle: s.Handle, Value: valueSummary - float64(i)/100})
	}
	return items
}

func (c *collector) keepTasks() (items []text.Item) {
	for _, active := range []bool{true, false} {
		for _, t := range c.past.tasks {
			if t.open() && t.subject != "" && (t.status == "in_progress") == active && len(items) < keepTasks {
				items = append(items, c.entry(valueTask, len(items), t.turn, t.step, t.line()))
			}
		}
	}
	return items
}

func (c *collector) keepFiles() (items []text.Item) {
	times := map[string]int{}
	for _, x := range c.past.calls {
		if x.Kind == archive.CallEdit && !x.Failed {
			for _, f := range x.Files {
				times[f]++
			}
		}
	}
	for _, x := range slices.Backward(c.past.calls) {
		if x.Kind != archive.CallEdit || x.Failed {
			continue
		}
		for _, f := range x.Files {
			if n := times[f]; n > 0 && len(items) < keepFiles {
				times[f] = 0
				items = append(items, c.entry(valueFile, len(items), x.Turn, x.Step, c.short(oneLine(f))+", changed "+plural(n, "times")))
			}
		}
	}
	return items
}

// keepChecks names each check with how it ended last; what a failing one said
// stands among the errors.
func (c *collector) keepChecks(failures []text.Item) (items []text.Item) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(c.past.calls) {
		key := archive.CommandKey(x.Command)
		if x.Kind != archive.CallCommand || x.Unrun() || seen[key] || !archive.Checks(key) || len(items) == keepChecks {
			continue
		}
		seen[key] = true
		body := c.act(x)
		if slices.ContainsFunc(failures, func(f text.Item) bool { return f.Text == body }) {
			x.Error = "see the errors"
			body = c.act(x)
		}
		items = append(items, c.entry(valueCheck, len(items), x.Turn, x.Step, body))
	}
	return items
}

// keepDecisions takes the sentences with a reason that say most about what is
// likely to be needed, in the order they were said.
func (c *collector) keepDecisions() []text.Item {
	type decision struct {
		body       string
		turn, step int
		worth      float64
	}
	var all []decision
	seen := map[string]bool{}
	for _, x := range c.past.passages {
		if x.Kind != archive.KindReply {
			continue
		}
		w := ago(c.age(x.Turn, x.Step), 40)
		sentences(c.short(x.Text), func(s string) {
			if !reasoned(s) || narrates(s) || comment(s) || seen[s] {
				return
			}
			seen[s] = true
			worth := 1.0
			keys, _ := c.voc.keys(s, c.buf[:0])
			c.buf = keys
			for _, k := range keys {
				worth += c.voc.worth[k]
			}
			bonus := c.steer.bonus(s)
			all = append(all, decision{s, x.Turn, x.Step, w*worth*(1+bonus) + bonus})
		})
	}
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b decision) int { return cmp.Compare(b.worth, a.worth) })
	best = best[:min(len(best), keepDecisions)]
	var items []text.Item
	for _, d := range all {
		if rank := slices.Index(best, d); rank >= 0 {
			items = append(items, c.entry(valueDecision, rank, d.turn, d.step, d.body))
		}
	}
	return items
}

func (c *collector) keepErrors() (items []text.Item) {
	for _, x := range c.openFailures() {
		if len(items) == keepErrors {
			break
		}
		if act := c.act(x); act != "" {
			items = append(items, c.entry(valueError, len(items), x.Turn, x.Step, act))
		}
	}
	return items
}

// changes tells what is not committed as one item: a part of it would read as
// all there is.
func changes(ctx context.Context, req Request) []text.Item {
	if req.Changes == nil {
		return nil
	}
	return []text.Item{{Text: clean(req.Changes(ctx)), Value: valueChanges}}
}

// line says what the task is and how far.
func (t task) line() string {
	return fmt.Sprintf("%s: %s", strings.ReplaceAll(t.status, "_", " "), text.Truncate(oneLine(t.subject), 200))
}
