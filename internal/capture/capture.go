// Package capture archives a client's transcripts: it appends new bytes to the
// session log first and indexes them afterwards.
//
// The cost of a capture depends on the number of new bytes. The end of the log is
// read from the log's last bytes, the end of the index from its cursor. So the next
// capture completes one that was killed, and a repeated capture changes nothing.
package capture

import (
	"context"
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

// Client reads the files of one client.
type Client struct {
	Name string // "claude"
	// Reader returns a reader of a session that starts at a cursor.
	Reader func(base archive.Session, cur archive.Cursor) (transcript.Reader, error)
	// Peek reads the facts about a session from the first bytes of its transcript.
	Peek func(head []byte) transcript.Facts
	// Agent parses a sub-agent's description, a file beside its transcript.
	Agent func(meta []byte) archive.Agent
	// Rows calls fn with the ids of each complete line. The first line has number
	// first.
	Rows func(chunk []byte, first int, fn func(transcript.Row))
	// ForgottenRow returns a line of at most maxBytes that replaces the rows first to
	// last of a forgotten turn or step; "" if nothing fits.
	ForgottenRow func(step bool, first, last transcript.Row, maxBytes int) string
	// Slug returns the client's folder name for a working directory.
	Slug func(cwd string) string
}

// ClaudeCode returns the reader of Claude Code's files. Redact removes secrets from
// every text; nil leaves texts unchanged. records recognizes Strandline's own texts; nil
// recognizes none.
func ClaudeCode(redact func(string) string, records *Records) Client {
	return Client{
		Name: "claude",
		Reader: func(base archive.Session, cur archive.Cursor) (transcript.Reader, error) {
			r, err := claude.NewReader(base, cur, redact)
			if err != nil {
				return nil, err
			}
			r.Owns = records.Owns
			return r, nil
		},
		Peek:         claude.Peek,
		Agent:        claude.AgentMeta,
		Rows:         claude.Rows,
		ForgottenRow: claude.ForgottenRow,
		Slug:         claude.Slug,
	}
}

// Capture writes session logs and updates an index from them.
type Capture struct {
	Layout  sessionlog.Layout
	Client  Client
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
