package claude

import (
	"strings"

	"strandline/internal/text"
	"strandline/internal/transcript"
)

// maxFrame limits the bytes that the client writes around a summary, reminders aside.
// With more text outside its records, a summary is not Strandline's.
const maxFrame = 3000

// replacementIn returns the record that replaces a conversation, if message, the text
// of a whole user message, is such a record of Strandline and nothing else. The client
// may frame it as a summary, and the record may be followed by others. Any other text
// with records in it quotes them.
func replacementIn(message, session string, owns transcript.Owns) (record string, ok bool) {
	if owns == nil || !strings.Contains(message, text.FenceOpen) {
		return "", false
	}
	var rest strings.Builder
	kept := 0
	for _, r := range text.Records(message) {
		if record == "" && !text.HasReplacement(text.Prefix(r.Text, 1024)) || !owns(session, r) {
			continue
		}
		if record == "" {
			record = r.Text
		}
		rest.WriteString(message[kept:r.From])
		kept = r.To
	}
	if record == "" {
		return "", false
	}
	frame := clean(rest.String() + message[kept:])
	if frame != "" && (!IsSummary(frame) || len(frame) > maxFrame) {
		return "", false
	}
	return record, true
}

// onlyRecords reports whether s is one or more of Strandline's records and nothing else.
func onlyRecords(s, session string, owns transcript.Owns) bool {
	if owns == nil || !strings.Contains(s, text.FenceOpen) {
		return false
	}
	kept := 0
	for _, r := range text.Records(s) {
		if strings.TrimSpace(s[kept:r.From]) != "" || !owns(session, r) {
			return false
		}
		kept = r.To
	}
	return kept > 0 && strings.TrimSpace(s[kept:]) == ""
}

// holdsRecord reports whether s holds a record of Strandline.
func holdsRecord(s, session string, owns transcript.Owns) bool {
	if owns != nil && strings.Contains(s, text.FenceOpen) {
		for _, r := range text.Records(s) {
			if owns(session, r) {
				return true
			}
		}
	}
	return false
}

// replacement returns Strandline's replacement of a conversation that a user row holds,
// "" if there is none. The caller checks the row's place. The user's own prompts have a
// provenance, except in old clients; a summary can have that of the turn it is in.
func (s *scanner) replacement(r *row, session string, owns transcript.Owns) string {
	if owns == nil || r.kind != typeUser || r.provenance && r.class != classSummary {
		return ""
	}
	var message strings.Builder
	for _, p := range s.partsOf(r) {
		if p.kind == partText {
			message.WriteString(stringOf(p.raw) + "\n")
		}
	}
	record, _ := replacementIn(message.String(), session, owns)
	return record
}

// MarkRecord sets the Record of the message with Strandline's replacement of an earlier
// part of a conversation whose messages were set by Classify. It and a summary can only
// be before the first response; what looks like a summary later is a prompt.
func MarkRecord(messages []transcript.Message, session string, owns transcript.Owns) {
	answered, found := false, false
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == typeAssistant:
			answered = true
		case m.Role != typeUser:
		case answered && m.Summary:
			m.Summary, m.Prompt = false, clean(m.Text)
		case !answered && !found:
			if m.Record, found = replacementIn(m.Text, session, owns); found {
				m.Prompt = ""
			}
		}
	}
}
