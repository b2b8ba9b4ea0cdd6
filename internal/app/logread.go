// Package logread reads what a handle names out of a session's log: whole lines,
// the texts of a turn or of a step, nothing cut. What it gives out is redacted.
package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/transcript/claude"
)

// Places is what this package asks an index: where a turn and its steps stand.
type Places interface {
	Turns(ctx context.Context, s archive.Span) ([]archive.Turn, error)
	Steps(ctx context.Context, s archive.Span) ([]archive.Step, error)
	Calls(ctx context.Context, s archive.CallSpan) ([]archive.Call, error)
}

// Reader reads the logs of one archive.
type Reader struct {
	Capture *capture.Capture
	// Redact replaces the secrets in a text.
	Redact func(string) string
}

// LogBlock is one piece of what was said or done, redacted.
type LogBlock = claude.Block

// Blocks returns what stands at a place: a session's whole text, a turn's or a
// step's. id is the session's full id.
func (r Reader) Blocks(ctx context.Context, index Places, id string, h archive.Handle) ([]LogBlock, error) {
	from, to, err := Lines(ctx, index, id, h)
	if err != nil {
		return nil, err
	}
	raw, err := r.Raw(ctx, id, from, to)
	if err != nil {
		return nil, err
	}
	blocks := claude.Blocks(raw, from)
	if h.Step >= 0 {
		if blocks, err = onlyStep(ctx, index, id, h, blocks); err != nil {
			return nil, err
		}
	}
	for i := range blocks {
		blocks[i].Text = r.Redact(blocks[i].Text)
	}
	return blocks, nil
}

// Spoken reports that a block is what a person reads a session for: said or
// done in it, rather than put beside it by the client or by Strandline.
func Spoken(b LogBlock) bool {
	return !b.Own && b.Kind != claude.BlockAttachment && b.Kind != claude.BlockOther && strings.TrimSpace(b.Text) != ""
}

// ScanLines implements recall.LogScanner: it calls fn with each redacted text in
// the lines [from, to); to 0 means the end.
func (r Reader) ScanLines(ctx context.Context, session string, from, to int, fn func(line int, text string) error) error {
	return r.Scan(ctx, session, from, to, func(line int, b []byte) error {
		for _, block := range claude.Blocks(append(b, '\n'), line) {
			if block.Own {
				continue
			}
			if err := fn(line, r.Redact(block.Text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Scan calls fn with each line in [from, to) as it stands in the transcript,
// without its newline and not redacted; to 0 means the end. The bytes are valid
// during the call.
func (r Reader) Scan(ctx context.Context, session string, from, to int, fn func(line int, b []byte) error) error {
	log, err := r.Capture.Open(session, 0)
	if err != nil {
		return err
	}
	defer log.Close() // opened for reading
	start, end, err := log.Stretch(ctx, from, to)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(log.NewSection(start, end-start), 1<<20)
	for line := from; ; line++ {
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
}

// Raw returns the lines [from, to) of a session's transcript as they are, not
// redacted; to 0 means the end.
func (r Reader) Raw(ctx context.Context, session string, from, to int) ([]byte, error) {
	var out bytes.Buffer
	err := r.Scan(ctx, session, from, to, func(_ int, b []byte) error {
		out.Write(b)
		out.WriteByte('\n')
		return nil
	})
	return out.Bytes(), err
}
