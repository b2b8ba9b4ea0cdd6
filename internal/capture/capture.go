// Package capture brings a client's transcript into the archive: its new bytes
// into the session log first, then what they mean into the index.
//
// The cost of a capture follows the new bytes. Where the log ends is read from
// the log's own last bytes, where the index ends from its cursor, so a capture
// that was killed anywhere is finished by the next one, and one that runs twice
// changes nothing twice.
package capture

import (
	"context"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/transcript"
)

// Index is what capture needs of a store.
type Index interface {
	Known(ctx context.Context, keys []uint64) (map[uint64]archive.Ref, error)
	Apply(ctx context.Context, b archive.Batch) error
	ApplyAll(ctx context.Context, bs []archive.Batch) error
	Cursor(ctx context.Context, session string) (archive.Cursor, error)
	Retire(ctx context.Context, session string, generation int) error
	ApplyJournal(ctx context.Context, entries []archive.JournalEntry, cursor []byte) error
	JournalCursor(ctx context.Context) ([]byte, error)
}

// Client is the reader of one client's files.
type Client struct {
	Name string // "claude"
	// Reader continues reading a session at a cursor.
	Reader func(base archive.Session, cur archive.Cursor) (transcript.Reader, error)
	// Peek reads the facts of a session from the first bytes of its transcript.
	Peek func(head []byte) Facts
	// Agent reads a sub-agent's description from the file the client keeps
	// beside its transcript.
	Agent func(meta []byte) archive.Agent
	// Rows calls fn with what identifies each complete line, the first of which has
	// number first.
	Rows func(chunk []byte, first int, fn func(transcript.Row))
	// ForgottenRow is a line of at most room bytes that stands for a turn, or a step, that
	// was forgotten, of which the first and the last row are given; "" fits nowhere.
	ForgottenRow func(step bool, first, last transcript.Row, room int) string
	// Slug is the client's name of the folder for a working directory.
	Slug func(cwd string) string
}

// Facts are what the head of a transcript tells about its session.
type Facts struct {
	Session string // the client's session id; the parent's in a sub-agent's file
	Agent   string // the sub-agent's id, empty in a main transcript
	Cwd     string
	First   time.Time
}

// Capture writes session logs and keeps an index in step with them.
type Capture struct {
	Layout  sessionlog.Layout
	Client  Client
	Project func(dir string) archive.Project
	Now     func() time.Time
	// MaxLog, if positive, is the number of new bytes that one call may log;
	// a file with more of them is left to a call without the limit.
	MaxLog int64
}

// Logged says what one call added to a session's log.
type Logged struct {
	Log        string // path of the log
	Session    string // archive session id ("<parent>~<agent>" for a sub-agent)
	Generation int
	Added      int64 // transcript bytes appended by this call
	Position   sessionlog.Position
	Deferred   bool // more new bytes than MaxLog, or a doubtful file: nothing was logged
	Rewritten  bool // the transcript no longer begins with what was logged: a new generation began

	header sessionlog.Header
	line   int     // of the first byte that was appended
	fresh  *memory // what was appended, where it was little
}

// readAheadBytes is how much of a transcript is held in memory at a time.
const readAheadBytes = 4 << 20
