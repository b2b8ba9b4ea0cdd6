package maintenance

import (
	"context"
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
)

// Outcome is what a compaction gave back to the model.
type Outcome struct {
	// Of counts the places, 0 where too little happened afterwards to tell.
	Of   int
	Used []archive.Ref // those that the work that followed drew on
}

// feedback records, once for each compaction that gave something back, which of
// it was used. That is known when the next compaction has come or the session is
// at rest; what is used after that, in a session that is taken up again, is not
// counted.
func (p Pass) feedback(ctx context.Context, idx Index, st *Stage) error {
	if p.Measure == nil {
		return nil
	}
	sessions, err := idx.Sessions(ctx, archive.SessionFilter{Agents: true})
	if err != nil {
		return err
	}
	for _, s := range sessions {
		// Hooks know no generations: what was given back belongs to the name.
		if s.Compacts == 0 || strings.Contains(s.ID, "@") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := p.measure(ctx, idx, s)
		st.Done += n
		if err != nil {
			return fmt.Errorf("measure the compactions of session %s: %w", archive.ShortID(s.ID), err)
		}
	}
	if st.Done == 0 {
		return nil
	}
	return p.Journal.Sync(ctx, idx)
}

// measure records the outcome of a session's compactions that are over and not
// recorded yet, and returns how many those were.
func (p Pass) measure(ctx context.Context, idx Index, s archive.Session) (int, error) {
	given, err := idx.Injected(ctx, s.ID)
	if err != nil || len(given) == 0 {
		return 0, err
	}
	cuts, err := idx.Compactions(ctx, archive.Span{Session: s.ID})
	if err != nil {
		return 0, err
	}
	if n := len(cuts); n > 0 && p.Now().Sub(s.Last) < p.Rest {
		cuts = cuts[:n-1]
	}
	ids := make([]string, len(cuts))
	for i, c := range cuts {
		ids[i] = fmt.Sprintf("used:%s:%d", s.ID, c.Index)
	}
	known, err := idx.Recorded(ctx, ids)
	if err != nil {
		return 0, err
	}
	n := 0
	for i, c := range cuts {
		if known[ids[i]] {
			continue
		}
		out, err := p.Measure(ctx, c)
		if err != nil {
			return n, err
		}
		fact := archive.AccessFact{Refs: out.Used, How: archive.AccessUsed, Of: out.Of}
		if fact.Refs == nil {
			fact.Refs = []archive.Ref{}
		}
		if err := p.Journal.RecordAll(ctx, capture.Fact{Kind: archive.JournalAccess, Session: s.ID, Data: fact, ID: ids[i]}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
