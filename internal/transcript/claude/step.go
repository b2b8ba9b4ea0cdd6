package claude

import (
	"strings"

	"strandline/internal/archive"
)

const (
	labelSidechain = "sidechain"
	labelPlan      = "plan" // of ExitPlanMode
	modelSynthetic = "<synthetic>"
)

// assistant folds one line of an API response.
func (r *Reader) assistant(row *row) {
	s := r.stepOf(row)
	r.updateStep(s, row)
	parts := r.scan.partsOf(row)
	for i := range parts {
		p := &parts[i]
		switch {
		case p.kind == partToolUse:
			r.toolUse(s, row, p)
		case p.kind == partToolResult: // of a tool that the API ran
			r.toolResult(row, p, resultFacts{})
		case s.row.Copy != nil || s.row.APIError:
		case p.kind == partText:
			r.reply(s, row, "", stringOf(p.raw))
		case p.kind == partThinking:
			r.reply(s, row, archive.LabelThinking, stringOf(p.raw))
		}
	}
}

// stepOf returns the step of a line: one that may still change, a copy of a known
// one, or a new one.
func (r *Reader) stepOf(row *row) *stepState {
	st := &r.state
	for i := len(st.steps) - 1; i >= 0 && row.key != 0; i-- {
		if st.steps[i].key == row.key {
			return &st.steps[i]
		}
	}
	at := st.turn.row // that of turn 0 if no turn is open
	origin := r.lookup(row.key, at.Index, at.Steps)
	r.ensureTurn(row, origin)
	t := &st.turn.row
	if origin != nil && t.Copy == nil && t.Steps == 0 && t.Title == "" && st.turn.seq == 0 {
		t.Copy = &archive.Ref{Session: origin.Session, Turn: origin.Turn, Step: -1} // turn 0 begins with copies
	}
	if len(st.steps) >= maxSteps {
		r.emitStep(&st.steps[0])
		st.steps = keepLast(st.steps, maxSteps-1)
	}
	st.steps = append(st.steps, stepState{key: row.key, row: archive.Step{
		Turn: t.Index, Index: t.Steps, MessageID: name(row.messageID), Time: row.time,
		LineFrom: row.line, LineTo: row.line + 1,
		APIError: row.apiError || string(row.model) == modelSynthetic, Sidechain: !r.isMain(row), Copy: origin,
	}})
	s := &st.steps[len(st.steps)-1]
	r.claim(row.key, t.Index, t.Steps)
	t.Steps++
	if origin == nil && !s.row.APIError {
		st.facts.Steps++
		if row.time.After(st.compaction.time) {
			st.compaction.copying = false
		}
	}
	return s
}

// updateStep adds the facts of a further line of a response. Old clients write
// the usage so far on each line: the largest value counts, once.
func (r *Reader) updateStep(s *stepState, row *row) {
	s.dirty = true
	f := &r.state.facts
	if s.row.Turn == r.state.turn.row.Index {
		s.row.LineTo = row.line + 1
	}
	if s.row.MessageID == "" {
		s.row.MessageID = name(row.messageID)
	}
	if len(row.model) > 0 && s.row.Model != string(row.model) {
		s.row.Model = name(row.model)
	}
	if len(row.stopReason) > 0 {
		s.row.Stop = name(row.stopReason)
	}
	if r.isMain(row) && !s.row.APIError && s.row.Model != "" {
		f.Model = s.row.Model
	}
	if s.row.Copy != nil || s.row.APIError {
		return
	}
	count := func(step, session *int64, now int64) {
		if more := now - *step; more > 0 {
			*step += more
			*session += more
		}
	}
	u := &s.row.Usage
	count(&u.Input, &f.Usage.Input, row.usage.Input)
	count(&u.Output, &f.Usage.Output, row.usage.Output)
	count(&u.CacheRead, &f.Usage.CacheRead, row.usage.CacheRead)
	count(&u.CacheWrite, &f.Usage.CacheWrite, row.usage.CacheWrite)
}

// emitStep adds a step to the batch if this read changed it.
func (r *Reader) emitStep(s *stepState) {
	if !s.dirty {
		return
	}
	s.dirty = false
	row := s.row
	row.Session = r.base.ID
	r.out.Steps = append(r.out.Steps, row)
}

// reply adds text of the model to a step.
func (r *Reader) reply(s *stepState, row *row, label, body string) {
	if s.row.Sidechain {
		label = labelSidechain
	}
	if body = r.clean(body); strings.TrimSpace(body) == "" {
		return
	}
	for _, piece := range split(body) {
		r.putInStep(s, archive.Passage{Kind: archive.KindReply, Label: label, Text: piece}, row)
	}
}

// extendStep extends a call's step to the line of the result, if it is in the
// current turn.
func (r *Reader) extendStep(turn, step, line int) {
	if turn != r.state.turn.row.Index {
		return
	}
	for i := range r.state.steps {
		if s := &r.state.steps[i]; s.row.Turn == turn && s.row.Index == step {
			s.row.LineTo = max(s.row.LineTo, line+1)
			s.dirty = true
		}
	}
}
