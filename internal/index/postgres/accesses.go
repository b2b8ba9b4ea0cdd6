package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

func applyAccess(ctx context.Context, tx pgx.Tx, e *archive.JournalEntry, fact archive.AccessFact) error {
	put := newBulk("accesses", "session_id, turn, step, time, id, how", 5)
	for _, ref := range fact.Refs {
		put.add(ref.Session, ref.Turn, ref.Step, index.Nanos(e.Time), e.ID, fact.How)
	}
	return put.insert(ctx, tx, "ON CONFLICT DO NOTHING")
}

// Accesses returns when places of a session were given to the model, by place
// and then by time.
func (s *Store) Accesses(ctx context.Context, session string) (out []archive.Access, err error) {
	err = s.read(ctx, "read accesses", func(ctx context.Context, tx pgx.Tx) error {
		const sql = "SELECT turn, step, time, how FROM accesses WHERE session_id = $1 ORDER BY turn, step, time, id"
		return query(ctx, tx, sql, []any{session}, func(scan scanFunc) error {
			x := archive.Access{Ref: archive.Ref{Session: session}}
			var at int64
			err := scan(&x.Turn, &x.Step, &at, &x.How)
			x.Time = index.Instant(at)
			out = append(out, x)
			return err
		})
	})
	return out, err
}

// Recorded returns those of the journal entries' identities that the store knows.
func (s *Store) Recorded(ctx context.Context, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	err := s.read(ctx, "look up journal entries", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, "SELECT id FROM journal WHERE id = ANY($1)", []any{ids}, func(scan scanFunc) error {
			var id string
			err := scan(&id)
			known[id] = true
			return err
		})
	})
	return known, err
}

// Feedback sums up what was used of what compactions gave back, as far as that
// was measured.
func (s *Store) Feedback(ctx context.Context) (sum archive.Feedback, err error) {
	entries, err := s.Facts(ctx, "", archive.JournalAccess)
	for _, e := range entries {
		var fact archive.AccessFact
		if json.Unmarshal(e.Data, &fact) != nil || fact.How != archive.AccessUsed || fact.Of <= 0 {
			continue // entries that cannot be read have no effect
		}
		sum.Compactions++
		sum.Given += fact.Of
		sum.Used += min(len(fact.Refs), fact.Of)
	}
	return sum, err
}
