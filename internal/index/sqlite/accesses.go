package sqlite

import (
	"context"
	"encoding/json"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const insertAccess = "INSERT INTO accesses (session_id, turn, step, time, id, how) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"

func (s *Store) applyAccess(ctx context.Context, e *archive.JournalEntry, fact archive.AccessFact) error {
	for _, ref := range fact.Refs {
		if _, err := s.exec(ctx, insertAccess, ref.Session, ref.Turn, ref.Step, index.Nanos(e.Time), e.ID, fact.How); err != nil {
			return err
		}
	}
	return nil
}

// Accesses returns when places of a session were given to the model, by place
// and then by time.
func (s *Store) Accesses(ctx context.Context, session string) (out []archive.Access, err error) {
	const query = "SELECT turn, step, time, how FROM accesses WHERE session_id = ? ORDER BY turn, step, time, id"
	err = s.read(ctx, "read accesses", func(ctx context.Context) error {
		return s.query(ctx, query, []any{session}, func(scan scanFunc) error {
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

// Recorded returns those of the journal entries' identities that the index knows.
func (s *Store) Recorded(ctx context.Context, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	err := s.read(ctx, "look up journal entries", func(ctx context.Context) error {
		return inChunks(ids, func(chunk []any) error {
			return s.query(ctx, "SELECT id FROM journal WHERE id IN ("+marks(len(chunk))+")", chunk, func(scan scanFunc) error {
				var id string
				err := scan(&id)
				known[id] = true
				return err
			})
		})
	})
	return known, err
}

// Feedback sums up what was used of what compactions gave back, as far as that
// was measured.
func (s *Store) Feedback(ctx context.Context) (sum archive.Feedback, err error) {
	const query = "SELECT data FROM journal WHERE kind = ?"
	err = s.read(ctx, "read what was used", func(ctx context.Context) error {
		return s.query(ctx, query, []any{string(archive.JournalAccess)}, func(scan scanFunc) error {
			var data []byte
			if err := scan(&data); err != nil {
				return err
			}
			var fact archive.AccessFact
			if json.Unmarshal(data, &fact) != nil || fact.How != archive.AccessUsed || fact.Of <= 0 {
				return nil //nolint:nilerr // entries that cannot be read have no effect
			}
			sum.Compactions++
			sum.Given += fact.Of
			sum.Used += min(len(fact.Refs), fact.Of)
			return nil
		})
	})
	return sum, err
}
