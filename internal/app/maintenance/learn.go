package maintenance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// Learned is the file that restoring reads what was learned from: sums of the
// journal's facts. A pass writes it anew.
type Learned struct {
	Path string // "<archive>/learned.json"
}

// learnedVersion numbers the format of the file.
//
//	1: tallies by shape
const learnedVersion = 1

type learnedFile struct {
	Version int                      `json:"version"`
	Cuts    int                      `json:"cuts"`
	Shapes  map[string]archive.Tally `json:"shapes"`
}

// Read returns the tallies of names by their shape, and from how many cuts they
// are; nothing where no pass has learned yet, or the file is damaged.
func (l Learned) Read() (shapes map[string]archive.Tally, cuts int) {
	data, err := os.ReadFile(l.Path)
	var f learnedFile
	if err != nil || json.Unmarshal(data, &f) != nil || f.Version != learnedVersion {
		return nil, 0
	}
	return f.Shapes, f.Cuts
}

func (l Learned) write(f learnedFile) error {
	f.Version = learnedVersion
	data, err := json.Marshal(f)
	if err == nil {
		err = state.Replace(l.Path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write what was learned: %w", err)
	}
	return nil
}

func (l Learned) remove() error {
	if err := state.Remove(l.Path); err != nil {
		return fmt.Errorf("remove what was learned: %w", err)
	}
	return nil
}

// Teacher tells what cuts through sessions teach.
type Teacher interface {
	// MadeUp returns a cut through a session that was never compacted, false where
	// it is too short to tell anything.
	MadeUp(ctx context.Context, session string) (archive.Compaction, bool, error)
	// Teach returns the tallies of names by their shape, nil where too little was
	// needed behind the cut to tell.
	Teach(ctx context.Context, cut archive.Compaction) (map[string]archive.Tally, error)
}

// learn takes in what cuts teach of names, each once: compactions that are over
// and, of sessions without one that are at rest, one that is made up. Then it adds
// up what the journal holds, so that a session that is forgotten counts no more.
func (p Pass) learn(ctx context.Context, idx Index, st *Stage) error {
	if p.Teacher == nil {
		return nil
	}
	sessions, err := idx.Sessions(ctx, archive.SessionFilter{})
	if err != nil {
		return err
	}
	asked := 0
	for _, s := range sessions {
		if strings.Contains(s.ID, "@") || p.TeachMost > 0 && asked >= p.TeachMost {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, taught, err := p.learnFrom(ctx, idx, s)
		asked += n
		st.Done += taught
		if err != nil {
			return fmt.Errorf("learn from session %s: %w", archive.ShortID(s.ID), err)
		}
	}
	if asked > 0 {
		if err := p.Journal.Sync(ctx, idx); err != nil {
			return err
		}
	}
	return p.sum(ctx)
}

// learnFrom records what a session's cuts teach that nobody asked yet. It returns
// how many those are, and how many of them taught something.
func (p Pass) learnFrom(ctx context.Context, idx Index, s archive.Session) (asked, taught int, err error) {
	resting := p.Now().Sub(s.Last) >= p.Rest
	var all, cuts []archive.Compaction
	var ids []string
	switch {
	case s.Compacts > 0:
		if all, err = idx.Compactions(ctx, archive.Span{Session: s.ID}); err != nil {
			return 0, 0, err
		}
		cuts = all
		if n := len(cuts); n > 0 && !resting {
			cuts = cuts[:n-1]
		}
		for _, c := range cuts {
			ids = append(ids, fmt.Sprintf("taught:%s:%d", s.ID, c.Index))
		}
	case resting:
		ids = []string{"taught:" + s.ID}
	}
	known, err := idx.Recorded(ctx, ids)
	if err != nil {
		return 0, 0, err
	}
	var facts []capture.Fact
	for i, id := range ids {
		if known[id] {
			continue
		}
		var cut archive.Compaction
		ok := true
		if len(cuts) > 0 {
			cut = cuts[i]
		} else if cut, ok, err = p.Teacher.MadeUp(ctx, s.ID); err != nil {
			return 0, 0, err
		}
		fact := archive.TaughtFact{Line: cut.Line, Known: s.Last, Shapes: map[string]archive.Tally{}}
		if i+1 < len(all) {
			fact.Known = all[i+1].Time
		}
		if ok {
			shapes, err := p.Teacher.Teach(ctx, cut)
			if err != nil {
				return 0, 0, err
			}
			if shapes != nil {
				fact.Shapes = shapes
				taught++
			}
		}
		facts = append(facts, capture.Fact{Kind: archive.JournalTaught, Session: s.ID, Data: fact, ID: id})
	}
	if len(facts) == 0 {
		return 0, 0, nil
	}
	return len(facts), taught, p.Journal.RecordAll(ctx, facts...)
}

// sum adds up what the journal holds.
func (p Pass) sum(ctx context.Context) error {
	f, err := taughtBy(ctx, p.Journal, nil)
	switch {
	case err != nil:
		return err
	case f.Cuts == 0:
		return p.Learned.remove()
	}
	return p.Learned.write(f)
}

// TaughtBy adds up what was taught of names by a time, by their shape.
func TaughtBy(ctx context.Context, journal capture.Journal, at time.Time) (map[string]archive.Tally, error) {
	f, err := taughtBy(ctx, journal, &at)
	return f.Shapes, err
}

func taughtBy(ctx context.Context, journal capture.Journal, at *time.Time) (learnedFile, error) {
	f := learnedFile{Shapes: map[string]archive.Tally{}}
	entries, _, err := journal.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil {
		return f, fmt.Errorf("add up what was learned: %w", err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		var fact archive.TaughtFact
		if e.Kind != archive.JournalTaught || seen[e.ID] || json.Unmarshal(e.Data, &fact) != nil || len(fact.Shapes) == 0 ||
			at != nil && fact.Known.After(*at) {
			continue
		}
		seen[e.ID] = true
		f.Cuts++
		for s, x := range fact.Shapes {
			y := f.Shapes[s]
			f.Shapes[s] = archive.Tally{Expected: x.Expected + y.Expected, Needed: x.Needed + y.Needed}
		}
	}
	return f, nil
}
