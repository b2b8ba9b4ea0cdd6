package compact

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
)

// place is a step of a turn; the step of a prompt is -1.
type place struct{ turn, step int }

func (p place) compare(other place) int { return cmp.Or(p.turn-other.turn, p.step-other.step) }

// ref returns the place in the archive of a turn and step of the past.
func (p *past) ref(turn, step int) archive.Ref {
	if turn < 0 {
		return archive.Ref{Session: p.parent, Turn: turn + p.shift, Step: step}
	}
	return archive.Ref{Session: p.session.ID, Turn: turn, Step: step}
}

// addForkParent prepends the rows that a fork shares with its parent, or a rewritten
// transcript with its older generation. The archive stores copied rows once, under the
// session that had them first.
func (p *past) addForkParent(ctx context.Context, src Source, atLine, window int) error {
	if p.session.Relation != archive.RelationFork && p.session.Generation < 2 {
		return nil
	}
	read := rowReader{ctx: ctx, src: src}
	span := archive.Span{Session: p.session.ID, BeforeLine: atLine, Newest: true, Limit: maxTurns}
	last := lastCopy(p.session.ID, query(&read, src.Turns, span), query(&read, src.Steps, span))
	if last == nil || read.err != nil {
		return read.err
	}
	p.terms, p.parent, p.shift = nil, last.Session, last.Turn+1
	span = archive.Span{Session: last.Session, TurnTo: last.Turn + 1, Newest: true}
	passages := read.passages(span, window, contentKinds...)
	prompts := read.passages(span, maxPrompts, archive.KindPrompt)
	calls := read.calls(span, window)
	dead := read.deadTurns(last.Session, last.Turn+1, passages, prompts)
	if read.err != nil {
		return read.err
	}
	excluded := func(turn, step int) bool {
		return dead[turn] || turn == last.Turn && last.Step >= 0 && step > last.Step
	}
	prompts = slices.DeleteFunc(prompts, func(x archive.Passage) bool { return dead[x.Turn] })
	passages = slices.DeleteFunc(passages, func(x archive.Passage) bool { return excluded(x.Turn, x.Step) || x.Label == sidechainLabel })
	calls = slices.DeleteFunc(calls, func(x archive.Call) bool { return excluded(x.Turn, x.Step) })
	for _, rows := range [][]archive.Passage{passages, prompts} {
		for i := range rows {
			rows[i].Turn -= p.shift
		}
	}
	for i := range calls {
		calls[i].Turn -= p.shift
	}
	p.passages = append(passages, p.passages...)
	p.prompts = append(prompts, p.prompts...)
	p.calls = lastN(append(calls, p.calls...), window)
	return nil
}

// lastCopy returns the newest place that the rows were copied from, in the first
// other session that any names; nil if there is none.
func lastCopy(session string, turns []archive.Turn, steps []archive.Step) *archive.Ref {
	var last *archive.Ref
	consider := func(r *archive.Ref) {
		if r == nil || r.Session == session || last != nil && (r.Session != last.Session || r.Turn < last.Turn || r.Turn == last.Turn && r.Step <= last.Step) {
			return
		}
		last = r
	}
	for _, t := range turns {
		if t.Copy != nil {
			consider(&archive.Ref{Session: t.Copy.Session, Turn: t.Copy.Turn, Step: -1})
		}
	}
	for _, s := range steps {
		consider(s.Copy)
	}
	return last
}

func lastN[T any](rows []T, n int) []T { return rows[max(0, len(rows)-n):] }
