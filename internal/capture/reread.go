package capture

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// ReadPassages reads the passages of the lines [from, to) of a session's log, as if the
// session began there: from is where a turn begins. Their texts, paths and kinds
// are those of the index; their places are not.
func (c *Capture) ReadPassages(ctx context.Context, session string, from, to int) ([]archive.Passage, error) {
	base, gen, _ := strings.Cut(session, "@")
	generation, err := strconv.Atoi(gen)
	if err != nil {
		generation = 0 // the newest
	}
	log, err := c.Open(base, generation)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	start, end, err := log.Stretch(ctx, from, to)
	if err != nil {
		return nil, err
	}
	lines := make([]byte, end-start, end-start+1)
	if _, err := log.ReadAt(lines, start); err != nil && err != io.EOF { //nolint:errorlint // ReadAt's own
		return nil, fmt.Errorf("read log of session %s: %w", session, err)
	}
	if n := len(lines); n > 0 && lines[n-1] != '\n' {
		lines = append(lines, '\n')
	}
	r, err := c.Client.Reader(c.base(log.Header(), session, sessionlog.Entry{Generation: generation}), archive.Cursor{Session: session, Line: from})
	if err != nil {
		return nil, err
	}
	known := func(context.Context, []uint64) (map[uint64]archive.Ref, error) { return nil, nil }
	batch, err := r.Read(ctx, lines, known)
	if err != nil {
		return nil, fmt.Errorf("read log of session %s: %w", session, err)
	}
	return batch.Passages, nil
}
