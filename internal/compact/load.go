package compact

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"strandline/internal/archive"
)

// How much of a session is looked at. What a session needs after a compaction
// was last seen within 255 messages before it in nine cases of ten, so a fixed
// window of the newest rows serves sessions of any size at the same cost.
const (
	minWindow  = 256 // passages, and calls
	maxWindow  = 6000
	perPassage = 30 // units of the budget that justify one more passage
	maxPrompts = 60
	maxEvents  = 600
	maxTurns   = 2000
)

// sideLabel marks what a sub-agent said whose rows stand in its parent's
// transcript.
const sideLabel = "sidechain"

// past is what a session holds before the cut, oldest first.
type past struct {
	session  archive.Session
	passages []archive.Passage // prompts and summaries aside
	prompts  []archive.Passage // of live turns: the first and the newest
	recap    []archive.Passage // the client's newest summary, where steps followed it
	calls    []archive.Call
	tasks    []task
	end      time.Time // of the last passage
	from     inherited // where turns below zero stand
	found    *found    // in passages as they were read, nil once they are others
	// known is a summary that stands in the context as the block is read: what
	// it says need not be said again.
	known string
}

// load reads a bounded part of the session, none of it from atLine or behind.
func load(ctx context.Context, src Source, session string, atLine, budget int) (*past, error) {
	s, err := src.Session(ctx, session)
	if err != nil {
		return nil, err
	}
	p := &past{session: s}
	newest := archive.Span{Session: session, BeforeLine: atLine, Newest: true}
	read := reader{ctx: ctx, src: src, atLine: atLine}
	window := min(max(budget/perPassage, minWindow), maxWindow)
	p.passages = read.passages(newest, window, contentKinds()...)
	wait := func() {}
	if budget < wholeFrom { // else they change
		wait = p.scan()
	}
	p.prompts = read.passages(newest, maxPrompts, archive.KindPrompt)
	if len(p.prompts) == maxPrompts && p.prompts[0].Turn > 0 {
		first := read.passages(archive.Span{Session: session, BeforeLine: atLine, TurnTo: p.prompts[0].Turn}, 8, archive.KindPrompt)
		p.prompts = append(first, p.prompts...)
	}
	p.calls = read.calls(newest, window)
	events := read.tasks(newest)
	dead := read.dead(session, math.MaxInt32, p.passages, p.prompts)
	side := read.side(newest, window, p)
	summary, boundary := read.summary(newest)
	hooks, err := src.HookSummaries(ctx, session)
	wait()
	if err = cmp.Or(read.err, err); err != nil {
		return nil, err
	}
	p.passages = slices.DeleteFunc(p.passages, func(x archive.Passage) bool { return dead[x.Turn] || x.Label == sideLabel })
	p.prompts = slices.DeleteFunc(p.prompts, func(x archive.Passage) bool { return dead[x.Turn] })
	p.calls = slices.DeleteFunc(p.calls, func(x archive.Call) bool { return dead[x.Turn] || side[place{x.Turn, x.Step}] })
	events = slices.DeleteFunc(events, func(x archive.TaskEvent) bool { return dead[x.Turn] })
	if err := p.inherit(ctx, src, atLine, window); err != nil {
		return nil, err
	}
	p.tasks = foldTasks(events)
	p.end = lastTime(p)
	p.placeSummary(summary, boundary, hooks, atLine)
	return p, nil
}

// scan reads the specifics of the passages while the store goes on reading rows,
// and returns what waits for it.
func (p *past) scan() (wait func()) {
	texts, done := textsOf(p.passages), make(chan struct{})
	go func() {
		defer close(done)
		p.found = findAll(texts)
	}()
	return func() { <-done }
}

// contentKinds are the kinds of passage that tell what was said and done between
// prompts.
func contentKinds() []archive.PassageKind {
	return []archive.PassageKind{archive.KindReply, archive.KindCommand, archive.KindEdit, archive.KindOutput}
}

// placeSummary decides whether the client's newest summary stands in the
// context (nothing followed it: it was written for this compaction) or went
// down with the rest.
func (p *past) placeSummary(summary []archive.Passage, boundary *archive.Compaction, hooks []archive.HookSummary, atLine int) {
	lastLine := -1
	if n := len(p.passages); n > 0 {
		lastLine = p.passages[n-1].LineFrom
	}
	var since time.Time
	if boundary != nil {
		since = boundary.Time
		text := joinTexts(summary)
		if boundary.Line > lastLine {
			p.known = text
		} else {
			p.recap = summary
		}
	}
	if atLine > 0 {
		return // a hook tells a summary behind the last row, so at the cut there was none
	}
	for _, h := range hooks {
		if h.Time.After(since) && !h.Time.Before(p.end) {
			p.known, since = h.Text, h.Time
		}
	}
}

func joinTexts(ps []archive.Passage) string {
	var n int
	for _, x := range ps {
		n += len(x.Text) + 1
	}
	b := make([]byte, 0, n)
	for _, x := range ps {
		b = append(append(b, x.Text...), '\n')
	}
	return string(b)
}

func lastTime(p *past) (t time.Time) {
	for _, ps := range [][]archive.Passage{p.prompts, p.passages} {
		if n := len(ps); n > 0 && ps[n-1].Time.After(t) {
			t = ps[n-1].Time
		}
	}
	return t
}

// reader reads rows until the first error, which it keeps.
type reader struct {
	ctx    context.Context
	src    Source
	atLine int
	err    error
}

// passages returns at most limit passages, oldest first. A passage that begins
// before the cut and ends behind it holds text from behind it: it is left out.
func (r *reader) passages(sp archive.Span, limit int, kinds ...archive.PassageKind) []archive.Passage {
	if r.err != nil {
		return nil
	}
	sp.Limit = limit
	var ps []archive.Passage
	ps, r.err = r.src.Passages(r.ctx, archive.PassageSpan{Span: sp, Kinds: kinds})
	if r.atLine > 0 {
		ps = slices.DeleteFunc(ps, func(x archive.Passage) bool { return x.LineTo > r.atLine })
	}
	oldestFirst(ps, sp.Newest)
	slices.SortStableFunc(ps, func(a, b archive.Passage) int {
		return cmp.Or(a.Turn-b.Turn, a.Step-b.Step, a.Seq-b.Seq)
	})
	return ps
}

// oldestFirst turns rows that came newest first around, which leaves a sort
// nothing to do.
func oldestFirst[T any](rows []T, newest bool) {
	if newest {
		slices.Reverse(rows)
	}
}

// calls returns the newest calls, oldest first. The result of a call that came
// back behind the cut is taken away.
func (r *reader) calls(sp archive.Span, limit int) []archive.Call {
	if r.err != nil {
		return nil
	}
	sp.Limit = limit
	var cs []archive.Call
	cs, r.err = r.src.Calls(r.ctx, archive.CallSpan{Span: sp})
	for i := range cs {
		if r.atLine > 0 && cs[i].LineResult >= r.atLine {
			cs[i].Exit, cs[i].Failed, cs[i].Error, cs[i].Duration, cs[i].LineResult = nil, false, "", 0, -1
		}
	}
	oldestFirst(cs, sp.Newest)
	slices.SortStableFunc(cs, func(a, b archive.Call) int {
		return cmp.Or(a.Turn-b.Turn, a.Step-b.Step, a.Seq-b.Seq)
	})
	return cs
}

func (r *reader) tasks(sp archive.Span) []archive.TaskEvent {
	if r.err != nil {
		return nil
	}
	sp.Limit = maxEvents
	var es []archive.TaskEvent
	es, r.err = r.src.Tasks(r.ctx, sp)
	slices.SortStableFunc(es, func(a, b archive.TaskEvent) int { return cmp.Or(a.Line-b.Line, a.Seq-b.Seq) })
	return es
}

// side returns the steps of sub-agents that old clients wrote into their parent's
// transcript. Most sessions have none, which their passages tell.
func (r *reader) side(sp archive.Span, limit int, p *past) map[place]bool {
	if r.err != nil || !slices.ContainsFunc(p.passages, func(x archive.Passage) bool { return x.Label == sideLabel }) {
		return nil
	}
	sp.Limit = limit
	var steps []archive.Step
	steps, r.err = r.src.Steps(r.ctx, sp)
	places := map[place]bool{}
	for _, s := range steps {
		if s.Sidechain {
			places[place{s.Turn, s.Index}] = true
		}
	}
	return places
}

// dead returns the turns before turnTo that a rewind left behind, as far back as
// the rows reach. A rewind shows only in the live turn that follows it, so dead
// turns with no live turn behind them were still alive at the cut.
func (r *reader) dead(session string, turnTo int, rows ...[]archive.Passage) map[int]bool {
	from := turnTo
	for _, ps := range rows {
		if len(ps) > 0 {
			from = min(from, ps[0].Turn)
		}
	}
	if r.err != nil || from == turnTo {
		return nil
	}
	var turns []int
	turns, r.err = r.src.Rewound(r.ctx, archive.Span{
		Session: session, BeforeLine: r.atLine, TurnFrom: from, TurnTo: turnTo, Limit: maxTurns, Newest: true,
	})
	dead := map[int]bool{}
	for _, t := range turns {
		dead[t] = true
	}
	return dead
}

// summary returns the passages of the newest summary that the transcript holds,
// with its compaction.
func (r *reader) summary(sp archive.Span) ([]archive.Passage, *archive.Compaction) {
	if r.err != nil {
		return nil, nil
	}
	sp.Limit = 1
	var cs []archive.Compaction
	cs, r.err = r.src.Compactions(r.ctx, sp)
	if r.err != nil || len(cs) == 0 {
		return nil, nil
	}
	c := cs[0]
	if c.SummaryLine < 0 || r.atLine > 0 && c.SummaryLine >= r.atLine {
		return nil, &c
	}
	// The summary's row follows the boundary, in the turn that was going on.
	span := archive.Span{Session: sp.Session, BeforeLine: r.atLine, TurnFrom: c.Turn, TurnTo: c.Turn + 2, Newest: true}
	ps := r.passages(span, 16, archive.KindSummary)
	return slices.DeleteFunc(ps, func(x archive.Passage) bool { return x.LineFrom != c.SummaryLine }), &c
}
