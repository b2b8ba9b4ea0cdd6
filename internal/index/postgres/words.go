package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// maxCounted is in how many sessions the passages of a word are counted: above it
// a word is common, and how common does not matter.
const maxCounted = 200

const wordCountQuery = "SELECT (SELECT coalesce(sum(n), 0) FROM (SELECT (octet_length(strong) + octet_length(weak)) / $3 AS n FROM postings " +
	"WHERE term = w.word LIMIT $2) p)::bigint FROM unnest($1::text[]) WITH ORDINALITY AS w (word, n) ORDER BY w.n"

// WordCounts returns how many passages hold each of words, of all sessions and
// kinds; beyond some hundreds it does not count further.
func (s *Store) WordCounts(ctx context.Context, words []string) (counts []int, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	cleaned := make([]string, len(words))
	for i, w := range words {
		cleaned[i] = clean(w)
	}
	err = s.read(ctx, "count words", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, wordCountQuery, []any{cleaned, maxCounted, postingSize}, func(scan scanFunc) error {
			var n int
			err := scan(&n)
			counts = append(counts, n)
			return err
		})
	})
	return counts, err
}

// wordsQuery leaps from one word to the next: reading the list as it stands would
// cost a row for each session that holds a word.
const wordsQuery = `WITH RECURSIVE leap (term, n) AS (
  (SELECT term, 1 FROM postings WHERE term >= $1 ORDER BY term LIMIT 1)
  UNION ALL
  SELECT (SELECT p.term FROM postings p WHERE p.term > leap.term ORDER BY p.term LIMIT 1), n + 1 FROM leap WHERE leap.term < $2 AND n < $3)
SELECT term FROM leap WHERE term < $2 ORDER BY term`

// WordsFrom returns the words that any passage holds and that begin with prefix,
// in ascending order, each once and at most limit of them.
func (s *Store) WordsFrom(ctx context.Context, prefix string, limit int) (words []string, err error) {
	prefix = clean(prefix)
	err = s.read(ctx, "list words", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, wordsQuery, []any{prefix, prefix + "\U0010FFFF", limit}, func(scan scanFunc) error {
			var w string
			err := scan(&w)
			words = append(words, w)
			return err
		})
	})
	return words, err
}
