package compact

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// The bounds of the loaded window. Nine in ten terms that a session needs after a
// compaction were last seen within the 255 messages before it, so a window of the
// newest rows serves sessions of any size at the same cost.
const (
	minWindow    = 256 // passages, and calls
	maxWindow    = 6000
	perPassage   = 30 // budget units that justify one more passage
	maxPrompts   = 60
	maxEvents    = 600
	maxTurns     = 2000
	maxReplies   = 1500
	earlyResults = 24 // of tools, among which a plan is looked for
)

// sidechainLabel marks passages of a sub-agent whose rows are in its parent's
// transcript, as old clients wrote them.
const sidechainLabel = "sidechain"

// past is the loaded part of a session, oldest first.
type past struct {
	session    archive.Session
	root       string            // its folder with a trailing slash; "" for none
	passages   []archive.Passage // without prompts and summaries
	expansions map[int]string    // of slash commands, by turn
	prompts    []archive.Passage // of live turns: the first ones and the newest
	calls      []archive.Call
	tasks      []task
	plan       *archive.Passage // the first document among the early results that plans the work
	end        time.Time        // of the last passage
	terms      *termIndex       // of the passages; nil once the passages have changed
	// parent is the session that a fork copied its first turns from. They have numbers
	// below zero here: their number in the parent minus shift.
	parent string
	shift  int
	// summary is the client's newest summary if it is in the context when the text
	// is read: terms that it names need not be restored.
	summary string
	// oldSummary is the client's newest summary if steps followed it, so that it
	// was removed from the context as well.
	oldSummary []archive.Passage
	newest     []archive.Passage      // the client's newest summary in the transcript
	notes      []archive.Note         // of the user for this project, newest first
	snapshots  []archive.JournalEntry // oldest first
}

// load reads a bounded window of the session, without rows at or after atLine.
func load(ctx context.Context, src Source, session string, atLine, budget int) (*past, error) {
	s, err := src.Session(ctx, session)
	if err != nil {
		return nil, err
	}
	p := &past{session: s}
	if len(s.Cwd) > 3 {
		p.root = s.Cwd + "/"
	}
	newest := archive.Span{Session: session, BeforeLine: atLine, Newest: true}
	read := rowReader{ctx: ctx, src: src, atLine: atLine}
	window := min(max(budget/perPassage, minWindow), maxWindow)
	p.passages = merge(read.passages(newest, maxReplies, archive.KindReply), read.passages(newest, window, workKinds...))
	terms := make(chan *termIndex, 1)
	if texts := textsOf(p.passages); budget < largeBudget { // larger budgets complete the passages first
		go func() { terms <- indexTerms(texts) }() // while the store reads further rows
	} else {
		close(terms)
	}
	p.prompts = read.passages(newest, maxPrompts, archive.KindPrompt)
	if len(p.prompts) == maxPrompts && p.prompts[0].Turn > 0 {
		first := read.passages(archive.Span{Session: session, BeforeLine: atLine, TurnTo: p.prompts[0].Turn}, 8, archive.KindPrompt)
		p.prompts = append(first, p.prompts...)
	}
	p.calls = read.calls(newest, window)
	events := read.tasks(newest)
	dead := read.deadTurns(session, math.MaxInt32, p.passages, p.prompts)
	side := read.sidechainSteps(newest, window, p.passages)
	summary, boundary := read.summary(newest)
	early := read.passages(archive.Span{Session: session, BeforeLine: atLine}, earlyResults, archive.KindOutput)
	hooks := query(&read, src.HookSummaries, session)
	p.notes = read.notes(s.Project.Key)
	p.snapshots = query(&read, func(ctx context.Context, id string) ([]archive.JournalEntry, error) {
		return src.Facts(ctx, id, archive.JournalSnapshot)
	}, session)
	if p.terms = <-terms; read.err != nil {
		return nil, read.err
	}
	p.passages = slices.DeleteFunc(p.passages, func(x archive.Passage) bool { return dead[x.Turn] || x.Label == sidechainLabel })
	p.prompts = slices.DeleteFunc(p.prompts, func(x archive.Passage) bool { return dead[x.Turn] })
	p.calls = slices.DeleteFunc(p.calls, func(x archive.Call) bool { return dead[x.Turn] || side[place{x.Turn, x.Step}] })
	events = slices.DeleteFunc(events, func(x archive.TaskEvent) bool { return dead[x.Turn] })
	if err := p.addForkParent(ctx, src, atLine, window); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(early, func(x archive.Passage) bool { return isPlan(x) && !dead[x.Turn] }); i >= 0 {
		p.plan = &early[i]
	}
	p.tasks = foldTasks(events)
	p.judgeChecks()
	for _, ps := range [][]archive.Passage{p.prompts, p.passages} {
		if n := len(ps); n > 0 && ps[n-1].Time.After(p.end) {
			p.end = ps[n-1].Time
		}
	}
	p.setSummary(summary, boundary, hooks, atLine)
	return p, nil
}

// judgeChecks marks checks as failed whose output says so although their exit status,
// that of the last command of a pipe, is zero.
func (p *past) judgeChecks() {
	for i := range p.calls {
		x := &p.calls[i]
		if x.Kind != archive.CallCommand || x.Failed || x.LineResult < 0 || !archive.IsCheck(archive.CommandKey(x.Command)) {
			continue
		}
		for _, o := range p.passagesAt(place{x.Turn, x.Step}) {
			if isOutputOf(o, *x) {
				x.Error = failureIn(o.Text)
				x.Failed = x.Error != ""
			}
		}
	}
}

// passagesAt returns the passages of a step.
func (p *past) passagesAt(at place) []archive.Passage {
	return rowsAt(p.passages, at, func(x *archive.Passage) place { return place{x.Turn, x.Step} })
}

// callsAt returns the calls of a step.
func (p *past) callsAt(at place) []archive.Call {
	return rowsAt(p.calls, at, func(x *archive.Call) place { return place{x.Turn, x.Step} })
}

// rowsAt returns the rows of a step among rows that are ordered by step.
func rowsAt[T any](rows []T, at place, of func(*T) place) []T {
	from := sort.Search(len(rows), func(i int) bool { return of(&rows[i]).compare(at) >= 0 })
	to := from
	for to < len(rows) && of(&rows[to]) == at {
		to++
	}
	return rows[from:to]
}

// isOutputOf reports whether a passage is that of a command. Parallel commands are in
// one step.
func isOutputOf(o archive.Passage, x archive.Call) bool {
	command, _, _ := strings.Cut(x.Command, "\n")
	return o.Kind == archive.KindCommand && strings.HasPrefix(o.Text, "$ "+command[:min(len(command), 80)])
}

// failureIn returns the first line of a check's output that reports a failure.
func failureIn(output string) string {
	for line := range strings.SplitSeq(output, "\n") {
		line = strings.TrimSpace(line)
		if text.HasAnyPrefix(line, "--- FAIL", "FAIL ", "FAIL\t", "FAILED ", "✗ ", "✕ ", "ERROR ", "error: ", "error[", "npm ERR!", "panic: ") {
			return line
		}
	}
	return ""
}

// short makes paths in the session's folder relative.
func (p *past) short(s string) string {
	if p.root == "" {
		return s
	}
	return strings.ReplaceAll(s, p.root, "")
}

// takeTerms returns the term index of the passages as they are now. An index
// built ahead is used once, and only if no passage was removed or changed since.
func (p *past) takeTerms() *termIndex {
	x := p.terms
	p.terms = nil
	if x == nil || len(x.ends) != len(p.passages) {
		return indexTerms(textsOf(p.passages))
	}
	return x
}

// contentKinds are the kinds of passages between prompts: replies, calls and their
// results.
var (
	workKinds    = []archive.PassageKind{archive.KindCommand, archive.KindEdit, archive.KindOutput}
	contentKinds = []archive.PassageKind{archive.KindReply, archive.KindCommand, archive.KindEdit, archive.KindOutput}
)

// merge returns the passages of both lists in order.
func merge(a, b []archive.Passage) []archive.Passage {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, comparePassages)
	return all
}

func comparePassages(a, b archive.Passage) int {
	return cmp.Or(a.Turn-b.Turn, a.Step-b.Step, a.Seq-b.Seq)
}

// setSummary sets p.summary or p.oldSummary from the newest summary in the
// transcript, or p.summary from a newer one that a hook reported.
func (p *past) setSummary(summary []archive.Passage, boundary *archive.Compaction, hooks []archive.HookSummary, atLine int) {
	lastLine := -1
	if n := len(p.passages); n > 0 {
		lastLine = p.passages[n-1].LineFrom
	}
	p.newest = summary
	var since time.Time
	if boundary != nil {
		since = boundary.Time
		if boundary.Line > lastLine {
			p.summary = joinTexts(summary)
		} else {
			p.oldSummary = summary
		}
	}
	if atLine > 0 {
		return // hooks report summaries after the last row, thus after atLine
	}
	for _, h := range hooks {
		if h.Time.After(since) && !h.Time.Before(p.end) {
			p.summary, since = h.Text, h.Time
		}
	}
}

// forgetSummary treats the newest summary as one that has left the context.
func (p *past) forgetSummary() { p.summary, p.oldSummary = "", p.newest }

func joinTexts(ps []archive.Passage) string {
	var b strings.Builder
	for _, x := range ps {
		b.WriteString(x.Text + "\n")
	}
	return b.String()
}

// task is the state of a task at the end of the loaded window.
type task struct {
	subject, status string
	turn, step      int // of its last change
}

func (t task) open() bool {
	return t.status != "completed" && t.status != "deleted" && t.status != "cancelled"
}

// line returns the status and subject of the task.
func (t task) line() string {
	return strings.ReplaceAll(t.status, "_", " ") + ": " + text.Truncate(text.CleanLine(t.subject), 200)
}

// foldTasks applies events in order and returns the tasks in the order of their
// creation.
func foldTasks(events []archive.TaskEvent) []task {
	var tasks []task
	at := map[string]int{}
	for _, e := range events {
		i, ok := at[e.TaskID]
		if !ok {
			i = len(tasks)
			at[e.TaskID] = i
			tasks = append(tasks, task{status: "pending"})
		}
		t := &tasks[i]
		t.turn, t.step = e.Turn, e.Step
		t.subject, t.status = cmp.Or(e.Subject, t.subject), cmp.Or(e.Status, t.status)
	}
	return tasks
}
