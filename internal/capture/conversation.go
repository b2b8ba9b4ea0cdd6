package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Conversation returns the messages that the lines [from, to) of a session's
// transcript hold, to 0 meaning its end, nothing cut and nothing redacted. Of a
// stretch of more than most bytes it reads the newest part.
func (c *Capture) Conversation(ctx context.Context, session string, from, to int, most int64) (ms []transcript.Message, err error) {
	log, err := c.Open(session, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	start, end, err := log.Stretch(ctx, from, to)
	if err != nil {
		return nil, err
	}
	cut := end-start > most
	if cut {
		start = end - most
	}
	if start >= end {
		return nil, nil
	}
	raw := make([]byte, end-start)
	if _, err := io.ReadFull(log.NewSection(start, end-start), raw); err != nil {
		return nil, fmt.Errorf("read log of session %s: %w", session, err)
	}
	if cut { // inside a line
		raw = raw[bytes.IndexByte(raw, '\n')+1:]
	}
	return claude.Conversation(raw), nil
}
