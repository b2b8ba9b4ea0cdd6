package maintenance

import (
	"context"
	"fmt"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Tiers is what leaving the hot set needs of a store.
type Tiers interface {
	Cool(ctx context.Context, before time.Time) (int, error)
	Warming(ctx context.Context, since time.Time) ([]archive.ColdTurn, error)
	Warm(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) error
	Cold(ctx context.Context) ([]archive.ColdTurn, error)
	Trim(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) (int64, error)
	Vacuum(ctx context.Context) error
}

// Retention is what may leave the hot set and how much room there is.
type Retention struct {
	// Age is how long a session must have been left alone before its turns leave
	// the hot set, if they were never given to the model and their confidence by
	// Rule has fallen to lowConfidence; 0 leaves them all in.
	Age  time.Duration
	Rule recall.Confidence
	// MaxBytes is the room on disk, 0 for no limit.
	MaxBytes int64
	// Sizes returns the bytes that the index and the logs take.
	Sizes func() (index, logs int64)
	// Delete gives up sessions for good that are older than Age, or in the way of
	// MaxBytes, and were never given to the model.
	Delete bool
	// Compact drops duplicate text of everything outside the hot set in any case.
	Compact bool
}

// lowConfidence is where what was never given to the model may leave the hot set.
const lowConfidence = 0.15

// rests is how long a session must have been left alone for its turns to leave
// the hot set; false if none ever does. Nothing lifts the confidence of a turn
// that was never given to the model, so how long it takes to fall is known.
func (r Retention) rests() (time.Duration, bool) {
	fades, ok := r.Rule.Fades(lowConfidence)
	return max(r.Age, fades), ok && r.Age > 0
}

// leastAge is the youngest that a session may be for its duplicate text to be
// dropped, however little room there is.
const leastAge = 24 * time.Hour

// tiers takes turns out of the hot set and back. Which they are follows from the
// rows, the journal and the time, so a rebuilt index has the same after a pass.
func (p Pass) tiers(ctx context.Context, idx Index, st *Stage) error {
	rests, ok := p.Retention.rests()
	if !ok {
		return nil
	}
	// With a limit on the disk, turns younger than Age may be out as well: they
	// come back only when their session goes on.
	horizon := rests
	if p.Retention.MaxBytes > 0 {
		horizon = min(horizon, leastAge)
	}
	back, err := idx.Warming(ctx, p.Now().Add(-horizon))
	if err != nil {
		return err
	}
	for _, turn := range back {
		var log []archive.Passage
		if turn.Trimmed {
			if log, err = p.Capture.Reread(ctx, turn.Session, turn.LineFrom, turn.LineTo); err != nil {
				return fmt.Errorf("read turn %d of session %s: %w", turn.Turn, archive.ShortID(turn.Session), err)
			}
		}
		if err := idx.Warm(ctx, turn, log); err != nil {
			return err
		}
	}
	n, err := idx.Cool(ctx, p.Now().Add(-rests))
	st.Done = n + len(back)
	return err
}

// compact drops the duplicate text of what is outside the hot set: where that was
// asked for, and where the archive takes more room than it has. There, ever
// younger sessions leave the hot set until it fits.
func (p Pass) compact(ctx context.Context, idx Index, st *Stage) error {
	r := p.Retention
	over := func() bool {
		if r.MaxBytes <= 0 {
			return false
		}
		index, logs := r.Sizes()
		return index+logs > r.MaxBytes
	}
	if !r.Compact && !over() {
		return nil
	}
	st.Before, _ = r.Sizes()
	n, err := p.trim(ctx, idx)
	for age := r.Age / 2; err == nil && age >= leastAge && over(); age /= 2 {
		if _, err = idx.Cool(ctx, p.Now().Add(-age)); err != nil {
			break
		}
		var more int
		more, err = p.trim(ctx, idx)
		n += more
	}
	st.Done = n
	st.After, _ = r.Sizes()
	if err != nil || !over() {
		return err
	}
	_, logs := r.Sizes()
	return &archive.Error{
		Code: archive.CodeDenied, Msg: fmt.Sprintf("the archive takes %d bytes, more than the %d of retention.max_bytes", st.After+logs, r.MaxBytes),
		Hint: "the rest are logs, which nothing deletes by itself: raise the limit, or forget sessions",
	}
}

// trim drops the texts of cold turns whose log gives them back, and gives the
// space to the disk.
func (p Pass) trim(ctx context.Context, idx Index) (int, error) {
	turns, err := idx.Cold(ctx)
	if err != nil || len(turns) == 0 {
		return 0, err
	}
	n := 0
	for _, turn := range turns {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		log, err := p.Capture.Reread(ctx, turn.Session, turn.LineFrom, turn.LineTo)
		if err != nil {
			continue // a log that cannot be read is the last whose copy is dropped; `verify` tells of it
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
