package claude

import (
	"encoding/json"

	"strandline/internal/transcript"
)

// The subtypes of system rows that replace forgotten turns and steps, so that the
// following ones keep their numbers.
const (
	forgottenTurn  = "forgotten_turn"
	forgottenStep  = "forgotten_step"
	forgottenTitle = "(forgotten)"
)

// Rows calls fn with the ids of each complete line of chunk. The first line has
// number first.
func Rows(chunk []byte, first int, fn func(transcript.Row)) {
	s := newScanner()
	s.scan(chunk, first)
	for i := range s.rows {
		r := &s.rows[i]
		out := transcript.Row{
			Line: r.line, UUID: string(r.uuid), Parent: string(r.parent), MessageID: string(r.messageID), Time: r.time,
			InConversation: r.isMessage(), Boundary: r.kind == typeSystem && r.subtype == subtypeBoundary,
			Blank: r.kind == typeBlank || r.kind == typeSystem && (r.subtype == forgottenTurn || r.subtype == forgottenStep),
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

// ForgottenRow returns a line, without a newline, that replaces the rows first to
// last of a forgotten turn or step. It has the parent and time of the first row and
// the uuid of the last, as far as they fit into maxBytes; "" if nothing fits.
func ForgottenRow(step bool, first, last transcript.Row, maxBytes int) string {
	row := struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		UUID    string `json:"uuid,omitempty"`
		Parent  string `json:"parentUuid,omitempty"`
		Time    string `json:"timestamp,omitempty"`
	}{Type: typeSystem, Subtype: forgottenTurn, UUID: last.UUID, Parent: first.Parent}
	if step {
		row.Subtype = forgottenStep
	}
	if !first.Time.IsZero() {
		row.Time = first.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, drop := range []func(){func() {}, func() { row.UUID, row.Parent = "", "" }, func() { row.Time = "" }} {
		drop()
		if line, err := json.Marshal(row); err == nil && len(line) <= maxBytes {
			return string(line)
		}
	}
	return ""
}

// forgotten folds the row of a forgotten turn or step.
func (r *Reader) forgotten(row *row) {
	if !r.isMain(row) {
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
