package claude

import (
	"encoding/json"

	"strandline/internal/transcript"
)

// The subtypes of system rows that stand for what was forgotten: turns and steps
// behind them keep their numbers.
const (
	forgottenTurn  = "forgotten_turn"
	forgottenStep  = "forgotten_step"
	forgottenTitle = "(forgotten)"
)

// Rows calls fn with what identifies each complete line of chunk, the first of
// which has number first.
func Rows(chunk []byte, first int, fn func(transcript.Row)) {
	s := newScanner()
	s.scan(chunk, first)
	for i := range s.rows {
		r := &s.rows[i]
		out := transcript.Row{
			Line: r.line, UUID: string(r.uuid), Parent: string(r.parent), Message: string(r.messageID), Time: r.time,
			Spoken: r.kind == typeUser || r.kind == typeAssistant,
			Cut:    r.kind == typeSystem && r.subtype == "compact_boundary",
			Blank:  r.kind == typeBlank || r.kind == typeSystem && (r.subtype == forgottenTurn || r.subtype == forgottenStep),
		}
		if r.kind == typeUser {
			class, _ := s.classifyUser(r)
			out.Prompt = class == classPrompt && !r.sidechain
		}
		for _, p := range s.partsOf(r) {
			switch p.kind {
			case partToolUse:
				out.Uses = append(out.Uses, string(p.id))
			case partToolResult:
				out.Results = append(out.Results, string(p.id))
			}
		}
		fn(out)
	}
}

// hole is the row that stands for a forgotten turn or step.
type hole struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	UUID    string `json:"uuid,omitempty"`
	Parent  string `json:"parentUuid,omitempty"`
	Time    string `json:"timestamp,omitempty"`
}

// Hole is a line that stands for a turn, or a step, that was forgotten. As much of
// what ties the rows around it together is kept as fits into so many bytes: it has
// the parent and the time of the first row and the uuid of the last. "" fits
// nowhere.
func Hole(step bool, first, last transcript.Row, room int) string {
	h := hole{Type: typeSystem, Subtype: forgottenTurn, UUID: last.UUID, Parent: first.Parent}
	if step {
		h.Subtype = forgottenStep
	}
	if !first.Time.IsZero() {
		h.Time = first.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, less := range []func(){func() {}, func() { h.UUID, h.Parent = "", "" }, func() { h.Time = "" }} {
		less()
		if line, err := json.Marshal(h); err == nil && len(line) <= room {
			return string(line)
		}
	}
	return ""
}

// forgotten folds the row that stands for a turn, or a step, that was forgotten.
func (r *Reader) forgotten(row *row) {
	if !r.main(row) {
		return
	}
	if row.subtype == forgottenTurn {
		r.startTurn(row, "", nil)
		r.state.turn.row.Title = forgottenTitle
		return
	}
	r.ensureTurn(row, nil)
	r.stepOf(row).dirty = true
}
