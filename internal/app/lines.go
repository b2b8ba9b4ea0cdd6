package app

import (
	"context"
	"fmt"

	"strandline/internal/archive"
)

// Lines finds the transcript lines [from, to) of a turn or a step; a whole
// session is all of its lines, and to is 0. A place that is not there is an
// *archive.Error with CodeNotFound.
func Lines(ctx context.Context, index Places, id string, h archive.Handle) (from, to int, err error) {
	if h.Turn < 0 {
		return 0, 0, nil
	}
	span := archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1}
	turns, err := index.Turns(ctx, span)
	if err != nil {
		return 0, 0, err
	}
	if len(turns) == 0 {
		return 0, 0, archive.NotFound(fmt.Sprintf("session %s has no turn %d", archive.ShortID(id), h.Turn),
			"`strandline show "+archive.ShortID(id)+"` lists its turns")
	}
	if h.Step < 0 {
		return turns[0].LineFrom, turns[0].LineTo, nil
	}
	steps, err := index.Steps(ctx, span)
	if err != nil {
		return 0, 0, err
	}
	for _, st := range steps {
		if st.Index == h.Step {
			return st.LineFrom, st.LineTo, nil
		}
	}
	return 0, 0, archive.NotFound(fmt.Sprintf("turn %d has no step %d", h.Turn, h.Step),
		fmt.Sprintf("`strandline show %s/%d` prints the turn with its %d steps", archive.ShortID(id), h.Turn, len(steps)))
}

// onlyStep leaves out rows of other steps that stand between a step's lines:
// parallel calls are written interleaved.
func onlyStep(ctx context.Context, index Places, id string, h archive.Handle, blocks []LogBlock) ([]LogBlock, error) {
	calls, err := index.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1}})
	if err != nil {
		return nil, err
	}
	foreign := map[string]bool{}
	for _, call := range calls {
		if call.Step != h.Step {
			foreign[call.ToolID] = true
		}
	}
	var out []LogBlock
	for _, b := range blocks {
		if b.ToolID == "" || !foreign[b.ToolID] {
			out = append(out, b)
		}
	}
	return out, nil
}
