// Package claude reads the transcripts of Claude Code: JSON lines, one row each,
// appended while a session runs.
//
// It has two layers. The scanner parses each line once and keeps the known
// fields, whatever the line holds. The fold turns rows into the turns, steps,
// calls and passages of package archive. The state of the fold is stored in the
// cursor, so reading in pieces gives the same result as reading the whole file.
package claude

import (
	"cmp"
	"encoding/json"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// AgentMeta parses the description that the client stores beside a sub-agent's
// transcript (agent-<id>.meta.json). It is empty if meta is not valid JSON.
func AgentMeta(meta []byte) archive.Agent {
	var m struct {
		AgentType   string `json:"agentType"`
		Description string `json:"description"`
	}
	if json.Unmarshal(meta, &m) != nil {
		return archive.Agent{}
	}
	return archive.Agent{Type: m.AgentType, Description: m.Description}
}

// Slug returns the name of the client's folder for the transcripts of the working
// directory cwd: every UTF-16 unit except ASCII letters and digits becomes a dash.
func Slug(cwd string) string {
	b := make([]byte, 0, len(cwd))
	for _, r := range cwd {
		switch {
		case r < 0x80 && text.IsAlnum(byte(r)):
			b = append(b, byte(r))
		case r > 0xFFFF: // two units
			b = append(b, "--"...)
		default:
			b = append(b, '-')
		}
	}
	return string(b)
}

// Peek reads the facts from the first bytes of a transcript. An incomplete last
// line is ignored.
func Peek(head []byte) (f transcript.Facts) {
	s := newScanner()
	s.scan(head, 0)
	for i := range s.rows {
		row := &s.rows[i]
		f.Session = cmp.Or(f.Session, string(row.sessionID))
		f.Agent = cmp.Or(f.Agent, string(row.agentID))
		f.Cwd = cmp.Or(f.Cwd, string(row.cwd))
		f.First = cmp.Or(f.First, row.time)
	}
	return f
}
