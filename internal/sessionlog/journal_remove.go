package sessionlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"strandline/internal/archive"
)

// Remove takes the entries for which drop is true out of the journal: their lines
// are blank afterwards, and the bytes gone from the files. Cursors stay as they are.
// It may be interrupted anywhere and be done again. It returns how many entries
// were taken out by this call.
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
		// Also where this call blanked nothing: an earlier one may have ended here.
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
