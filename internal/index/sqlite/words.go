package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/index"
)

// maxCounted is the number of passages at which counting stops: a word with more is
// common, and its exact count does not matter.
const maxCounted = 200

// wordCountQuery counts each word's postings with and without the mark. A word that is
// not indexed costs two lookups.
const wordCountQuery = `SELECT (SELECT count(*) FROM (SELECT 1 FROM words_terms WHERE term = value LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM words_terms WHERE term = value || ?3 LIMIT ?2))
  FROM json_each(?1) ORDER BY key`

// WordCounts returns the number of passages that hold each of words, in all sessions
// and of all kinds. It stops counting a word at a few hundred.
func (s *Store) WordCounts(ctx context.Context, words []string) (counts []int, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(words)
	if err != nil {
		return nil, fmt.Errorf("count words: %w", err)
	}
	err = s.read(ctx, "count words", func(ctx context.Context, t index.Tx) error {
		counts, err = index.Column[int](ctx, t, wordCountQuery, string(list), maxCounted, index.StrongMark)
		return err
	})
	return counts, err
}

// wordsQuery skips from one word to the next: reading the whole list would cost a row
// for each passage that holds a word. Every greater word is at least the word followed
// by the lowest character.
const wordsQuery = `WITH RECURSIVE skip(term) AS (
  SELECT * FROM (SELECT term FROM words_terms WHERE term >= ?1 LIMIT 1)
  UNION ALL
  SELECT (SELECT term FROM words_terms WHERE term >= skip.term || char(1) LIMIT 1) FROM skip WHERE skip.term < ?2 LIMIT ?3)
SELECT term FROM skip WHERE term < ?2`

// WordsFrom returns the indexed words that begin with prefix, in ascending order, each
// once and at most limit of them. If there are more, any of them may be left out.
func (s *Store) WordsFrom(ctx context.Context, prefix string, limit int) (words []string, err error) {
	err = s.read(ctx, "list words", func(ctx context.Context, t index.Tx) error {
		// A word is listed twice if some passages hold it with the mark, which sorts
		// after all letters.
		return t.Query(ctx, wordsQuery, []any{prefix, prefix + "\U0010FFFF", 2 * limit}, func(scan index.Scan) error {
			var w string
			err := scan(&w)
			words = append(words, strings.TrimSuffix(w, index.StrongMark))
			return err
		})
	})
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), limit)], err
}
