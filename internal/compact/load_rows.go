package compact

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
)

// rowReader queries a store until the first error, which it keeps.
type rowReader struct {
	ctx    context.Context
	src    Source
	atLine int
	err    error
}

// query runs a query of the store, unless an earlier one failed.
func query[S, T any](r *rowReader, run func(context.Context, S) ([]T, error), span S) (rows []T) {
	if r.err == nil {
		rows, r.err = run(r.ctx, span)
	}
	return rows
}

// passages returns at most limit passages, oldest first. It omits a passage that
// ends after atLine, because its text includes later rows.
func (r *rowReader) passages(sp archive.Span, limit int, kinds ...archive.PassageKind) []archive.Passage {
	sp.Limit = limit
	ps := query(r, r.src.Passages, archive.PassageSpan{Span: sp, Kinds: kinds})
	if r.atLine > 0 {
		ps = slices.DeleteFunc(ps, func(x archive.Passage) bool { return x.LineTo > r.atLine })
	}
	if sp.Newest {
		slices.Reverse(ps) // leaves the stable sort little to do
	}
	slices.SortStableFunc(ps, func(a, b archive.Passage) int { return cmp.Or(a.Turn-b.Turn, a.Step-b.Step, a.Seq-b.Seq) })
	return ps
}

// calls returns the newest calls, oldest first, without results at or after
// atLine.
func (r *rowReader) calls(sp archive.Span, limit int) []archive.Call {
	sp.Limit = limit
	cs := query(r, r.src.Calls, archive.CallSpan{Span: sp})
	for i := range cs {
		if r.atLine > 0 && cs[i].LineResult >= r.atLine {
			cs[i].Exit, cs[i].Failed, cs[i].Error, cs[i].Duration, cs[i].LineResult = nil, false, "", 0, -1
		}
	}
	if sp.Newest {
		slices.Reverse(cs)
	}
	slices.SortStableFunc(cs, func(a, b archive.Call) int { return cmp.Or(a.Turn-b.Turn, a.Step-b.Step, a.Seq-b.Seq) })
	return cs
}

// notes returns the user's notes for a project.
func (r *rowReader) notes(project string) []archive.Note {
	if r.err != nil {
		return nil
	}
	notes, err := r.src.Notes(r.ctx)
	r.err = err
	return archive.Select(notes, func(n archive.Note) bool { return n.In(project) })
}

func (r *rowReader) tasks(sp archive.Span) []archive.TaskEvent {
	sp.Limit = maxEvents
	es := query(r, r.src.Tasks, sp)
	slices.SortStableFunc(es, func(a, b archive.TaskEvent) int { return cmp.Or(a.Line-b.Line, a.Seq-b.Seq) })
	return es
}

// sidechainSteps returns the steps of sub-agents that old clients wrote into their
// parent's transcript. It queries only if a passage is labelled as such.
func (r *rowReader) sidechainSteps(sp archive.Span, limit int, passages []archive.Passage) map[place]bool {
	if !slices.ContainsFunc(passages, func(x archive.Passage) bool { return x.Label == sidechainLabel }) {
		return nil
	}
	sp.Limit = limit
	places := map[place]bool{}
	for _, s := range query(r, r.src.Steps, sp) {
		if s.Sidechain {
			places[place{s.Turn, s.Index}] = true
		}
	}
	return places
}

// deadTurns returns the turns before turnTo that a rewind removed, back to the
// oldest of the rows. A dead turn counts only if a live one follows it: before
// that, the rewind had not happened yet.
func (r *rowReader) deadTurns(session string, turnTo int, rows ...[]archive.Passage) map[int]bool {
	from := turnTo
	for _, ps := range rows {
		if len(ps) > 0 {
			from = min(from, ps[0].Turn)
		}
	}
	if from == turnTo {
		return nil
	}
	dead := map[int]bool{}
	span := archive.Span{Session: session, BeforeLine: r.atLine, TurnFrom: from, TurnTo: turnTo, Limit: maxTurns, Newest: true}
	for _, t := range query(r, r.src.Rewound, span) {
		dead[t] = true
	}
	return dead
}

// summary returns the passages of the newest summary in the transcript and its
// compaction.
func (r *rowReader) summary(sp archive.Span) ([]archive.Passage, *archive.Compaction) {
	sp.Limit = 1
	cs := query(r, r.src.Compactions, sp)
	if len(cs) == 0 {
		return nil, nil
	}
	c := cs[0]
	if c.SummaryLine < 0 || r.atLine > 0 && c.SummaryLine >= r.atLine {
		return nil, &c
	}
	// The summary's row follows the boundary, in the same turn or the next.
	span := archive.Span{Session: sp.Session, BeforeLine: r.atLine, TurnFrom: c.Turn, TurnTo: c.Turn + 2, Newest: true}
	ps := r.passages(span, 16, archive.KindSummary)
	return slices.DeleteFunc(ps, func(x archive.Passage) bool { return x.LineFrom != c.SummaryLine }), &c
}
