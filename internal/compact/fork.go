package compact

import (
	"context"
	"slices"

	"strandline/internal/archive"
)

// inherited is how far back a fork's own turns reach into the session it was
// copied from. The turns of that session are numbered below zero here, so that
// they come first and cannot be taken for the fork's own.
type inherited struct {
	session string
	shift   int // add it to a turn below zero to get the turn's own number
}

// ref returns the place that a turn and step of the past stand for.
func (p *past) ref(turn, step int) archive.Ref {
	if turn < 0 {
		return archive.Ref{Session: p.from.session, Turn: turn + p.from.shift, Step: step}
	}
	return archive.Ref{Session: p.session.ID, Turn: turn, Step: step}
}

// inherit puts what a fork shares with its parent in front of its own rows: the
// archive holds copied rows once, under the session that had them first.
func (p *past) inherit(ctx context.Context, src Source, atLine, window int) error {
	if p.session.Relation != archive.RelationFork {
		return nil
	}
	span := archive.Span{Session: p.session.ID, BeforeLine: atLine, Newest: true, Limit: maxTurns}
	turns, err := src.Turns(ctx, span)
	if err != nil {
		return err
	}
	steps, err := src.Steps(ctx, span)
	if err != nil {
		return err
	}
	last := lastCopy(p.session.ID, turns, steps)
	if last == nil {
		return nil
	}
	p.found = nil
	p.from = inherited{session: last.Session, shift: last.Turn + 1}
	read := reader{ctx: ctx, src: src}
	span = archive.Span{Session: last.Session, TurnTo: last.Turn + 1, Newest: true}
	passages := read.passages(span, window, contentKinds()...)
	prompts := read.passages(span, maxPrompts, archive.KindPrompt)
	calls := read.calls(span, window)
	dead := read.dead(last.Session, last.Turn+1, passages, prompts)
	if read.err != nil {
		return read.err
	}
	gone := func(turn, step int) bool {
		return dead[turn] || turn == last.Turn && last.Step >= 0 && step > last.Step
	}
	prompts = slices.DeleteFunc(prompts, func(x archive.Passage) bool { return dead[x.Turn] })
	passages = slices.DeleteFunc(passages, func(x archive.Passage) bool { return gone(x.Turn, x.Step) || x.Label == sideLabel })
	calls = slices.DeleteFunc(calls, func(x archive.Call) bool { return gone(x.Turn, x.Step) })
	for _, rows := range [][]archive.Passage{passages, prompts} {
		for i := range rows {
			rows[i].Turn -= p.from.shift
		}
	}
	for i := range calls {
		calls[i].Turn -= p.from.shift
	}
	p.passages = newestOf(append(passages, p.passages...), window)
	p.prompts = append(prompts, p.prompts...)
	p.calls = newestOf(append(calls, p.calls...), window)
	return nil
}

// lastCopy returns the newest place in another session that rows were copied
// from, nil if there is none.
func lastCopy(session string, turns []archive.Turn, steps []archive.Step) *archive.Ref {
	var last *archive.Ref
	later := func(r *archive.Ref) {
		if r == nil || r.Session == session || last != nil && (r.Session != last.Session || r.Turn < last.Turn || r.Turn == last.Turn && r.Step <= last.Step) {
			return
		}
		last = r
	}
	for _, t := range turns {
		if t.Copy != nil {
			later(&archive.Ref{Session: t.Copy.Session, Turn: t.Copy.Turn, Step: -1})
		}
	}
	for _, s := range steps {
		later(s.Copy)
	}
	return last
}

// newestOf keeps the last n rows.
func newestOf[T any](rows []T, n int) []T { return rows[max(0, len(rows)-n):] }
