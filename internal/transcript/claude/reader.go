package claude

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// Options adjust a Reader.
type Options struct {
	// Redact removes secrets. It is applied to every text before the text is cut
	// or excerpted. Nil leaves texts as they are.
	Redact func(string) string
}

// Reader folds one transcript. It is not safe for concurrent use.
type Reader struct {
	session archive.Session
	cursor  archive.Cursor
	opt     Options
}

// NewReader returns a reader of the session base, of which the caller knows ID,
// Client, Project, Parent, Relation and Agent; the reader fills in the rest. It
// goes on where cur says; an empty cur.State starts a transcript from its
// first line. A state that this version cannot read is an error with
// archive.CodeCorrupt.
func NewReader(base archive.Session, cur archive.Cursor, opt Options) (*Reader, error) {
	return &Reader{session: base, cursor: cur, opt: opt}, nil
}

var _ transcript.Reader = (*Reader)(nil)

// Read implements transcript.Reader.
func (r *Reader) Read(ctx context.Context, chunk []byte, lookup transcript.Lookup) (archive.Batch, error) {
	return archive.Batch{Session: r.session, Cursor: r.cursor}, nil
}
