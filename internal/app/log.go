package app

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Blocks returns the redacted blocks of a session, a turn or a step. id is the
// session's full ID.
func (w Workspace) Blocks(ctx context.Context, index compact.Source, id string, h archive.Handle) ([]Block, error) {
	from, to, err := lineRange(ctx, index, id, h)
	if err != nil {
		return nil, err
	}
	raw, err := w.Raw(ctx, id, from, to)
	if err != nil {
		return nil, err
	}
	skip := map[string]bool{}
	if h.Step >= 0 { // parallel calls are written interleaved: skip those of other steps
		calls, err := index.Calls(ctx, archive.CallSpan{Span: archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1}})
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			skip[c.ToolID] = c.Step != h.Step
		}
	}
	var out []Block
	common, err := w.Capture.Common(id)
	if err != nil {
		return nil, err
	}
	for _, b := range (&claude.BlockReader{Owns: w.Capture.Records.Owns}).Blocks(common(raw), from) {
		if b.ToolID == "" || !skip[b.ToolID] {
			out = append(out, w.redacted(b))
		}
	}
	return out, nil
}

// redacted redacts a block and describes its changes.
func (w Workspace) redacted(b Block) Block {
	b.Name, b.Text, b.Path = w.Redact(b.Name), w.Redact(b.Text), w.Redact(b.Path)
	if len(b.Changes) > 0 {
		b.Changes = archive.Convert(b.Changes, func(c transcript.Change) transcript.Change {
			return transcript.Change{Old: w.Redact(c.Old), New: w.Redact(c.New), All: c.All}
		})
		b.Diff, b.Added, b.Removed = unified(b.Path, b.Changes)
	}
	return b
}

// ScanLines implements recall.LogScanner: it calls fn with each redacted text in
// the lines [from, to) that want accepts; nil accepts all. A to of 0 means the end.
func (w Workspace) ScanLines(ctx context.Context, session string, from, to int, want func(string) bool, fn func(line int, text string) error) error {
	reader := claude.BlockReader{Owns: w.Capture.Records.Owns}
	common, err := w.Capture.Common(session)
	if err != nil {
		return err
	}
	return w.Scan(ctx, session, from, to, func(line int, b []byte) error {
		for _, block := range reader.Blocks(common(append(b, '\n')), line) {
			if block.Own || want != nil && !want(block.Text) {
				continue
			}
			if err := fn(line, w.Redact(block.Text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Scan calls fn with each line in [from, to) of the transcript, without its newline
// and not redacted. A to of 0 means the end. The bytes are valid during the call.
func (w Workspace) Scan(ctx context.Context, session string, from, to int, fn func(line int, b []byte) error) error {
	log, err := w.Capture.Open(session, 0)
	if err != nil {
		return err
	}
	defer log.Close() // opened for reading
	start, end, err := log.Range(ctx, from, to)
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

// Raw returns the lines [from, to) of a transcript, not redacted. A to of 0 means
// the end.
func (w Workspace) Raw(ctx context.Context, session string, from, to int) ([]byte, error) {
	log, err := w.Capture.Open(session, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close() // opened for reading
	start, end, err := log.Range(ctx, from, to)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, end-start, end-start+1)
	if _, err := io.ReadFull(log.NewSection(start, end-start), raw); err != nil && len(raw) > 0 {
		return nil, fmt.Errorf("read log of session %s: %w", session, err)
	}
	if n := len(raw); n > 0 && raw[n-1] != '\n' {
		raw = append(raw, '\n')
	}
	return raw, nil
}

// Lines calls fn with some lines of a transcript, given in ascending order. It opens the
// log once and decompresses only the frames that hold them.
func (w Workspace) Lines(ctx context.Context, session string, lines []int, fn func(line int, b []byte)) error {
	if len(lines) == 0 {
		return nil
	}
	log, err := w.Capture.Open(session, 0)
	if err != nil {
		return err
	}
	defer log.Close() // opened for reading
	for _, line := range lines {
		start, end, err := log.Range(ctx, line, line+1)
		if err != nil {
			return err
		}
		raw := make([]byte, end-start)
		if _, err := io.ReadFull(log.NewSection(start, end-start), raw); err != nil && len(raw) > 0 {
			return fmt.Errorf("read log of session %s: %w", session, err)
		}
		fn(line, raw)
	}
	return nil
}

// lineRange returns the transcript lines [from, to) of a turn or a step; 0, 0 for a
// whole session. A place that does not exist is an *archive.Error with CodeNotFound.
func lineRange(ctx context.Context, index compact.Source, id string, h archive.Handle) (from, to int, err error) {
	if h.Turn < 0 {
		return 0, 0, nil
	}
	span := archive.Span{Session: id, TurnFrom: h.Turn, TurnTo: h.Turn + 1}
	turns, err := index.Turns(ctx, span)
	if err != nil {
		return 0, 0, err
	}
	if len(turns) == 0 {
		return 0, 0, archive.NotFound(fmt.Sprintf("session %s has no turn %d", archive.ShortID(id), h.Turn),
			"`strandline show "+archive.ShortID(id)+"` lists its turns")
	}
	if h.Step < 0 {
		return turns[0].LineFrom, turns[0].LineTo, nil
	}
	steps, err := index.Steps(ctx, span)
	if err != nil {
		return 0, 0, err
	}
	for _, st := range steps {
		if st.Index == h.Step {
			return st.LineFrom, st.LineTo, nil
		}
	}
	return 0, 0, archive.NotFound(fmt.Sprintf("turn %d has no step %d", h.Turn, h.Step),
		fmt.Sprintf("`strandline show %s/%d` prints the turn with its %d steps", archive.ShortID(id), h.Turn, len(steps)))
}
