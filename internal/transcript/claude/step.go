package claude

import (
	"strings"

	"strandline/internal/archive"
)

const (
	labelSide      = "sidechain"
	labelThinking  = "thinking"
	labelPlan      = "plan" // what the model proposed to do
	modelSynthetic = "<synthetic>"
)

// assistant folds one line of an API response.
func (r *Reader) assistant(row *row) {
	s := r.stepOf(row)
	r.update(s, row)
	parts := r.scan.partsOf(row)
	for i := range parts {
		p := &parts[i]
		switch {
		case p.kind == partToolUse:
			r.toolUse(s, row, p)
		case p.kind == partToolResult: // of a tool that the server ran
			r.toolResult(row, p, &resultFacts{})
		case s.row.Copy != nil || s.row.APIError:
		case p.kind == partText:
			r.reply(s, row, "", unquote(p.raw))
		case p.kind == partThinking:
			r.reply(s, row, labelThinking, unquote(p.raw))
		}
	}
}

// stepOf returns the step that a line belongs to: one that may still grow, a
// copy of one seen elsewhere, or a new one.
func (r *Reader) stepOf(row *row) *stepState {
	st := &r.state
	if row.key != 0 {
		for i := len(st.steps) - 1; i >= 0; i-- {
			if st.steps[i].key == row.key {
				return &st.steps[i]
			}
		}
	}
	place := st.turn.row // of turn 0, before it is open
	origin := r.lookup(row.key, place.Index, place.Steps)
	r.ensureTurn(row, origin)
	t := &st.turn.row
	if origin != nil && t.Copy == nil && t.Steps == 0 && t.Title == "" && st.turn.seq == 0 {
		t.Copy = &archive.Ref{Session: origin.Session, Turn: origin.Turn, Step: -1} // a head of copies only
	}
	if len(st.steps) >= maxSteps {
		r.emitStep(&st.steps[0])
		st.steps = append(st.steps[:0], st.steps[1:]...)
	}
	st.steps = append(st.steps, stepState{key: row.key, row: archive.Step{
		Turn: t.Index, Index: t.Steps, MessageID: name(row.messageID), Time: row.time,
		LineFrom: row.line, LineTo: row.line + 1,
		APIError: row.apiError || string(row.model) == modelSynthetic, Sidechain: !r.main(row), Copy: origin,
	}})
	s := &st.steps[len(st.steps)-1]
	r.own(row.key, t.Index, t.Steps)
	t.Steps++
	if origin == nil {
		if !s.row.APIError {
			st.facts.steps++
		}
		if row.time.After(st.cut.time) && !s.row.APIError {
			st.cut.copying = false
		}
	}
	return s
}

// update takes what a further line of a response says. Old clients write lines
// with the usage so far, so the largest counts; each is counted once.
func (r *Reader) update(s *stepState, row *row) {
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
	if r.main(row) && !s.row.APIError && s.row.Model != "" {
		f.model = s.row.Model
	}
	if s.row.Copy != nil || s.row.APIError {
		return
	}
	old, now := s.row.Usage, row.usage
	s.row.Usage = archive.Usage{
		Input: max(old.Input, now.Input), Output: max(old.Output, now.Output),
		CacheRead: max(old.CacheRead, now.CacheRead), CacheWrite: max(old.CacheWrite, now.CacheWrite),
	}
	f.usage.Input += s.row.Usage.Input - old.Input
	f.usage.Output += s.row.Usage.Output - old.Output
	f.usage.CacheRead += s.row.Usage.CacheRead - old.CacheRead
	f.usage.CacheWrite += s.row.Usage.CacheWrite - old.CacheWrite
}

// emitStep puts a step into the batch if this read changed it.
func (r *Reader) emitStep(s *stepState) {
	if !s.dirty {
		return
	}
	s.dirty = false
	row := s.row
	row.Session = r.base.ID
	r.out.Steps = append(r.out.Steps, row)
}

// reply adds a text of the model.
func (r *Reader) reply(s *stepState, row *row, label, text string) {
	if s.row.Sidechain {
		label = labelSide
	}
	if text = r.clean(text); strings.TrimSpace(text) == "" {
		return
	}
	for _, piece := range split(text) {
		r.putPassage(archive.Passage{
			Turn: s.row.Turn, Step: s.row.Index, Seq: s.seq, Kind: archive.KindReply, Label: label, Text: piece,
			LineFrom: row.line, LineTo: row.line + 1, Time: row.time,
		})
		s.seq++
	}
}

// reach extends the step of a call to the line of its result, unless another
// turn has begun since.
func (r *Reader) reach(turn, step, line int) {
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
