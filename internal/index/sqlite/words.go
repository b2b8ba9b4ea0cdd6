package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/index"
)

// maxCounted is where counting the passages of a word ends: above it a word is
// common, and how common does not matter.
const maxCounted = 200

// wordCountQuery counts each word's postings with and without the mark; a word that
// is not indexed costs two looks into the index.
const wordCountQuery = `SELECT (SELECT count(*) FROM (SELECT 1 FROM words_terms WHERE term = value LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM words_terms WHERE term = value || ?3 LIMIT ?2))
  FROM json_each(?1) ORDER BY key`

// WordCounts returns how many passages hold each of words, of all sessions and
// kinds; beyond some hundreds it does not count further.
func (s *Store) WordCounts(ctx context.Context, words []string) (counts []int, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(words)
	if err != nil {
		return nil, fmt.Errorf("count words: %w", err)
	}
	err = s.read(ctx, "count words", func(ctx context.Context) error {
		counts = make([]int, 0, len(words))
		return s.query(ctx, wordCountQuery, []any{string(list), maxCounted, index.StrongMark}, func(scan scanFunc) error {
			var n int
			if err := scan(&n); err != nil {
				return err
			}
			counts = append(counts, n)
			return nil
		})
	})
	return counts, err
}

// wordsQuery leaps from one word to the next: reading the list as it stands would
// cost a row for each passage that holds a word. Every word above another one is
// above that word with the lowest character behind it.
const wordsQuery = `WITH RECURSIVE leap(term) AS (
  SELECT * FROM (SELECT term FROM words_terms WHERE term >= ?1 LIMIT 1)
  UNION ALL
  SELECT (SELECT term FROM words_terms WHERE term >= leap.term || char(1) LIMIT 1) FROM leap WHERE leap.term < ?2 LIMIT ?3)
SELECT term FROM leap WHERE term < ?2`

// WordsFrom returns the words that any passage holds and that begin with prefix,
// in ascending order, each once and at most limit of them; which ones of more is
// not said.
func (s *Store) WordsFrom(ctx context.Context, prefix string, limit int) (words []string, err error) {
	err = s.read(ctx, "list words", func(ctx context.Context) error {
		// A word stands twice where some passages hold it with its mark, and the
		// mark comes behind all letters.
		return s.query(ctx, wordsQuery, []any{prefix, prefix + "\U0010FFFF", 2 * limit}, func(scan scanFunc) error {
			var w string
			if err := scan(&w); err != nil {
				return err
			}
			words = append(words, strings.TrimSuffix(w, index.StrongMark))
			return nil
		})
	})
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), limit)], err
}
