package sessionlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// Journal stores facts that are in no transcript: one log per month of the entries' UTC
// time, with one JSON entry per line.
// Dir is STRANDLINE_HOME/journal.
type Journal struct{ Dir string }

// JournalCursor is the position up to which a journal was read; its zero value is the
// beginning. It has one offset per month, because entries of any month may be added.
type JournalCursor struct {
	Offsets map[string]int64 `json:"offsets,omitempty"` // raw bytes read, by month "2006-01"
	Bad     int              `json:"bad,omitempty"`     // skipped invalid lines
}

// Append adds entries and returns when they are on disk. The caller sets their ids and
// times; Version is set to 1. The entries of one month are one append, so a crash may
// leave only those of earlier months; the caller may append the same ids again. Locks
// and errors are those of Open.
func (j Journal) Append(ctx context.Context, entries ...archive.JournalEntry) error {
	lines := map[string]*bytes.Buffer{}
	for _, e := range entries {
		if e.ID == "" || e.Time.IsZero() {
			return archive.Invalid("a journal entry needs an id and a time", "")
		}
		month := e.Time.UTC().Format("2006-01")
		if lines[month] == nil {
			lines[month] = new(bytes.Buffer)
		}
		e.Version, e.Time = 1, e.Time.UTC()
		enc := json.NewEncoder(lines[month])
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e); err != nil {
			return &archive.Error{Code: archive.CodeInvalid, Msg: "a journal entry cannot be written as JSON", Err: err}
		}
	}
	for _, month := range slices.Sorted(maps.Keys(lines)) {
		if err := j.append(ctx, month, lines[month].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (j Journal) append(ctx context.Context, month string, lines []byte) (err error) {
	l, err := Open(ctx, j.path(month), Header{Kind: KindJournal, Generation: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	whole, err := l.endsLine()
	if err != nil {
		return err
	}
	if !whole {
		// A crash truncated a long append within a line, which stays invalid.
		lines = append([]byte{'\n'}, lines...)
	}
	return l.Append(ctx, lines, 0)
}

func (j Journal) path(month string) string { return filepath.Join(j.Dir, month+transcriptExt) }

// Read returns the entries after the cursor, by month and in the order of their appends,
// and the new cursor. It skips deleted lines, and counts invalid ones in the cursor.
// With an error it returns what could be read.
func (j Journal) Read(ctx context.Context, from JournalCursor) ([]archive.JournalEntry, JournalCursor, error) {
	cur := JournalCursor{Offsets: maps.Clone(from.Offsets), Bad: from.Bad}
	months, err := j.months()
	if err != nil {
		return nil, cur, err
	}
	var entries []archive.JournalEntry
	var errs []error
	for _, month := range months {
		if err := ctx.Err(); err != nil {
			return entries, cur, errors.Join(append(errs, fmt.Errorf("read the journal: %w", err))...)
		}
		off := cur.Offsets[month]
		b, err := j.linesFrom(month, off)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if len(b) == 0 {
			continue
		}
		if cur.Offsets == nil {
			cur.Offsets = map[string]int64{}
		}
		cur.Offsets[month] = off + int64(len(b))
		for line := range bytes.Lines(b) {
			var e archive.JournalEntry
			switch {
			case len(bytes.TrimSpace(line)) == 0:
			case json.Unmarshal(line, &e) != nil || e.ID == "":
				cur.Bad++
			default:
				entries = append(entries, e)
			}
		}
	}
	return entries, cur, errors.Join(errs...)
}

// linesFrom returns the complete lines of a month from a raw offset.
func (j Journal) linesFrom(month string, off int64) ([]byte, error) {
	pos, err := ReadPosition(j.path(month))
	if err == nil && pos.Raw <= off {
		return nil, nil
	}
	var r *Reader
	if err == nil {
		r, err = OpenReader(j.path(month))
	}
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return nil, nil // empty
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := make([]byte, max(0, r.Position().Raw-off))
	if n, err := r.ReadAt(b, off); n < len(b) {
		return nil, err
	}
	return b[:bytes.LastIndexByte(b, '\n')+1], nil
}

// months lists the months that have a log.
func (j Journal) months() ([]string, error) {
	list, err := os.ReadDir(j.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fileError("list the journal in", j.Dir, err)
	}
	var months []string
	for _, d := range list {
		month, ok := strings.CutSuffix(d.Name(), transcriptExt)
		if ok && len(month) == len("2006-01") && month[4] == '-' && strings.Trim(month, "0123456789-") == "" {
			months = append(months, month)
		}
	}
	return months, nil
}

// Remove deletes the entries for which drop is true: their lines are blanked and removed
// from the files. Cursors stay valid. It can be interrupted and repeated. It returns the
// number of entries deleted by this call.
func (j Journal) Remove(ctx context.Context, drop func(archive.JournalEntry) bool) (n int, err error) {
	months, err := j.months()
	if err != nil {
		return 0, err
	}
	for _, month := range months {
		k, err := j.removeFrom(ctx, month, drop)
		n += k
		if err != nil {
			return n, err
		}
		// An earlier, interrupted call may have blanked lines without sealing.
		if _, err := Seal(ctx, j.path(month)); err != nil {
			return n, err
		}
	}
	return n, nil
}

func (j Journal) removeFrom(ctx context.Context, month string, drop func(archive.JournalEntry) bool) (n int, err error) {
	text, err := j.linesFrom(month, 0)
	if err != nil {
		return 0, err
	}
	var lines []int
	at := 0
	for line := range bytes.Lines(text) {
		var e archive.JournalEntry
		if json.Unmarshal(line, &e) == nil && drop(e) {
			lines = append(lines, at)
		}
		at++
	}
	if len(lines) == 0 {
		return 0, nil
	}
	l, err := Open(ctx, j.path(month), Header{Kind: KindJournal, Generation: 1})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return len(lines), l.Blank(ctx, lines...)
}
