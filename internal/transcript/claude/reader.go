package claude

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// Reader folds one transcript. It is not safe for concurrent use. After an error
// it must not be used again: create a new one from the last cursor.
type Reader struct {
	// Owns recognizes Strandline's records; nil recognizes none. It is set before the
	// first Read.
	Owns transcript.Owns

	base   archive.Session
	cursor archive.Cursor
	redact func(string) string
	scan   *scanner
	state  state

	// Valid during one Read.
	out   archive.Batch
	known map[uint64]archive.Ref // identities that the store or this read knows
}

var _ transcript.Reader = (*Reader)(nil)

// NewReader returns a reader of a session. The caller sets base's ID, Client,
// Project, Parent, Relation and Agent; the reader sets the other fields. It
// continues at cur, or starts at the first line if cur.State is empty. A state
// that this version cannot read gives an error with archive.CodeCorrupt; the
// caller then starts at the first line.
//
// redact removes secrets. It is applied to every text before the text is truncated.
// Nil leaves texts unchanged.
func NewReader(base archive.Session, cur archive.Cursor, redact func(string) string) (*Reader, error) {
	r := &Reader{base: base, cursor: cur, redact: redact, scan: newScanner()}
	if r.redact == nil {
		r.redact = func(s string) string { return s }
	}
	a := &r.base.Agent // text of the model, from beside the transcript
	a.Type, a.Description = r.redact(a.Type), r.redact(a.Description)
	if cur.Session == "" {
		r.cursor.Session = base.ID
	}
	if len(cur.State) == 0 {
		r.cursor.Offset, r.cursor.Line = 0, 0
		return r, nil
	}
	if !r.state.decode(cur.State) {
		return nil, &archive.Error{
			Code: archive.CodeCorrupt,
			Msg:  fmt.Sprintf("the reading position of session %s is invalid", archive.ShortID(base.ID)),
			Hint: "run strandline reindex",
		}
	}
	return r, nil
}

// Read implements transcript.Reader. The bytes after the chunk's last newline are
// left for the next call; the cursor ends before them. It calls lookup at most
// once; lookup may be nil.
func (r *Reader) Read(ctx context.Context, chunk []byte, lookup transcript.Lookup) (archive.Batch, error) {
	chunk = chunk[:bytes.LastIndexByte(chunk, '\n')+1]
	r.scan.scan(chunk, r.cursor.Line)
	if err := r.begin(ctx, lookup); err != nil {
		return archive.Batch{}, err
	}
	for i := range r.scan.rows {
		if ctx.Err() != nil { // one row may hold megabytes
			return archive.Batch{}, context.Cause(ctx)
		}
		r.fold(&r.scan.rows[i])
	}
	r.cursor.Offset += int64(len(chunk))
	r.cursor.Line += bytes.Count(chunk, []byte("\n"))
	return r.end(), nil
}

// begin classifies the rows and looks up their identities.
func (r *Reader) begin(ctx context.Context, lookup transcript.Lookup) error {
	r.out = archive.Batch{From: r.cursor.Offset}
	for i := range r.state.pending {
		r.state.pending[i].batchCall, r.state.pending[i].batchPassage = -1, -1
	}
	keys := r.identify(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.known = make(map[uint64]archive.Ref, len(keys))
	if lookup == nil || len(keys) == 0 {
		return nil
	}
	found, err := lookup(ctx, keys)
	if err != nil {
		return fmt.Errorf("look up identities: %w", err)
	}
	maps.Copy(r.known, found)
	return nil
}

// end emits the rows that may still change, and the cursor.
func (r *Reader) end() archive.Batch {
	for i := range r.state.steps {
		r.emitStep(&r.state.steps[i])
	}
	if r.state.turn.open && len(r.scan.rows) > 0 {
		r.emitTurn()
	}
	for i := range r.out.Turns {
		r.out.Turns[i].Dead = slices.Contains(r.out.DeadTurns, r.out.Turns[i].Index)
	}
	r.state.recent = keepLast(r.state.recent, maxRecent)
	r.out.Session = r.session()
	r.cursor.State = r.state.encode()
	r.out.Cursor = r.cursor
	out := r.out
	r.out, r.known = archive.Batch{}, nil
	r.scan.release()
	return out
}

// session returns the session with the facts known so far.
func (r *Reader) session() archive.Session {
	s, b := r.state.facts, &r.base
	s.ID, s.Client, s.Project, s.Parent, s.Relation, s.Agent = b.ID, b.Client, b.Project, b.Parent, b.Relation, b.Agent
	s.Generation = max(r.cursor.Generation, 1)
	s.Bytes, s.Lines = r.cursor.Offset, r.cursor.Line
	return s
}

// clean returns text without the client's own parts and without secrets.
func (r *Reader) clean(text string) string { return r.redact(clean(text)) }
