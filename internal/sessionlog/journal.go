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
type Journal struct {
	Dir   string
	Haste Haste // of Append
}

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
	l, err := j.open(ctx, month)
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

// open opens a month's log. One whose header is damaged gets another; a file that is not
// a log is kept under another name.
func (j Journal) open(ctx context.Context, month string) (*Log, error) {
	h := Header{Kind: KindJournal, Generation: 1}
	l, err := j.Haste.Open(ctx, j.path(month), h)
	if archive.ErrorCode(err) != archive.CodeCorrupt {
		return l, err
	}
	_, rerr := Repair(ctx, j.path(month), h, nil)
	if archive.ErrorCode(rerr) == archive.CodeCorrupt {
		rerr = moveDamaged(j.path(month))
	}
	if rerr != nil {
		return nil, errors.Join(err, rerr)
	}
	return Open(ctx, j.path(month), h)
}

func (j Journal) path(month string) string { return filepath.Join(j.Dir, month+transcriptExt) }

// Read returns the entries after the cursor, by month and in the order of their appends,
// and the new cursor. It skips deleted and unreadable lines, and counts invalid ones in
// the cursor. With an error, which is CodeCorrupt for a month that is no log, it returns
// what could be read.
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

// Sizes returns the raw size of each month's log by its path, 0 for one that cannot be read.
func (j Journal) Sizes() (map[string]int64, error) {
	months, err := j.months()
	sizes := map[string]int64{}
	for _, month := range months {
		pos, _ := ReadPosition(j.path(month)) // Verify reports errors
		sizes[j.path(month)] = pos.Raw
	}
	return sizes, err
}

// Had returns how many raw bytes of each month's log were read up to a cursor, by its path.
func (j Journal) Had(cur JournalCursor) map[string]int64 {
	sizes := map[string]int64{}
	for month, raw := range cur.Offsets {
		sizes[j.path(month)] = raw
	}
	return sizes
}

// Repair repairs the logs of months of which only bookkeeping is damaged. What else is
// damaged stays, because nothing has another copy.
func (j Journal) Repair(ctx context.Context) error {
	months, err := j.months()
	for _, month := range months {
		_, rerr := Repair(ctx, j.path(month), Header{Kind: KindJournal, Generation: 1}, nil)
		if code := archive.ErrorCode(rerr); code != archive.CodeCorrupt && code != archive.CodeNotFound {
			err = errors.Join(err, rerr)
		}
	}
	return err
}

// Verify verifies the logs of all months (see Verify); a month's error does not stop it.
// Entries that were unreadable when a month was last rewritten stay reported: they are lost.
func (j Journal) Verify(ctx context.Context, visit func(path string, rep VerifyReport, err error)) error {
	months, err := j.months()
	for _, month := range months {
		rep, verr := Verify(ctx, j.path(month))
		if ctx.Err() != nil {
			return fmt.Errorf("verify the journal: %w", context.Cause(ctx))
		}
		if archive.ErrorCode(verr) != archive.CodeNotFound { // one that a crash left empty
			visit(j.path(month), rep, verr)
		}
	}
	return err
}

// Remove deletes the entries for which drop is true: their lines are blanked and removed
// from the files. Unreadable bytes of a month with such entries are removed as well.
// Cursors stay valid. It can be interrupted and repeated. It returns the number of entries
// deleted by this call.
func (j Journal) Remove(ctx context.Context, drop func(archive.JournalEntry) bool) (n int, err error) {
	months, err := j.months()
	if err != nil {
		return 0, err
	}
	for _, month := range months {
		k, err := j.removeFrom(ctx, month, drop)
		n += k
		if err == nil {
			// A call of an older version may have blanked lines without sealing.
			_, err = Seal(ctx, j.path(month))
		}
		if code := archive.ErrorCode(err); err != nil && code != archive.CodeCorrupt && code != archive.CodeNotFound {
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
	lines := map[int]string{}
	at := 0
	for line := range bytes.Lines(text) {
		var e archive.JournalEntry
		if json.Unmarshal(line, &e) == nil && drop(e) {
			lines[at] = ""
		}
		at++
	}
	if len(lines) == 0 {
		return 0, nil
	}
	_, err = Rewrite(ctx, j.path(month), lines)
	return len(lines), err
}
