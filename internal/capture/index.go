package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Index indexes the bytes of a session's logs after the index's cursor, older
// generations first, in batches of a few megabytes. Each is one transaction.
func (c *Capture) Index(ctx context.Context, idx Index, session string) error {
	synced := false
	for range maxStale {
		err := c.indexInto(ctx, session, idx.Cursor, idx.Known, func(s step) error {
			if !synced { // a prompt leaves that to the process that indexes
				if err := c.syncLog(session); err != nil {
					return err
				}
				synced = true
			}
			if s.retire > 0 {
				return idx.Retire(ctx, session, s.retire)
			}
			return idx.Apply(ctx, s.batch)
		})
		if !errors.Is(err, archive.ErrStale) {
			if _, partly := errors.AsType[*partlyError](err); partly {
				return nil // Verify reports the damage
			}
			return err
		}
		// Another process advanced the cursor: continue from there.
	}
	return &archive.Error{Code: archive.CodeBusy, Msg: "other processes keep indexing session " + archive.ShortID(session), Hint: "try again in a moment"}
}

// maxStale is how often another process may be faster before a session is left to it.
const maxStale = 100

// syncLog makes the latest log of a session durable: the index is never newer.
func (c *Capture) syncLog(session string) error {
	logs, err := c.generations(session)
	if err != nil || len(logs) == 0 {
		return err
	}
	return sessionlog.Sync(logs[len(logs)-1].Path)
}

// partlyError reports a log of which everything but its damaged bytes was indexed.
type partlyError struct{ err error }

func (e *partlyError) Error() string { return e.err.Error() }
func (e *partlyError) Unwrap() error { return e.err }

// step is one change of the index: apply a batch or, if retire is positive, retire
// that generation of the session.
type step struct {
	batch   archive.Batch
	retire  int
	id      string        // session to retire
	wait    bool          // the reader waits until the step is written
	written chan struct{} // closed when it is written
}

type cursorFunc func(ctx context.Context, session string) (archive.Cursor, error)

// indexInto passes the steps that index a session's logs to do. The error is a partlyError
// if everything but damaged bytes was indexed.
func (c *Capture) indexInto(ctx context.Context, session string, cursor cursorFunc, known transcript.Lookup, do func(step) error) error {
	logs, err := c.generations(session)
	if err != nil {
		return fmt.Errorf("find logs of session %s: %w", session, err)
	}
	cur, err := cursor(ctx, session)
	if err != nil {
		return fmt.Errorf("index session %s: %w", session, err)
	}
	var partly error
	for i, entry := range logs {
		if entry.Generation < cur.Generation {
			continue
		}
		if cur.Generation != 0 && entry.Generation > cur.Generation {
			if err := do(step{retire: cur.Generation, id: session}); err != nil {
				return fmt.Errorf("retire generation %d of session %s: %w", cur.Generation, session, err)
			}
			cur = archive.Cursor{}
		}
		if cur.Generation == 0 {
			cur = archive.Cursor{Session: session, Generation: entry.Generation}
		}
		next, err := c.indexLog(ctx, entry, session, cur, known, do)
		cur = next
		if _, ok := errors.AsType[*partlyError](err); ok || i < len(logs)-1 && archive.ErrorCode(err) == archive.CodeCorrupt {
			partly = errors.Join(partly, &partlyError{err}) // a later generation may be intact
		} else if err != nil {
			return fmt.Errorf("index session %s: %w", session, err)
		}
	}
	if partly != nil {
		return fmt.Errorf("index session %s: %w", session, partly)
	}
	return nil
}

// indexLog indexes one generation from its cursor and returns the new cursor.
func (c *Capture) indexLog(ctx context.Context, entry sessionlog.Entry, session string, cur archive.Cursor, known transcript.Lookup, do func(step) error) (archive.Cursor, error) {
	log, err := sessionlog.OpenReader(entry.Path)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return cur, nil // the first capture was killed before it wrote a byte
	}
	if err != nil {
		return cur, err
	}
	defer log.Close()
	if log.Position().Raw <= cur.Offset {
		return cur, nil
	}
	h, err := c.headerOf(log, entry)
	if err == nil {
		cur, err = c.indexLines(ctx, log, log.Position().Raw, c.base(h, session, entry), cur, known, do)
	}
	if damage := log.Damage(); err == nil && damage != nil {
		err = &partlyError{damage}
	}
	return cur, err
}

// headerOf returns a log's header. One that is damaged is made from the transcript.
func (c *Capture) headerOf(log *sessionlog.Reader, entry sessionlog.Entry) (sessionlog.Header, error) {
	h := log.Header()
	if h.Session != "" {
		return h, nil
	}
	err := c.lostHeader(&h, log, entry)
	return h, err
}

// lostHeader sets the facts of a log whose header is damaged.
func (c *Capture) lostHeader(h *sessionlog.Header, text io.ReaderAt, entry sessionlog.Entry) error {
	*h = sessionlog.Header{Client: entry.Client, Session: entry.Session, Slug: entry.Slug, Generation: entry.Generation}
	return c.describe(h, Source{Client: entry.Client, Session: entry.Session, Rel: entry.Rel}, text)
}

// indexFresh indexes the bytes that were just logged from memory. It reports false
// if older bytes are not indexed either.
func (c *Capture) indexFresh(ctx context.Context, idx Index, l Logged) (bool, error) {
	if l.fresh == nil {
		return false, nil
	}
	cur, err := idx.Cursor(ctx, l.Session)
	if err != nil {
		return false, fmt.Errorf("index session %s: %w", l.Session, err)
	}
	if cur.Generation == 0 && l.Generation == 1 {
		cur = archive.Cursor{Session: l.Session, Generation: 1}
	}
	if cur.Generation == l.Generation && cur.Offset >= l.Position.Raw {
		return true, nil // lost the race
	}
	// lineReader.resume reads the byte before the cursor.
	if cur.Generation != l.Generation || cur.Offset < l.fresh.at || cur.Offset == l.fresh.at && cur.Offset > 0 {
		return false, nil
	}
	base := c.base(l.header, l.Session, sessionlog.Entry{})
	base.Generation = l.Generation
	if base.Relation == archive.RelationAgent {
		return false, nil // its description is in another log
	}
	_, err = c.indexLines(ctx, l.fresh, l.Position.Raw, base, cur, idx.Known, func(s step) error { return idx.Apply(ctx, s.batch) })
	if err != nil {
		return false, fmt.Errorf("index session %s: %w", l.Session, err)
	}
	return true, nil
}

// indexLines indexes the lines of a transcript from a cursor to an end.
func (c *Capture) indexLines(ctx context.Context, log io.ReaderAt, end int64, base archive.Session, cur archive.Cursor, known transcript.Lookup, do func(step) error) (archive.Cursor, error) {
	reader, err := c.reader(base, cur, nil)
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

// markFork makes a session with copies of another session's rows a fork of it.
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

// base returns the facts about a session that are known before its first row.
func (c *Capture) base(h sessionlog.Header, session string, entry sessionlog.Entry) archive.Session {
	s := archive.Session{ID: session, Client: h.Client, Project: h.Project, Cwd: h.Cwd, Generation: entry.Generation}
	if h.Agent != "" {
		s.Parent, s.Relation = h.Session, archive.RelationAgent
		s.Agent = c.agent(entry)
		s.Agent.ID = h.Agent
	}
	return s
}

// agent reads a sub-agent's description, which the client stores beside its
// transcript. It is empty if it was not logged or cannot be read.
func (c *Capture) agent(entry sessionlog.Entry) archive.Agent {
	rel, ok := strings.CutSuffix(entry.Rel, TranscriptExt)
	if !ok {
		return archive.Agent{}
	}
	meta := c.Layout.FindChild(entry.Client, entry.Slug, entry.Session, rel+".meta.json")
	if len(meta) == 0 {
		return archive.Agent{}
	}
	r, err := sessionlog.OpenReader(meta[len(meta)-1].Path)
	if err != nil {
		return archive.Agent{}
	}
	defer r.Close()
	text, err := io.ReadAll(r.NewSection(0, min(r.Position().Raw, 64<<10)))
	if err != nil {
		return archive.Agent{}
	}
	return claude.AgentMeta(text)
}
