package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"strandline/internal/capture"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// logScanner reads session logs line by line for show and
// the deep search.
type logScanner struct{ capture *capture.Capture }

// logTexts reads the texts of a log for the deep search, redacted.
type logTexts struct {
	log    logScanner
	redact func(string) string
}

// ScanLines implements recall.LogScanner.
func (t logTexts) ScanLines(ctx context.Context, session string, from, to int, fn func(line int, text string) error) error {
	return t.log.scan(ctx, session, from, to, func(line int, b []byte) error {
		for _, block := range claude.Blocks(append(b, '\n'), line) {
			if block.Own {
				continue
			}
			if err := fn(line, t.redact(block.Text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// scan calls fn with each line in [from, to) without its newline; to 0 means
// the end. The bytes are valid during the call.
func (l logScanner) scan(ctx context.Context, session string, from, to int, fn func(line int, b []byte) error) error {
	log, err := l.capture.Open(session, 0)
	if err != nil {
		return err
	}
	defer log.Close() // opened for reading
	start, err := log.OffsetOfLine(ctx, from)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(log.NewSection(start, log.Position().Raw-start), 1<<20)
	for line := from; to == 0 || line < to; line++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		text, err := in.ReadBytes('\n')
		if len(text) > 0 {
			if err := fn(line, bytes.TrimSuffix(text, []byte{'\n'})); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read log of session %s: %w", session, err)
		}
	}
	return nil
}

// lines returns the raw lines [from, to) of a session's transcript.
func (l logScanner) lines(ctx context.Context, session string, from, to int) ([]byte, error) {
	var out bytes.Buffer
	err := l.scan(ctx, session, from, to, func(_ int, b []byte) error {
		out.Write(b)
		out.WriteByte('\n')
		return nil
	})
	return out.Bytes(), err
}

// maxMessages bounds in bytes how much of a transcript is read as a
// conversation: the newest part of it.
const maxMessages = 48 << 20

// messages returns what reads the conversation of a session's lines.
func (l logScanner) messages(session string) func(ctx context.Context, from, to int) ([]transcript.Message, error) {
	return func(ctx context.Context, from, to int) ([]transcript.Message, error) {
		raw, err := l.lines(ctx, session, from, to)
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
