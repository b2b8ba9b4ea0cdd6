package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/sessionlog"
)

// Retention decides which turns leave the hot set and which sessions are deleted.
type Retention struct {
	// Age is how long a session must be idle before its turns may leave the hot
	// set. They leave if they were never given to the model and their confidence
	// by Rule is below lowConfidence. 0 keeps them all.
	Age  time.Duration
	Rule recall.Confidence
	// MaxBytes limits the archive's size on disk; 0 means no limit.
	MaxBytes int64
	// Sizes returns the bytes of the index and of the logs.
	Sizes func() (index, logs int64)
	// Delete deletes sessions for good that exceed Age or MaxBytes and were never
	// given to the model.
	Delete bool
	// Compact drops the index's copy of texts outside the hot set even below
	// MaxBytes.
	Compact bool
}

// lowConfidence is the confidence below which unused turns leave the hot set.
const lowConfidence = 0.15

// minAge protects younger sessions from retention, whatever the size limit.
const minAge = 24 * time.Hour

// excess is by how many bytes the archive exceeds its limit; negative or 0 if it
// does not.
func (r Retention) excess() int64 {
	if r.MaxBytes <= 0 {
		return 0
	}
	index, logs := r.Sizes()
	return index + logs - r.MaxBytes
}

// tiers moves turns out of the hot set and back. Rows, journal and time decide,
// so that a run over a rebuilt index gives the same sets.
func (r Runner) tiers(ctx context.Context, idx *Index, st *Stage) error {
	// Access raises a turn's confidence. Without access, when it falls is known.
	fades, ok := r.Retention.Rule.TimeTo(lowConfidence)
	if !ok || r.Retention.Age <= 0 {
		return nil
	}
	idle := max(r.Retention.Age, fades)
	horizon := idle
	if r.Retention.MaxBytes > 0 { // younger turns may be cold; they return only when their session continues
		horizon = min(horizon, minAge)
	}
	back, err := idx.Warming(ctx, r.Now().Add(-horizon))
	if err != nil {
		return err
	}
	for _, turn := range back {
		var log []archive.Passage
		if turn.Trimmed {
			if log, err = r.Capture.ReadPassages(ctx, turn.Session, turn.LineFrom, turn.LineTo); err != nil {
				return fmt.Errorf("read turn %d of session %s: %w", turn.Turn, archive.ShortID(turn.Session), err)
			}
		}
		if err := idx.Warm(ctx, turn, log); err != nil {
			return err
		}
	}
	n, err := idx.Cool(ctx, r.Now().Add(-idle))
	st.Done = n + len(back)
	return err
}

// compact drops the index's copy of cold texts if asked to or while the archive
// exceeds its limit. In the latter case it cools younger and younger sessions
// until the archive fits.
func (r Runner) compact(ctx context.Context, idx *Index, st *Stage) error {
	p := r.Retention
	if !p.Compact && p.excess() <= 0 {
		return nil
	}
	st.Before, _ = p.Sizes()
	n, err := r.trim(ctx, idx)
	for age := p.Age / 2; err == nil && age >= minAge && p.excess() > 0; age /= 2 {
		if _, err = idx.Cool(ctx, r.Now().Add(-age)); err == nil {
			more, terr := r.trim(ctx, idx)
			n, err = n+more, terr
		}
	}
	st.Done = n
	st.After, _ = p.Sizes()
	if err != nil || p.excess() <= 0 {
		return err
	}
	return &archive.Error{
		Code: archive.CodeDenied, Msg: fmt.Sprintf("the archive takes %d bytes, more than the %d of retention.max_bytes", p.MaxBytes+p.excess(), p.MaxBytes),
		Hint: "the rest are logs, which are never deleted automatically: raise the limit, or forget sessions",
	}
}

// trim drops the texts of cold turns that their log still holds, and returns the
// space to the disk.
func (r Runner) trim(ctx context.Context, idx *Index) (n int, err error) {
	turns, err := idx.Cold(ctx)
	if err != nil || len(turns) == 0 {
		return 0, err
	}
	for _, turn := range turns {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		log, err := r.Capture.ReadPassages(ctx, turn.Session, turn.LineFrom, turn.LineTo)
		if err != nil {
			continue // the index may hold the only readable copy; `verify` reports the log
		}
		dropped, err := idx.Trim(ctx, turn, log)
		if err != nil {
			return n, err
		}
		if dropped > 0 {
			n++
		}
	}
	return n, idx.Vacuum(ctx)
}

// Expired lists the sessions to delete by retention.delete, oldest first: those
// idle for Age, and, while the archive exceeds MaxBytes, others older than
// minAge. A session is spared if any part of it, sub-agents included, was ever
// given to the model. The list is empty unless Delete is set.
func (w Workspace) Expired(ctx context.Context, idx *Index, r Retention, now time.Time) ([]string, error) {
	if !r.Delete {
		return nil, nil
	}
	ids, last, err := unused(ctx, idx, now.Add(-minAge))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	logs, err := w.logs(ctx, ids)
	if err != nil {
		return nil, err
	}
	excess := r.excess()
	for i, id := range ids {
		if excess <= 0 && (r.Age <= 0 || now.Sub(last[id]) < r.Age) {
			return ids[:i], nil
		}
		for _, e := range logs[id] {
			if info, err := os.Stat(e.Path); err == nil {
				excess -= info.Size()
			}
		}
	}
	return ids, nil
}

// unused lists, oldest first, the sessions of which nothing was given to the
// model and whose last row, sub-agents' included, is older than a time. last is
// the time of that row. Sessions without a date are left out.
func unused(ctx context.Context, idx *Index, before time.Time) (ids []string, last map[string]time.Time, err error) {
	list, err := idx.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return nil, nil, fmt.Errorf("list old sessions: %w", err)
	}
	last = map[string]time.Time{}
	for _, s := range list {
		if id := archive.Owner(s.ID); s.Last.After(last[id]) {
			last[id] = s.Last
		}
	}
	maps.DeleteFunc(last, func(_ string, at time.Time) bool { return !at.Before(before) })
	for _, s := range list {
		id := archive.Owner(s.ID)
		if _, ok := last[id]; !ok {
			continue
		}
		used, err := idx.Accesses(ctx, s.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("list old sessions: %w", err)
		}
		if len(used) > 0 {
			delete(last, id)
		}
	}
	return slices.SortedFunc(maps.Keys(last), func(a, b string) int { return cmp.Or(last[a].Compare(last[b]), cmp.Compare(a, b)) }), last, nil
}

// seal rewrites idle logs into large frames.
func (r Runner) seal(ctx context.Context, _ *Index, st *Stage) error {
	var errs []error
	for entry, err := range r.Capture.Layout.Walk(ctx) {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("list logs: %w", err)
		}
		info, err := os.Stat(entry.Path)
		if err != nil || r.Now().Sub(info.ModTime()) < r.IdleAfter {
			continue
		}
		report, err := sessionlog.Seal(ctx, entry.Path)
		if archive.ErrorCode(err) == archive.CodeCorrupt {
			if rep, rerr := r.Capture.Repair(ctx, entry, r.sourceOf(entry)); rep.Done && rep.Lost == 0 || rerr != nil {
				err = rerr
			}
		}
		switch {
		case archive.ErrorCode(err) == archive.CodeBusy: // not idle: another process writes to it
		case err != nil:
			errs = append(errs, err)
		case report.Done:
			st.Done++
			st.Before += report.Before
			st.After += report.After
		}
	}
	return errors.Join(errs...)
}
