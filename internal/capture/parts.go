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
)

// ForgottenParts stores the turns and steps that were deleted for good, one small file per
// session. A lost file is rebuilt from the journal.
type ForgottenParts struct {
	Dir string // "<archive>/forgotten-parts"
}

// ForgottenParts returns the turns and steps that this archive must not capture again.
func (c *Capture) ForgottenParts() ForgottenParts { return ForgottenParts{Dir: filepath.Join(c.Layout.Root, "forgotten-parts")} }

func (p ForgottenParts) store() state.Store { return state.Store{Dir: p.Dir, Sync: true} }

// SessionParts are what was forgotten of a session.
type SessionParts struct {
	Open  bool           `json:"open"` // not all of it is gone yet
	Parts []archive.Part `json:"parts"`
	// Samples are texts by which facts of the journal are known that have to go, as
	// long as it is open.
	Samples []string `json:"samples,omitempty"`
}

// Has reports that a part is among them.
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
func (p ForgottenParts) Set(session string, of SessionParts) error { return p.store().WriteJSON(session, of) }

// Keys of rows. A copy that a compaction made has another uuid, but the response,
// the calls, or the time of the prompt are the same.
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

// LineKeys returns by what a line is known again: what identifies its row or, where
// nothing does, a sum.
func LineKeys(r transcript.Row, line []byte, salt string) []string {
	if keys := rowKeys(r); len(keys) > 0 {
		return keys
	}
	sum := sha256.Sum256(append([]byte(salt), line...))
	return []string{"line:" + hex.EncodeToString(sum[:16])}
}

// HeadKey is the key of the row that the rest of a part follows: that of a step's
// response or, of a turn, what is most likely the same in a copy.
func HeadKey(r transcript.Row, step bool, line []byte, salt string) string {
	if step && r.MessageID != "" {
		return "response:" + r.MessageID
	}
	keys := LineKeys(r, line, salt)
	return keys[len(keys)-1]
}

// ForgottenLines finds the lines of a log, from a line on, that belong to parts, and what
// goes in their place.
func (c *Capture) ForgottenLines(ctx context.Context, path string, from int, parts []archive.Part) (map[int]string, error) {
	log, err := sessionlog.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	finders := make([]*partFinder, len(parts))
	for i, p := range parts {
		finders[i] = &partFinder{part: p, keys: map[string]bool{}, client: c.Client}
		for _, k := range p.Keys {
			finders[i].keys[k] = true
		}
	}
	err = c.EachRow(ctx, log, from, func(r transcript.Row, line []byte) {
		for _, f := range finders {
			f.look(r, line)
		}
	})
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, f := range finders {
		f.close()
		for n, text := range f.out {
			if out[n] == "" {
				out[n] = text
			}
		}
	}
	return out, nil
}

// EachRow calls fn with the complete lines of a log, from one on, and what
// identifies them.
func (c *Capture) EachRow(ctx context.Context, log *sessionlog.Reader, from int, fn func(r transcript.Row, line []byte)) error {
	at, err := log.OffsetOfLine(ctx, from)
	if err != nil {
		return err
	}
	lines := &lineReader{log: log, offset: at, end: log.Position().Raw}
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		chunk, _, err := lines.next()
		if err != nil || len(chunk) == 0 {
			return err
		}
		rest := chunk
		c.Client.Rows(chunk, from, func(r transcript.Row) {
			end := slices.Index(rest, '\n')
			fn(r, rest[:end])
			rest = rest[end+1:]
			from++
		})
	}
}

// partFinder finds the lines of one part. Each stretch of them whose head is there
// gets one line that stands for the turn or the step.
type partFinder struct {
	part        archive.Part
	keys        map[string]bool
	client      Client
	out         map[int]string
	head        int // line of the stretch's head, when open
	room        int
	first, last transcript.Row
	open        bool
}

func (f *partFinder) look(r transcript.Row, line []byte) {
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
	if f.out == nil {
		f.out = map[int]string{}
	}
	f.out[r.Line] = ""
	if slices.Contains(keys, f.part.Head) && (!f.open || f.part.Step < 0) {
		f.close()
		f.open, f.head, f.room, f.first = true, r.Line, len(line), r
	}
	if r.UUID != "" {
		f.last = r
	}
}

// close ends a stretch.
func (f *partFinder) close() {
	if f.open {
		f.out[f.head] = f.client.ForgottenRow(f.part.Step >= 0, f.first, f.last, f.room)
	}
	f.open = false
}

// removeForgotten takes parts out of a log again, from a line on, as far as it holds them:
// the client's file has them still. It reports whether it did.
func (c *Capture) removeForgotten(ctx context.Context, path string, from int, parts []archive.Part) (bool, error) {
	holes, err := c.ForgottenLines(ctx, path, from, parts)
	if err != nil || len(holes) == 0 {
		return false, err
	}
	_, err = sessionlog.Rewrite(ctx, path, holes)
	return err == nil, err
}
