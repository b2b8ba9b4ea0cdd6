// Package capture archives a client's transcripts: it appends new bytes to the
// session log first and indexes them afterwards.
//
// The cost of a capture depends on the number of new bytes. The end of the log is
// read from the log's last bytes, the end of the index from its cursor. So the next
// capture completes one that was killed, and a repeated capture changes nothing.
package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// Index is the part of a store that capture uses.
type Index interface {
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Apply(ctx context.Context, b archive.Batch) error
	ApplyAll(ctx context.Context, bs []archive.Batch) error
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
	Retire(ctx context.Context, session string, generation int) error
	ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error
	JournalCursor(ctx context.Context) ([]byte, error)
}

// Capture writes session logs and updates an index from them.
type Capture struct {
	Layout sessionlog.Layout
	// Clients are the known clients. The one whose rows are in the common form is last: it
	// takes every transcript that no other one takes. None: only that one.
	Clients []transcript.Client
	// Redact removes secrets from every text; nil leaves texts unchanged.
	Redact  func(string) string
	Project func(dir string) archive.Project
	Now     func() time.Time
	// Records signs and recognizes the texts that Strandline injects. Nil signs and
	// recognizes none.
	Records *Records
	// MaxLog, if positive, is the largest number of new bytes that one call logs. A
	// file with more is deferred to a call without the limit.
	MaxLog int64
	// Haste is how logs are appended to. Index syncs bytes that were left unsynced before
	// it indexes them.
	Haste sessionlog.Haste

	list *listing // nil: each session's logs are looked up
}

// Known returns the known clients.
func (c *Capture) Known() []transcript.Client {
	if len(c.Clients) == 0 {
		return []transcript.Client{claude.Client()}
	}
	return c.Clients
}

// ClientOf returns the client with a name; "" is the one in the common form.
func (c *Capture) ClientOf(name string) transcript.Client {
	return transcript.Named(c.Known(), cmp.Or(name, claude.Name))
}

// Only returns a capture of the clients with the given names.
func (c *Capture) Only(names ...string) *Capture {
	out := *c
	out.Clients = archive.Select(c.Known(), func(x transcript.Client) bool { return slices.Contains(names, x.Name) })
	return &out
}

// Common returns a function that translates chunks of a session's transcript, in their
// order, to the common form of rows.
func (c *Capture) Common(session string) (func(chunk []byte) []byte, error) {
	log, err := c.Open(session, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	return c.common(log)
}

func (c *Capture) common(log *sessionlog.Reader) (func(chunk []byte) []byte, error) {
	lines, err := c.translator(log)
	if lines == nil || err != nil {
		return func(chunk []byte) []byte { return chunk }, err
	}
	return func(chunk []byte) []byte { return transcript.Translate(lines, chunk) }, nil
}

// translator returns a translator for a part of a log, nil if the rows are in the common
// form. It has read the first rows, which hold what later ones refer to.
func (c *Capture) translator(log *sessionlog.Reader) (transcript.Translator, error) {
	client := c.ClientOf(log.Header().Client)
	if client.New == nil {
		return nil, nil
	}
	lines, head := client.New(), make([]byte, peekBytes)
	n, err := log.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read log of session %s: %w", log.Header().Session, err)
	}
	end := bytes.IndexByte(head[min(firstPeek, n):n], '\n')
	if head = head[:n]; end >= 0 {
		head = head[:firstPeek+end]
	}
	transcript.Translate(lines, head)
	if p, ok := lines.(transcript.Primed); ok {
		p.Primed()
	}
	return lines, nil
}

// reader returns a reader of a session that starts at a cursor. lines is a translator for
// a cursor without a state; nil is that of the session's client.
func (c *Capture) reader(base archive.Session, cur archive.Cursor, lines transcript.Translator) (transcript.Reader, error) {
	open := func(cur archive.Cursor) (transcript.Reader, error) {
		r, err := claude.NewReader(base, cur, c.Redact)
		if err != nil {
			return nil, err
		}
		r.Owns = c.Records.Owns
		return r, nil
	}
	client := c.ClientOf(base.Client)
	if client.New == nil {
		return open(cur)
	}
	if lines == nil {
		lines = client.New()
	}
	return transcript.NewTranslated(lines, cur, open)
}

// Logged is the result of logging one file.
type Logged struct {
	Log        string // path of the log
	Session    string // archive session id ("<parent>~<agent>" for a sub-agent)
	Generation int
	Added      int64 // transcript bytes appended by this call
	Position   sessionlog.Position
	Deferred   bool // nothing was logged: more new bytes than MaxLog, or a file to compare first
	Rewritten  bool // the transcript does not continue its log: a new generation began

	header  sessionlog.Header
	line    int     // of the first appended byte
	damaged bool    // the end of the log
	fresh   *memory // the appended bytes, if they are few
}

// readAheadBytes is the part of a transcript that is held in memory at a time.
const readAheadBytes = 4 << 20
