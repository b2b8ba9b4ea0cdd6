// Package capture archives a client's transcripts: it appends new bytes to the
// session log first and indexes them afterwards.
//
// The cost of a capture depends on the number of new bytes. The end of the log is
// read from the log's last bytes, the end of the index from its cursor. So the next
// capture completes one that was killed, and a repeated capture changes nothing.
package capture

import (
	"cmp"
	"context"
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
	// takes every transcript that is no other's. None: only that one.
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
	entry, err := c.find(session, 0)
	if err != nil {
		return nil, err
	}
	return c.ClientOf(entry.Client).Common(), nil
}

// reader returns a reader of a session that starts at a cursor.
func (c *Capture) reader(base archive.Session, cur archive.Cursor) (transcript.Reader, error) {
	open := func(cur archive.Cursor) (transcript.Reader, error) {
		r, err := claude.NewReader(base, cur, c.Redact)
		if err != nil {
			return nil, err
		}
		r.Owns = c.Records.Owns
		return r, nil
	}
	if client := c.ClientOf(base.Client); client.New != nil {
		return transcript.NewTranslated(client.New(), cur, open)
	}
	return open(cur)
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
