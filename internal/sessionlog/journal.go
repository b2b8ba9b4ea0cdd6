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

// Journal keeps the facts that stand in no transcript: one log a month, by the
// entries' time in UTC, with one entry as JSON per line.
type Journal struct {
	Dir string // STRANDLINE_HOME/journal
}

// JournalCursor says how far a journal was read. Its zero value is the beginning.
// As an entry may be dated back into any month, it keeps an offset for each.
type JournalCursor struct {
	Offsets map[string]int64 `json:"offsets,omitempty"` // raw bytes read by month, "2006-01"
	Bad     int              `json:"bad,omitempty"`     // lines that could not be read and were skipped
}

// Append adds entries and returns when they are on disk. Their ids and times
// come from the caller; Version is set to 1. The entries of one month are one
// append, so a crash may leave those of an earlier month alone: entries have ids
// for that, and may be given again. Waiting, locks and errors are as with Open.
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
		// A crash cut a long append within a line; that line stays a bad one.
		lines = append([]byte{'\n'}, lines...)
	}
	return l.Append(ctx, lines, Source{})
}

func (j Journal) path(month string) string { return filepath.Join(j.Dir, month+transcriptExt) }

// Read returns the entries behind the cursor, by month and then in the order of
// their appends, and the cursor behind them. Lines that are no entry are skipped
// and counted in the cursor; deleted ones are skipped. With an error the entries
// and the cursor say what could be read nevertheless.
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

// linesFrom returns the complete lines of a month from a raw offset on.
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
		return nil, nil // nothing in it yet
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
