package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
)

// maxLine is the longest line that is indexed. A longer one stays in the log
// and counts as a line. No client was seen to write a tenth of it, and memory
// follows it: reading lines of 256 MB took 660 MB.
const maxLine = 64 << 20

// Index reads what the logs of a session hold behind the index's cursor, older
// generations first, and applies it in batches of a few megabytes, each in a
// transaction of its own.
func (c *Capture) Index(ctx context.Context, idx Index, session string) error {
	for {
		err := c.indexOnce(ctx, idx, session)
		if !errors.Is(err, archive.ErrStale) {
			return err
		}
		// Another process indexed the same session; it has gone further, so
		// this ends.
	}
}

func (c *Capture) indexOnce(ctx context.Context, idx Index, session string) error {
	return c.indexInto(ctx, session, idx.Cursor, idx.Known, func(s step) error {
		if s.retire > 0 {
			return idx.Retire(ctx, session, s.retire)
		}
		return idx.Apply(ctx, s.batch)
	})
}

// step is one thing to do to the index: apply a batch; where retire is positive,
// set that generation of the session aside.
type step struct {
	batch   archive.Batch
	retire  int
	id      string        // session to retire
	wait    bool          // the reader goes on only when this is written
	written chan struct{} // closed when it is
}

type cursorFunc func(ctx context.Context, session string) (archive.Cursor, error)

// indexInto produces the steps that bring a session's rows up to its logs.
func (c *Capture) indexInto(ctx context.Context, session string, cursor cursorFunc, known transcript.Lookup, do func(step) error) error {
	logs, err := c.generations(session)
	if err != nil {
		return fmt.Errorf("find logs of session %s: %w", session, err)
	}
	cur, err := cursor(ctx, session)
	if err != nil {
		return fmt.Errorf("index session %s: %w", session, err)
	}
	for _, entry := range logs {
		if entry.Generation < cur.Generation {
			continue
		}
		if cur.Generation != 0 && entry.Generation > cur.Generation {
			if err := do(step{retire: cur.Generation, id: session}); err != nil {
				return fmt.Errorf("set aside generation %d of session %s: %w", cur.Generation, session, err)
			}
			cur = archive.Cursor{}
		}
		if cur.Generation == 0 {
			cur = archive.Cursor{Session: session, Generation: entry.Generation}
		}
		if cur, err = c.indexLog(ctx, entry, session, cur, known, do); err != nil {
			return fmt.Errorf("index session %s: %w", session, err)
		}
	}
	return nil
}

// indexLog indexes one generation from its cursor and returns the new cursor.
func (c *Capture) indexLog(ctx context.Context, entry sessionlog.Entry, session string, cur archive.Cursor, known transcript.Lookup, do func(step) error) (archive.Cursor, error) {
	log, err := sessionlog.OpenReader(entry.Path)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return cur, nil // its first capture was killed before it wrote a byte
	}
	if err != nil {
		return cur, err
	}
	defer log.Close()
	if log.Position().Raw <= cur.Offset {
		return cur, nil
	}
	return c.indexLines(ctx, log, log.Position().Raw, c.base(log.Header(), session, entry), cur, known, do)
}

// indexFresh indexes what was logged a moment ago from memory. It reports false
// when the index is further behind than that.
func (c *Capture) indexFresh(ctx context.Context, idx Index, t LoggedSession) (bool, error) {
	l := t.logged
	if l.fresh == nil {
		return false, nil
	}
	cur, err := idx.Cursor(ctx, t.Session)
	if err != nil {
		return false, fmt.Errorf("index session %s: %w", t.Session, err)
	}
	if cur.Generation == 0 && l.Generation == 1 {
		cur = archive.Cursor{Session: t.Session, Generation: 1}
	}
	if cur.Generation == l.Generation && cur.Offset >= l.Position.Raw {
		return true, nil // another process was faster
	}
	// The byte before the cursor says whether it stands behind a newline.
	if cur.Generation != l.Generation || cur.Offset < l.fresh.at || cur.Offset == l.fresh.at && cur.Offset > 0 {
		return false, nil
	}
	base := c.base(l.header, t.Session, sessionlog.Entry{})
	base.Generation = l.Generation
	if base.Relation == archive.RelationAgent {
		return false, nil // its description is read from beside the log
	}
	_, err = c.indexLines(ctx, l.fresh, l.Position.Raw, base, cur, idx.Known, func(s step) error { return idx.Apply(ctx, s.batch) })
	if err != nil {
		return false, fmt.Errorf("index session %s: %w", t.Session, err)
	}
	return true, nil
}

// indexLines reads the lines of a transcript from a cursor up to an end.
func (c *Capture) indexLines(ctx context.Context, log io.ReaderAt, end int64, base archive.Session, cur archive.Cursor, known transcript.Lookup, do func(step) error) (archive.Cursor, error) {
	reader, err := c.Client.Reader(base, cur)
	if err != nil {
		return cur, err
	}
	lines := &lineReader{log: log, offset: cur.Offset, end: end}
	if err := lines.resume(); err != nil {
		return cur, err
	}
	for {
		if err := context.Cause(ctx); err != nil {
			return cur, err
		}
		chunk, offset, err := lines.next()
		if err != nil || len(chunk) == 0 {
			return cur, err
		}
		batch, err := reader.Read(ctx, chunk, known)
		if err != nil {
			return cur, err
		}
		batch.From = cur.Offset
		markFork(&batch)
		batch.Cursor.Session, batch.Cursor.Generation, batch.Cursor.Offset = base.ID, base.Generation, offset
		batch.Session.Bytes = offset
		if err := do(step{batch: batch, id: base.ID}); err != nil {
			return cur, err
		}
		cur = batch.Cursor
	}
}

// markFork makes a session that copied another's rows a fork of it.
func markFork(b *archive.Batch) {
	if b.Session.Parent != "" {
		return
	}
	for _, t := range b.Turns {
		if t.Copy == nil {
			continue
		}
		owner, _, _ := strings.Cut(t.Copy.Session, "@")
		if owner != b.Session.ID {
			b.Session.Parent, b.Session.Relation = t.Copy.Session, archive.RelationFork
			return
		}
	}
}

// base is what is known of a session before its first row is read.
func (c *Capture) base(h sessionlog.Header, session string, entry sessionlog.Entry) archive.Session {
	s := archive.Session{
		ID: session, Client: h.Client, Project: h.Project, Cwd: h.Cwd, Generation: entry.Generation,
	}
	if h.Agent != "" {
		s.Parent, s.Relation = h.Session, archive.RelationAgent
		s.Agent = c.agent(entry)
		s.Agent.ID = h.Agent
	}
	return s
}

// agent reads the description that the client keeps beside a sub-agent's
// transcript, where it was logged.
func (c *Capture) agent(entry sessionlog.Entry) archive.Agent {
	rel, ok := strings.CutSuffix(entry.Rel, transcriptExt)
	if !ok || c.Client.Agent == nil {
		return archive.Agent{}
	}
	meta, err := c.children(entry.Slug, entry.Session, rel+".meta.json")
	if err != nil || len(meta) == 0 {
		return archive.Agent{}
	}
	r, err := sessionlog.OpenReader(meta[len(meta)-1].Path)
	if err != nil {
		return archive.Agent{} // the description is a nicety; the run is indexed without it
	}
	defer r.Close()
	text, err := io.ReadAll(r.NewSection(0, min(r.Position().Raw, 64<<10)))
	if err != nil {
		return archive.Agent{}
	}
	return c.Client.Agent(text)
}

// lineReader cuts a log into chunks of whole lines.
type lineReader struct {
	log    io.ReaderAt
	offset int64 // of the next chunk
	end    int64 // of the log when it was opened
	size   int64 // of a chunk, 0 for readAheadBytes
}

// resume steps over the rest of a line whose object was indexed before its
// newline had been written.
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

// toNewline moves the offset behind the next newline, or to the end.
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

// next returns the following chunk of complete lines, ending with a newline, and
// the offset behind it; an empty chunk when none is complete. A last line
// without newline counts as complete when it is a whole JSON object: many
// transcripts end so.
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
		// One byte of room for the newline that an unfinished line may lack.
		buf := make([]byte, want, want+1)
		if n, err := l.log.ReadAt(buf, l.offset); int64(n) < want {
			return nil, l.offset, fmt.Errorf("read log: %w", err)
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			l.offset += int64(i) + 1
			return buf[:i+1], l.offset, nil
		}
		if l.offset+want == l.end {
			if !wholeObject(buf) {
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

// skipLine steps over a line that is too long to index; an empty line stands
// for it, so that the lines behind keep their numbers.
func (l *lineReader) skipLine() ([]byte, int64, error) {
	start := l.offset
	if err := l.toNewline(); err != nil {
		return nil, start, err
	}
	if l.offset == l.end {
		l.offset = start // not complete yet
		return nil, l.offset, nil
	}
	return []byte{'\n'}, l.offset, nil
}

// wholeObject reports whether a line without newline is one complete JSON
// object.
func wholeObject(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r")
	if len(line) < 2 || line[0] != '{' || line[len(line)-1] != '}' {
		return false
	}
	return jsontext.Value(line).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}
