package postgres

import (
	"context"
	"slices"

	"strandline/internal/index"
)

const (
	// The newest sessions' postings come first if their number is limited: s and k
	// are the bytes of the rows before a row.
	listQuery = "SELECT n, session, strong, weak FROM (SELECT w.n, p.session, p.strong, p.weak, " +
		"sum(octet_length(p.strong)) OVER newer - octet_length(p.strong) AS s, sum(octet_length(p.weak)) OVER newer - octet_length(p.weak) AS k " +
		"FROM unnest(?1::text[]) WITH ORDINALITY AS w (word, n) JOIN postings p ON p.term = w.word " +
		"WHERE p.session BETWEEN ?2 AND ?3 WINDOW newer AS (PARTITION BY w.n ORDER BY p.session DESC)) x " +
		"WHERE ?4 = 0 OR s < ?4 OR k < ?4 ORDER BY n, session"
	prefixQuery = "SELECT session, strong, weak FROM postings WHERE term >= ? AND term < ? AND session BETWEEN ? AND ? ORDER BY session"
)

// Postings reads the passages that hold each word and each prefix.
func (t tx) Postings(ctx context.Context, words, prefixes []string, scope *index.Scope, limit int) ([]index.List, error) {
	lists := make([]index.List, len(words), len(words)+len(prefixes))
	lo, hi := index.ID(scope.Lo).Session(), index.ID(scope.Hi).Session()
	err := t.Query(ctx, listQuery, []any{words, lo, hi, limit * postingSize}, func(scan index.Scan) error {
		var n int
		var session int64
		var strong, weak []byte
		if err := scan(&n, &session, &strong, &weak); err != nil {
			return err
		}
		l := &lists[n-1]
		l.Strong, l.Weak = appendIDs(l.Strong, session, strong), appendIDs(l.Weak, session, weak)
		return nil
	})
	for i := 0; err == nil && i < len(prefixes); i++ {
		var ids []int64
		err = t.Query(ctx, prefixQuery, []any{prefixes[i], prefixes[i] + afterAll, lo, hi}, func(scan index.Scan) error {
			var session int64
			var strong, weak []byte
			err := scan(&session, &strong, &weak)
			ids = appendIDs(appendIDs(ids, session, strong), session, weak)
			return err
		})
		slices.Sort(ids)
		lists = append(lists, index.List{Weak: slices.Compact(ids)})
	}
	return lists, err
}

// afterAll is the last character: prefix+afterAll sorts after all words with a prefix.
const afterAll = "\U0010FFFF"

const wordCountQuery = "SELECT (SELECT coalesce(sum(n), 0) FROM (SELECT (octet_length(strong) + octet_length(weak)) / 4 AS n FROM postings " +
	"WHERE term = w.word LIMIT ?2) p)::bigint FROM unnest(?1::text[]) WITH ORDINALITY AS w (word, n) ORDER BY w.n"

// wordsQuery skips from one word to the next: reading the whole list would cost a row
// for each session that holds a word.
const wordsQuery = `WITH RECURSIVE skip (term, n) AS (
  (SELECT term, 1 FROM postings WHERE term >= ?1 ORDER BY term LIMIT 1)
  UNION ALL
  SELECT (SELECT p.term FROM postings p WHERE p.term > skip.term ORDER BY p.term LIMIT 1), n + 1 FROM skip WHERE skip.term < ?2 AND n < ?3)
SELECT term FROM skip WHERE term < ?2 ORDER BY term`

// WordsFrom returns the indexed words that begin with prefix, in ascending order, each
// once and at most limit of them.
func (s *Store) WordsFrom(ctx context.Context, prefix string, limit int) ([]string, error) {
	return index.Read(ctx, s.Read, "list words", func(ctx context.Context, t index.Tx) ([]string, error) {
		return index.Column[string](ctx, t, wordsQuery, prefix, prefix+afterAll, limit)
	})
}
