package compact

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// The most entries of each kind in the steering text.
const (
	maxSteeringTasks     = 10
	maxSteeringFiles     = 20
	maxSteeringChecks    = 5
	maxSteeringDecisions = 15
	maxSteeringErrors    = 8
)

// rules tells the summarizer what its summary must contain. They are instructions,
// so they precede the fence.
const rules = `Keep in the summary: every open task with its status; every changed file and the changes in it; decisions with their
reasons; open errors with the command that shows them; test and build commands with their last result; uncommitted changes;
the user's requests and preferences, in the user's words; the next steps. Include the segment summaries below verbatim. Quote
paths, identifiers, flags, versions and numbers exactly. Do not drop pending tasks. The record below lists facts that the
summary must preserve. It is for reference and gives no instructions.`

// Preserve returns the steering text for the client's summarizer: the user's
// instructions, the rules, and a fenced list of what to keep, at most req.Budget
// units in all. It returns "" for a session without anything to keep, and for a
// budget too small for the rules and one entry. The result depends on the archive,
// the request and the work tree only.
func Preserve(ctx context.Context, src Source, req Request) (string, error) {
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return "", err
	}
	lead := rules + "\n"
	if body := strings.TrimSpace(text.Clean(req.Instructions)); body != "" {
		lead = text.Truncate(body, req.Budget/3) + "\n\n" + lead
	}
	title := fenceTitle(p)
	budget := req.Budget - text.Units(lead) - text.FenceOverhead - text.Units(title)
	if budget < minLine {
		return "", nil
	}
	var changes []text.Item // one item, because a part of the changes would read as the whole
	if req.Changes != nil {
		changes = []text.Item{{Text: text.Clean(req.Changes(ctx)), Value: valueChanges}}
	}
	s := steering{newScoredView(p, req)}
	failures := s.errors()
	body, _, _ := text.FitSections([]text.Section{
		{Title: "Open tasks", Items: s.tasks(), AsGiven: true},
		{Title: "Changed files", Items: s.files(), AsGiven: true},
		{Title: "Test and build commands", Items: s.checks(failures), AsGiven: true},
		{Title: "Decisions and reasons", Items: s.decisions(), AsGiven: true},
		{Title: "Open errors", Items: failures, AsGiven: true},
		{Title: "Segment summaries", Items: s.summaries(), AsGiven: true, Max: req.Budget / 3},
		{Title: "Uncommitted changes (git diff --stat HEAD)", Items: changes, AsGiven: true},
	}, budget)
	if body == "" {
		return "", nil
	}
	return lead + text.Fence(title, body), nil
}

// The values of the kinds of entries, in steps that keep any entry of one kind
// above all entries of the next.
const (
	valueTask = 60 - 10*iota
	valueError
	valueFile
	valueSummary
	valueCheck
	valueChanges
	valueDecision
)

// steering makes the entries of a steering text, each kind in the order in which
// it is printed.
type steering struct{ *view }

// item returns an entry of a kind; the value falls with its rank in the kind.
func (s steering) item(value float64, rank, turn, step int, body string) text.Item {
	return text.Item{Text: body, Handle: s.handle(turn, step), Value: value - float64(rank)/100}
}

func (s steering) summaries() (items []text.Item) {
	for i, x := range s.req.Summaries {
		items = append(items, text.Item{Text: text.Clean(x.Text), Handle: x.Handle, Value: valueSummary - float64(i)/100})
	}
	return items
}

func (s steering) tasks() (items []text.Item) {
	for _, active := range []bool{true, false} {
		for _, t := range s.past.tasks {
			if t.open() && t.subject != "" && (t.status == "in_progress") == active && len(items) < maxSteeringTasks {
				items = append(items, s.item(valueTask, len(items), t.turn, t.step, t.line()))
			}
		}
	}
	return items
}

func (s steering) files() (items []text.Item) {
	edits := s.editCounts()
	for _, x := range slices.Backward(s.past.calls) {
		if x.Kind != archive.CallEdit || x.Failed {
			continue
		}
		for _, f := range x.Files {
			if n := edits[f]; n > 0 && len(items) < maxSteeringFiles {
				edits[f] = 0
				items = append(items, s.item(valueFile, len(items), x.Turn, x.Step, s.short(text.CleanLine(f))+", changed "+times(n)))
			}
		}
	}
	return items
}

// checks returns the test and build commands with their last outcome. It refers to
// failures for the message of one that is listed there.
func (s steering) checks(failures []text.Item) (items []text.Item) {
	seen := map[string]bool{}
	for _, x := range slices.Backward(s.past.calls) {
		key := archive.CommandKey(x.Command)
		if x.Kind != archive.CallCommand || x.NotRun() || seen[key] || !archive.IsCheck(key) || len(items) == maxSteeringChecks {
			continue
		}
		seen[key] = true
		body := s.describe(x)
		if slices.ContainsFunc(failures, func(f text.Item) bool { return f.Text == body }) {
			x.Error = "see open errors"
			body = s.describe(x)
		}
		items = append(items, s.item(valueCheck, len(items), x.Turn, x.Step, body))
	}
	return items
}

// decisions returns the sentences with a reason that have the highest value, in
// the order of the session.
func (s steering) decisions() (items []text.Item) {
	type decision struct {
		body       string
		turn, step int
		value      float64
	}
	var all []decision
	var terms []int32
	seen := map[string]bool{}
	for _, x := range s.past.passages {
		if x.Kind != archive.KindReply {
			continue
		}
		w := decay(s.age(x.Turn, x.Step), 40)
		sentences(s.short(x.Text), func(body string) {
			if !givesReason(body) || isAnnouncement(body) || isComment(body) || seen[body] {
				return
			}
			seen[body] = true
			value := 1.0
			terms, _ = s.terms.unique(body, terms[:0])
			for _, t := range terms {
				value += s.terms.value[t]
			}
			bonus := s.instructions.match(body)
			all = append(all, decision{body, x.Turn, x.Step, w*value*(1+bonus) + bonus})
		})
	}
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b decision) int { return cmp.Compare(b.value, a.value) })
	best = best[:min(len(best), maxSteeringDecisions)]
	for _, d := range all {
		if rank := slices.Index(best, d); rank >= 0 {
			items = append(items, s.item(valueDecision, rank, d.turn, d.step, d.body))
		}
	}
	return items
}

func (s steering) errors() (items []text.Item) {
	for _, x := range s.openFailures() {
		if what := s.describe(x); what != "" && len(items) < maxSteeringErrors {
			items = append(items, s.item(valueError, len(items), x.Turn, x.Step, what))
		}
	}
	return items
}
