package app

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
)

// feedback records, once per compaction, which of the restored places were used
// later. That is known when the next compaction has happened or the session is
// idle; later use is not counted.
func (r Runner) feedback(ctx context.Context, idx *Index, st *Stage) error {
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
func eachSession(ctx context.Context, idx *Index, f archive.SessionFilter, do func(archive.Session) error) error {
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
func (r Runner) measure(ctx context.Context, idx *Index, s archive.Session) (int, error) {
	if given, err := idx.Injected(ctx, s.ID); err != nil || len(given) == 0 {
		return 0, err
	}
	list, _, err := r.finished(ctx, idx, s, "used:")
	if err != nil {
		return 0, err
	}
	for n, c := range list {
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
	return len(list), nil
}

// finished returns the session's compactions whose effect is known and that have
// no fact of a kind, and all of them. While the session is active, its last
// compaction is not finished.
func (r Runner) finished(ctx context.Context, idx *Index, s archive.Session, kind string) (list, all []archive.Compaction, err error) {
	all, err = idx.Compactions(ctx, archive.Span{Session: s.ID})
	if err != nil {
		return nil, nil, err
	}
	list = slices.Clone(all)
	if len(list) > 0 && !r.idle(s) {
		list = list[:len(list)-1]
	}
	known, err := idx.Recorded(ctx, archive.Convert(list, func(c archive.Compaction) string { return factID(kind, c) }))
	return slices.DeleteFunc(list, func(c archive.Compaction) bool { return known[factID(kind, c)] }), all, err
}

func (r Runner) idle(s archive.Session) bool { return r.Now().Sub(s.Last) >= r.IdleAfter }

// factID identifies the fact of a kind about a compaction.
func factID(kind string, c archive.Compaction) string {
	return fmt.Sprintf("%s%s:%d", kind, c.Session, c.Index)
}

// learn records, once per compaction, which kinds of names were needed after it.
// An idle session without compactions gets a synthetic one. Then it sums the
// journal's facts up, so that forgotten sessions no longer count.
func (r Runner) learn(ctx context.Context, idx *Index, st *Stage) error {
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
	if err != nil {
		return err
	}
	store, name := Learned(r.Config.Paths.Learned()).file()
	if sum.Compactions == 0 {
		return store.Delete(name)
	}
	sum.Version = learnedVersion
	return store.WriteJSON(name, sum)
}

// learnFrom returns how many compactions of a session it recorded facts about,
// and how many of the facts hold tallies.
func (r Runner) learnFrom(ctx context.Context, idx *Index, s archive.Session) (recorded, taught int, err error) {
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
	if s.Compacts > 0 {
		list, all, err := r.finished(ctx, idx, s, "taught:")
		if err != nil {
			return 0, 0, err
		}
		for _, c := range list {
			known := s.Last
			if next := c.Index + 1; next < len(all) {
				known = all[next].Time
			}
			if err := record(factID("taught:", c), c, known, true); err != nil {
				return 0, 0, err
			}
		}
	} else if r.idle(s) {
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

// Learned is the path of the file with the summed tallies of all compactions. It is
// derived from the journal.
type Learned string

// learnedVersion numbers the file's format.
//
//	1: tallies by shape
const learnedVersion = 1

type learnedFile struct {
	Version     int                      `json:"version"`
	Compactions int                      `json:"cuts"`
	Shapes      map[string]archive.Tally `json:"shapes"`
}

func (l Learned) file() (store state.Store, name string) {
	return state.Store{Dir: filepath.Dir(string(l))}, filepath.Base(string(l))
}

// Read returns the tallies of names by their shape and the number of compactions
// that they come from. A missing or damaged file is empty.
func (l Learned) Read() (shapes map[string]archive.Tally, compactions int) {
	var f learnedFile
	if store, name := l.file(); store.ReadJSON(name, &f) != nil || f.Version != learnedVersion {
		return nil, 0
	}
	return f.Shapes, f.Compactions
}

// TalliesAt sums up, by shape, the tallies that were known at a time.
func TalliesAt(ctx context.Context, journal capture.Journal, at time.Time) (map[string]archive.Tally, error) {
	f, err := tallies(ctx, journal, &at)
	return f.Shapes, err
}

func tallies(ctx context.Context, journal capture.Journal, at *time.Time) (learnedFile, error) {
	f := learnedFile{Shapes: map[string]archive.Tally{}}
	entries, err := journalEntries(ctx, journal, archive.JournalTaught)
	if err != nil {
		return f, err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		fact, ok := archive.FactOf[archive.TaughtFact](&e)
		if seen[e.ID] || !ok || len(fact.Shapes) == 0 || at != nil && fact.Known.After(*at) {
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
