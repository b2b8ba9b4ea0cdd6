package postgres

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const integrityQuery = `SELECT s.id, s.held, coalesce(p.n, 0), coalesce(p.terms, 0), coalesce(o.terms, 0)
FROM sessions s
LEFT JOIN (SELECT session, count(*) AS n, sum(cardinality(string_to_array(nullif(terms, ''), ' ')))::bigint AS terms FROM passages GROUP BY session) p ON p.session = s.no
LEFT JOIN (SELECT session, sum(octet_length(strong) + octet_length(weak))::bigint / ? AS terms FROM postings GROUP BY session) o ON o.session = s.no
WHERE s.held <> coalesce(p.n, 0) OR coalesce(p.terms, 0) <> coalesce(o.terms, 0) ORDER BY s.no LIMIT 1`

// Integrity checks that the passages of each session agree with their count and with
// the lists of their terms. It fails with CodeCorrupt. It reads all terms.
func (s *Store) Integrity(ctx context.Context) error {
	return s.read(ctx, "check the team's archive", func(ctx context.Context, t index.Tx) error {
		var id string
		var held, passages, terms, postings int64
		found, err := t.QueryRow(ctx, integrityQuery, []any{postingSize}, &id, &held, &passages, &terms, &postings)
		if err != nil || !found {
			return err
		}
		return &archive.Error{
			Code: archive.CodeCorrupt,
			Msg: fmt.Sprintf("session %s in the team's archive is damaged: %d passages, %d counted; %d terms, %d of them listed",
				archive.ShortID(id), passages, held, terms, postings),
			Hint: "push it again with: strandline sync --again",
		}
	})
}
