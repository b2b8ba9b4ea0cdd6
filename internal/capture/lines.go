package capture

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// maxLine is the maximum length of an indexed line. A longer line is logged and
// counted only. Memory depends on it: lines of 256 MB took 660 MB. The longest known
// line is less than a tenth of it.
const maxLine = 64 << 20

// lineReader splits a log into chunks of complete lines.
type lineReader struct {
	log    io.ReaderAt
	offset int64 // of the next chunk
	end    int64 // of the log when it was opened
	size   int64 // of a chunk; 0: readAheadBytes
}

// resume skips the rest of a line that was indexed before its newline was written.
func (l *lineReader) resume() error {
	if l.offset == 0 {
		return nil
	}
	var last [1]byte
	if _, err := l.log.ReadAt(last[:], l.offset-1); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	if last[0] == '\n' {
		return nil
	}
	return l.toNewline()
}

// toNewline moves the offset after the next newline, or to the end.
func (l *lineReader) toNewline() error {
	buf := make([]byte, 64<<10)
	for l.offset < l.end {
		n, err := l.log.ReadAt(buf[:min(int64(len(buf)), l.end-l.offset)], l.offset)
		if n == 0 {
			return fmt.Errorf("read log: %w", err)
		}
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			l.offset += int64(i) + 1
			return nil
		}
		l.offset += int64(n)
	}
	return nil
}

// next returns the next chunk of complete lines, which ends with a newline, and the
// offset after it. The chunk is empty if no line is complete. A last line without a
// newline is complete if it is a JSON object, as at the end of many transcripts.
func (l *lineReader) next() ([]byte, int64, error) {
	size := l.size
	if size == 0 {
		size = readAheadBytes
	}
	for {
		want := min(size, l.end-l.offset)
		if want <= 0 {
			return nil, l.offset, nil
		}
		// One more byte for the newline that the last line may lack.
		buf := make([]byte, want, want+1)
		if n, err := l.log.ReadAt(buf, l.offset); int64(n) < want {
			return nil, l.offset, fmt.Errorf("read log: %w", err)
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			l.offset += int64(i) + 1
			return buf[:i+1], l.offset, nil
		}
		if l.offset+want == l.end {
			if !isObject(buf) {
				return nil, l.offset, nil
			}
			l.offset = l.end
			return append(buf, '\n'), l.offset, nil
		}
		if size >= maxLine {
			return l.skipLine()
		}
		size *= 4
	}
}

// skipLine skips a line that is too long to index. It returns an empty line, so that
// the following lines keep their numbers.
func (l *lineReader) skipLine() ([]byte, int64, error) {
	start := l.offset
	if err := l.toNewline(); err != nil {
		return nil, start, err
	}
	if l.offset == l.end {
		l.offset = start // not complete
		return nil, l.offset, nil
	}
	return []byte{'\n'}, l.offset, nil
}

// isObject reports whether a line without a newline is one complete JSON object.
func isObject(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return false
	}
	return jsontext.Value(line).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Conversation returns the messages in the lines [from, to) of a session's
// transcript, in full and not redacted. A to of 0 is the end. Of more than maxBytes it
// reads the last part.
func (c *Capture) Conversation(ctx context.Context, session string, from, to int, maxBytes int64) ([]transcript.Message, error) {
	log, err := c.Open(session, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	raw, err := readLines(ctx, log, from, to, maxBytes)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	common, err := c.common(log)
	if err != nil {
		return nil, err
	}
	return claude.Conversation(common(raw), c.Records.Owns), nil
}

// ReadPassages reads the passages of the lines [from, to) of a session's log; from is
// the first line of a turn. Their texts, paths and kinds are those in the index; their
// positions are not.
func (c *Capture) ReadPassages(ctx context.Context, session string, from, to int) ([]archive.Passage, error) {
	log, err := c.Open(session, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	lines, err := readLines(ctx, log, from, to, log.Position().Raw)
	if err != nil {
		return nil, err
	}
	if n := len(lines); n > 0 && lines[n-1] != '\n' {
		lines = append(lines, '\n')
	}
	translator, err := c.translator(log)
	if err != nil {
		return nil, err
	}
	base := c.base(log.Header(), session, sessionlog.Entry{Generation: log.Header().Generation})
	r, err := c.reader(base, archive.Cursor{Session: session, Line: from}, translator)
	if err != nil {
		return nil, err
	}
	batch, err := r.Read(ctx, lines, nil)
	if err != nil {
		return nil, fmt.Errorf("read log of session %s: %w", session, err)
	}
	return batch.Passages, nil
}

// readLines returns the lines [from, to) of a log, or the last complete lines of them
// that fit into maxBytes.
func readLines(ctx context.Context, log *sessionlog.Reader, from, to int, maxBytes int64) ([]byte, error) {
	start, end, err := log.Range(ctx, from, to)
	if err != nil {
		return nil, err
	}
	truncated := end-start > maxBytes
	if truncated {
		start = end - maxBytes
	}
	raw := make([]byte, max(end-start, 0))
	if _, err := io.ReadFull(log.NewSection(start, end-start), raw); err != nil && len(raw) > 0 {
		return nil, fmt.Errorf("read log of session %s: %w", log.Header().Session, err)
	}
	if truncated { // within a line
		raw = raw[bytes.IndexByte(raw, '\n')+1:]
	}
	return raw, nil
}
