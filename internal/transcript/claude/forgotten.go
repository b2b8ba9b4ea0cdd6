package claude

import (
	"cmp"
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

// Rows calls fn with the ids of each complete line of chunk, those of all of its rows. The
// first line has number first.
func Rows(chunk []byte, first int, fn func(transcript.Row)) {
	s := newScanner()
	s.scan(chunk, first)
	var out transcript.Row
	for i := range s.rows {
		r := &s.rows[i]
		if i > 0 && r.line > s.rows[i-1].line {
			fn(out)
			out = transcript.Row{}
		}
		out.Line, out.Time = r.line, r.time
		out.UUID, out.Parent = cmp.Or(out.UUID, string(r.uuid)), cmp.Or(out.Parent, string(r.parent))
		out.MessageID = cmp.Or(out.MessageID, string(r.messageID))
		out.InConversation = out.InConversation || r.isMessage()
		out.Boundary = out.Boundary || r.kind == typeSystem && r.subtype == subtypeBoundary
		out.Blank = r.kind == typeBlank || r.kind == typeSystem && (r.subtype == forgottenTurn || r.subtype == forgottenStep)
		if r.kind == typeUser {
			class, _ := s.classifyUser(r)
			out.Prompt = out.Prompt || class == classPrompt && !r.sidechain
		}
		for _, p := range s.partsOf(r) {
			switch p.kind {
			case partToolUse:
				out.Uses = append(out.Uses, string(p.id))
			case partToolResult:
				out.Results = append(out.Results, string(p.id))
			}
		}
	}
	if len(s.rows) > 0 {
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
