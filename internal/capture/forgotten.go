package capture

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// ForgottenSessions stores the sessions that were deleted for good, one small file
// each, so that a hook needs one file lookup. A lost file is rebuilt from the journal.
// Dir is "<archive>/forgotten".
type ForgottenSessions struct{ Dir string }

// Forgotten returns the sessions that this archive must not capture again.
func (c *Capture) Forgotten() ForgottenSessions {
	return ForgottenSessions{Dir: filepath.Join(c.Layout.Root, "forgotten")}
}

func (f ForgottenSessions) store() state.Store { return state.Store{Dir: f.Dir} }

// The contents of a file of ForgottenSessions.
const (
	forgetBegun = "begun\n"
	forgetDone  = "done\n"
)

// Has reports whether a session, or the parent of a sub-agent's session or of an
// older generation, was forgotten.
func (f ForgottenSessions) Has(session string) bool { return f.store().Has(archive.Owner(session)) }

// Begin records that a session is being deleted. It is not captured any more.
func (f ForgottenSessions) Begin(session string) error { return f.write(session, forgetBegun) }

// Done records that a session is deleted completely.
func (f ForgottenSessions) Done(session string) error { return f.write(session, forgetDone) }

// List returns the forgotten sessions. The value is true while the deletion is
// unfinished.
func (f ForgottenSessions) List() (sessions map[string]bool, err error) {
	names, err := f.store().Names(time.Time{})
	sessions = map[string]bool{}
	for _, name := range names {
		data, err := f.store().Read(name)
		if err != nil {
			return nil, fmt.Errorf("list forgotten sessions: %w", err)
		}
		sessions[name] = string(data) != forgetDone
	}
	return sessions, err
}

func (f ForgottenSessions) write(session, content string) error {
	return f.store().Write(archive.Owner(session), []byte(content))
}

// ForgottenParts stores the turns and steps that were deleted for good, one small
// file per session. A lost file is rebuilt from the journal.
// Dir is "<archive>/forgotten-parts".
type ForgottenParts struct{ Dir string }

// ForgottenParts returns the turns and steps that this archive must not capture again.
func (c *Capture) ForgottenParts() ForgottenParts {
	return ForgottenParts{Dir: filepath.Join(c.Layout.Root, "forgotten-parts")}
}

func (p ForgottenParts) store() state.Store { return state.Store{Dir: p.Dir, Sync: true} }

// SessionParts are the forgotten parts of a session.
type SessionParts struct {
	Open  bool           `json:"open"` // the deletion is unfinished
	Parts []archive.Part `json:"parts"`
	// Samples are texts of the parts, by which the journal's entries to delete are
	// found while the deletion is unfinished.
	Samples []string `json:"samples,omitempty"`
}

// Has reports whether a part is among them.
func (of SessionParts) Has(part archive.Part) bool {
	return slices.ContainsFunc(of.Parts, func(p archive.Part) bool { return p.Salt == part.Salt })
}

// Of returns the parts of a session, or of the session that a sub-agent or an older
// generation belongs to.
func (p ForgottenParts) Of(session string) (of SessionParts, err error) {
	err = p.store().ReadJSON(archive.Owner(session), &of)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return of, fmt.Errorf("read the forgotten parts of session %s: %w", archive.ShortID(session), err)
	}
	return of, nil
}

// Sessions lists the sessions that have forgotten parts.
func (p ForgottenParts) Sessions() ([]string, error) { return p.store().Names(time.Time{}) }

// Set replaces the parts of a session.
func (p ForgottenParts) Set(session string, of SessionParts) error {
	return p.store().WriteJSON(session, of)
}

// rowKeys returns keys by the ids of a row. A copy that a compaction made has another
// uuid, but the same response id, call ids, or time of the prompt.
func rowKeys(r transcript.Row) (keys []string) {
	if r.UUID != "" {
		keys = append(keys, "row:"+r.UUID)
	}
	if r.MessageID != "" {
		keys = append(keys, "response:"+r.MessageID)
	}
	for _, id := range r.Results {
		keys = append(keys, "result:"+id)
	}
	if r.Prompt && !r.Time.IsZero() {
		keys = append(keys, "prompt:"+r.Time.UTC().Format(time.RFC3339Nano))
	}
	return keys
}

// LineKeys returns the keys that identify a line in any copy of the transcript: the
// ids of its row, or a salted hash if it has none.
func LineKeys(r transcript.Row, line []byte, salt string) []string {
	if keys := rowKeys(r); len(keys) > 0 {
		return keys
	}
	sum := sha256.Sum256(append([]byte(salt), line...))
	return []string{"line:" + hex.EncodeToString(sum[:16])}
}

// HeadKey returns the key of a part's first row: the response of a step or, for a
// turn, the key that is most likely the same in a copy.
func HeadKey(r transcript.Row, step bool, line []byte, salt string) string {
	if step && r.MessageID != "" {
		return "response:" + r.MessageID
	}
	keys := LineKeys(r, line, salt)
	return keys[len(keys)-1]
}

// ForgottenLines returns the lines of a log, from a line on, that belong to parts,
// with the text to replace each.
func (c *Capture) ForgottenLines(ctx context.Context, path string, from int, parts []archive.Part) (map[int]string, error) {
	log, err := sessionlog.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	finders := make([]*partFinder, len(parts))
	for i, p := range parts {
		finders[i] = &partFinder{part: p, keys: map[string]bool{}, lines: map[int]string{}}
		for _, k := range p.Keys {
			finders[i].keys[k] = true
		}
	}
	err = c.EachRow(ctx, log, from, func(r transcript.Row, line []byte) {
		for _, f := range finders {
			f.add(r, line)
		}
	})
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, f := range finders {
		f.close()
		for n, replacement := range f.lines {
			if out[n] == "" {
				out[n] = replacement
			}
		}
	}
	return out, nil
}

// EachRow calls fn with each complete line of a log, from a line on, and its ids.
func (c *Capture) EachRow(ctx context.Context, log *sessionlog.Reader, from int, fn func(r transcript.Row, line []byte)) error {
	at, err := log.OffsetOfLine(ctx, from)
	if err != nil {
		return err
	}
	lines, common := &lineReader{log: log, offset: at, end: log.Position().Raw}, c.ClientOf(log.Header().Client).Common()
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		chunk, _, err := lines.next()
		if err != nil || len(chunk) == 0 {
			return err
		}
		rest := chunk
		claude.Rows(common(chunk), from, func(r transcript.Row) {
			end := slices.Index(rest, '\n')
			fn(r, rest[:end])
			rest = rest[end+1:]
			from++
		})
	}
}

// partFinder finds the lines of one part. The first line of each run of them that
// begins with the part's head is replaced by a row for the turn or step.
type partFinder struct {
	part        archive.Part
	keys        map[string]bool
	lines       map[int]string // the replacement by line
	open        bool           // within a run that begins with the head
	head        int            // first line of the run
	maxBytes    int            // of its replacement
	first, last transcript.Row
}

func (f *partFinder) add(r transcript.Row, line []byte) {
	if r.Boundary {
		f.close()
	}
	if r.Blank || r.Boundary {
		return
	}
	keys := LineKeys(r, line, f.part.Salt)
	if !slices.ContainsFunc(keys, func(k string) bool { return f.keys[k] }) {
		return
	}
	f.lines[r.Line] = ""
	if slices.Contains(keys, f.part.Head) && (!f.open || f.part.Step < 0) {
		f.close()
		f.open, f.head, f.maxBytes, f.first = true, r.Line, len(line), r
	}
	if r.UUID != "" {
		f.last = r
	}
}

// close ends a run.
func (f *partFinder) close() {
	if f.open {
		f.lines[f.head] = claude.ForgottenRow(f.part.Step >= 0, f.first, f.last, f.maxBytes)
	}
	f.open = false
}
