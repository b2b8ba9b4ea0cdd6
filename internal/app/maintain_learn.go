package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// feedback records, once per compaction, which of the restored places were used
// later. That is known when the next compaction has happened or the session is
// idle; later use is not counted.
func (r Runner) feedback(ctx context.Context, idx MaintainIndex, st *Stage) error {
	if r.Measure == nil {
		return nil
	}
	err := eachSession(ctx, idx, archive.SessionFilter{Agents: true}, func(s archive.Session) error {
		if s.Compacts == 0 {
			return nil
		}
		n, err := r.measure(ctx, idx, s)
		if st.Done += n; err != nil {
			return fmt.Errorf("measure the compactions of session %s: %w", archive.ShortID(s.ID), err)
		}
		return nil
	})
	if err != nil || st.Done == 0 {
		return err
	}
	return r.Journal.Sync(ctx, idx)
}

// eachSession calls do for every session, except for older generations: facts of
// hooks belong to the newest.
func eachSession(ctx context.Context, idx MaintainIndex, f archive.SessionFilter, do func(archive.Session) error) error {
	sessions, err := idx.Sessions(ctx, f)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if strings.Contains(s.ID, "@") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := do(s); err != nil {
			return err
		}
	}
	return nil
}

// measure records the outcomes of a session's compactions that have none yet and
// returns their number.
func (r Runner) measure(ctx context.Context, idx MaintainIndex, s archive.Session) (int, error) {
	if given, err := idx.Injected(ctx, s.ID); err != nil || len(given) == 0 {
		return 0, err
	}
	list, _, err := r.finished(ctx, idx, s)
	if err != nil {
		return 0, err
	}
	done, err := unrecorded(ctx, idx, "used:", list)
	if err != nil {
		return 0, err
	}
	for n, c := range done {
		out, err := r.Measure(ctx, c)
		if err != nil {
			return n, err
		}
		fact := archive.AccessFact{Refs: []archive.Ref{}, How: archive.AccessUsed}
		if out.HasShares {
			fact.Refs, fact.Of = append(fact.Refs, archive.RefsOf(s.ID, out.Used)...), len(out.Handles)
		}
		if err := r.Journal.RecordAll(ctx, capture.Fact{Kind: archive.JournalAccess, Session: s.ID, Data: fact, ID: factID("used:", c)}); err != nil {
			return n, err
		}
	}
	return len(done), nil
}

// finished returns the session's compactions whose effect is known, and all of
// them. While the session is active, its last compaction is not finished.
func (r Runner) finished(ctx context.Context, idx MaintainIndex, s archive.Session) (done, all []archive.Compaction, err error) {
	all, err = idx.Compactions(ctx, archive.Span{Session: s.ID})
	if done = all; len(done) > 0 && !r.idle(s) {
		done = done[:len(done)-1]
	}
	return done, all, err
}

func (r Runner) idle(s archive.Session) bool { return r.Now().Sub(s.Last) >= r.IdleAfter }

// factID identifies the fact of a kind about a compaction.
func factID(kind string, c archive.Compaction) string {
	return fmt.Sprintf("%s%s:%d", kind, c.Session, c.Index)
}

// unrecorded returns the compactions without a fact of a kind.
func unrecorded(ctx context.Context, idx MaintainIndex, kind string, list []archive.Compaction) (out []archive.Compaction, err error) {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = factID(kind, list[i])
	}
	known, err := idx.Recorded(ctx, ids)
	for i, id := range ids {
		if !known[id] {
			out = append(out, list[i])
		}
	}
	return out, err
}

// learn records, once per compaction, which kinds of names were needed after it.
// An idle session without compactions gets a synthetic one. Then it sums the
// journal's facts up, so that forgotten sessions no longer count.
func (r Runner) learn(ctx context.Context, idx MaintainIndex, st *Stage) error {
	if r.Teach == nil {
		return nil
	}
	recorded := 0
	err := eachSession(ctx, idx, archive.SessionFilter{}, func(s archive.Session) error {
		if r.LearnLimit > 0 && recorded >= r.LearnLimit {
			return nil
		}
		n, taught, err := r.learnFrom(ctx, idx, s)
		recorded += n
		if st.Done += taught; err != nil {
			return fmt.Errorf("learn from session %s: %w", archive.ShortID(s.ID), err)
		}
		return nil
	})
	if err == nil && recorded > 0 {
		err = r.Journal.Sync(ctx, idx)
	}
	if err != nil {
		return err
	}
	sum, err := tallies(ctx, r.Journal, nil)
	switch {
	case err != nil:
		return err
	case sum.Compactions == 0:
		return r.Learned.remove()
	}
	return r.Learned.write(sum)
}

// learnFrom returns how many compactions of a session it recorded facts about,
// and how many of the facts hold tallies.
func (r Runner) learnFrom(ctx context.Context, idx MaintainIndex, s archive.Session) (recorded, taught int, err error) {
	var facts []capture.Fact
	record := func(id string, c archive.Compaction, known time.Time, ok bool) error {
		fact := archive.TaughtFact{Line: c.Line, Known: known, Shapes: map[string]archive.Tally{}}
		if ok {
			shapes, err := r.Teach(ctx, c)
			if err != nil {
				return err
			}
			if shapes != nil {
				fact.Shapes = shapes
				taught++
			}
		}
		facts = append(facts, capture.Fact{Kind: archive.JournalTaught, Session: s.ID, Data: fact, ID: id})
		return nil
	}
	switch {
	case s.Compacts > 0:
		done, all, err := r.finished(ctx, idx, s)
		if err == nil {
			done, err = unrecorded(ctx, idx, "taught:", done)
		}
		for _, c := range done {
			known := s.Last
			if next := c.Index + 1; next < len(all) {
				known = all[next].Time
			}
			if err == nil {
				err = record(factID("taught:", c), c, known, true)
			}
		}
		if err != nil {
			return 0, 0, err
		}
	case r.idle(s):
		id := "taught:" + s.ID
		known, err := idx.Recorded(ctx, []string{id})
		if err != nil || known[id] {
			return 0, 0, err
		}
		c, ok, err := r.Synthetic(ctx, s.ID)
		if err == nil {
			err = record(id, c, s.Last, ok)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	if len(facts) == 0 {
		return 0, 0, nil
	}
	return len(facts), taught, r.Journal.RecordAll(ctx, facts...)
}

// Learned is the file with the summed tallies of all compactions. It is derived
// from the journal.
type Learned struct {
	Path string // "<archive>/learned.json"
}

// learnedVersion numbers the file's format.
//
//	1: tallies by shape
const learnedVersion = 1

type learnedFile struct {
	Version     int                      `json:"version"`
	Compactions int                      `json:"cuts"`
	Shapes      map[string]archive.Tally `json:"shapes"`
}

func (l Learned) store() state.Store { return state.Store{Dir: filepath.Dir(l.Path)} }

// Read returns the tallies of names by their shape and the number of compactions
// that they come from. A missing or damaged file is empty.
func (l Learned) Read() (shapes map[string]archive.Tally, compactions int) {
	var f learnedFile
	if l.store().ReadJSON(filepath.Base(l.Path), &f) != nil || f.Version != learnedVersion {
		return nil, 0
	}
	return f.Shapes, f.Compactions
}

func (l Learned) write(f learnedFile) error {
	f.Version = learnedVersion
	return l.store().WriteJSON(filepath.Base(l.Path), f)
}

func (l Learned) remove() error { return l.store().Delete(filepath.Base(l.Path)) }

// TalliesAt sums up, by shape, the tallies that were known at a time.
func TalliesAt(ctx context.Context, journal capture.Journal, at time.Time) (map[string]archive.Tally, error) {
	f, err := tallies(ctx, journal, &at)
	return f.Shapes, err
}

func tallies(ctx context.Context, journal capture.Journal, at *time.Time) (learnedFile, error) {
	f := learnedFile{Shapes: map[string]archive.Tally{}}
	entries, _, err := journal.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil {
		return f, fmt.Errorf("sum up learned tallies: %w", err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		var fact archive.TaughtFact
		if e.Kind != archive.JournalTaught || seen[e.ID] || json.Unmarshal(e.Data, &fact) != nil || len(fact.Shapes) == 0 ||
			at != nil && fact.Known.After(*at) {
			continue
		}
		seen[e.ID] = true
		f.Compactions++
		for s, x := range fact.Shapes {
			y := f.Shapes[s]
			f.Shapes[s] = archive.Tally{Expected: x.Expected + y.Expected, Needed: x.Needed + y.Needed}
		}
	}
	return f, nil
}
