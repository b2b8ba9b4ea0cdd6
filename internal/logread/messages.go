package logread

import (
	"bytes"
	"context"

	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// maxMessages bounds in bytes how much of a transcript is read as a
// conversation: the newest part of it.
const maxMessages = 48 << 20

// Messages returns what reads the conversation of a session's lines, not
// redacted.
func (r Reader) Messages(session string) func(ctx context.Context, from, to int) ([]transcript.Message, error) {
	return func(ctx context.Context, from, to int) ([]transcript.Message, error) {
		raw, err := r.Raw(ctx, session, from, to)
		if over := len(raw) - maxMessages; over > 0 {
			raw = raw[over:]
			raw = raw[bytes.IndexByte(raw, '\n')+1:]
		}
		if err != nil {
			return nil, err
		}
		return claude.Conversation(raw), nil
	}
}
