package sqlite

import (
	"context"
	"errors"
	"slices"
	"strings"

	"strandline/internal/index"
)

// MATCH queries are used if the blocks of the full-text index have an unknown format.
const (
	listQuery   = "SELECT group_concat(rowid) FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
	cappedQuery = "SELECT group_concat(rowid) FROM (SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?)"
)

// Postings reads the passages that hold each word and each prefix.
func (t tx) Postings(ctx context.Context, words, prefixes []string, scope *index.Scope, limit int) ([]index.List, error) {
	marked := make([]string, 0, 2*len(words))
	for _, w := range words {
		marked = append(marked, w, w+index.StrongMark)
	}
	found, err := t.blockLists(ctx, marked, prefixes, scope, limit)
	if errors.Is(err, ErrFormat) {
		found, err = t.matchLists(ctx, marked, prefixes, scope, limit)
	}
	if err != nil {
		return nil, err
	}
	lists := make([]index.List, 0, len(words)+len(prefixes))
	for pair := range slices.Chunk(found[:len(marked)], 2) {
		lists = append(lists, index.List{Weak: pair[0], Strong: pair[1]})
	}
	for _, ids := range found[len(marked):] {
		lists = append(lists, index.List{Weak: ids})
	}
	return lists, nil
}

// blockLists reads the lists of words and prefixes from the blocks of the full-text index.
func (t tx) blockLists(ctx context.Context, words, prefixes []string, scope *index.Scope, limit int) ([][]int64, error) {
	p, err := t.newPostings(ctx, scope.Lo, scope.Hi, limit)
	if err != nil {
		return nil, err
	}
	lists, err := p.lists(ctx, words)
	for i := 0; err == nil && i < len(prefixes); i++ {
		var ids []int64
		if err = t.done.Err(); err == nil {
			ids, err = p.prefix(ctx, prefixes[i])
		}
		lists = append(lists, ids)
	}
	return lists, err
}

// matchLists reads the lists of words and prefixes by MATCH queries.
func (t tx) matchLists(ctx context.Context, words, prefixes []string, scope *index.Scope, limit int) (lists [][]int64, err error) {
	conditions := make([]string, 0, len(words)+len(prefixes))
	for _, w := range words {
		conditions = append(conditions, quote(w))
	}
	for _, prefix := range prefixes {
		conditions = append(conditions, quote(prefix)+" *")
	}
	for i := 0; err == nil && i < len(conditions); i++ {
		var ids []int64
		if err = t.done.Err(); err == nil {
			ids, err = t.list(ctx, conditions[i], scope, limit)
		}
		lists = append(lists, ids)
	}
	return lists, err
}

// quote returns a term as a string of the full-text query language, without operators.
func quote(term string) string { return `"` + strings.ReplaceAll(term, `"`, `""`) + `"` }

// list returns the matching passages within the scope's bounds, in ascending order.
// The query returns one string, which is ten times faster than a row for each.
func (t tx) list(ctx context.Context, match string, scope *index.Scope, limit int) ([]int64, error) {
	args := []any{match, scope.Lo, scope.Hi}
	query := listQuery
	if limit > 0 {
		query, args = cappedQuery, append(args, limit)
	}
	joined, err := index.Value[*string](ctx, t, query, args...)
	if err != nil || joined == nil {
		return nil, err
	}
	ids := splitNumbers(*joined)
	if limit > 0 {
		slices.Reverse(ids)
	}
	return ids, nil
}

// wordCountQuery counts each word's postings with and without the mark. A word that is
// not indexed costs two lookups.
const wordCountQuery = `SELECT (SELECT count(*) FROM (SELECT 1 FROM words_terms WHERE term = value LIMIT ?2))
  + (SELECT count(*) FROM (SELECT 1 FROM words_terms WHERE term = value || '` + index.StrongMark + `' LIMIT ?2))
  FROM json_each(?1) ORDER BY key`

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
func (s *Store) WordsFrom(ctx context.Context, prefix string, limit int) ([]string, error) {
	words, err := index.Read(ctx, s.Read, "list words", func(ctx context.Context, t index.Tx) ([]string, error) {
		// A word is listed twice if some passages hold it with the mark, which sorts
		// after all letters.
		return index.Column[string](ctx, t, wordsQuery, prefix, prefix+"\U0010FFFF", 2*limit)
	})
	for i, w := range words {
		words[i] = strings.TrimSuffix(w, index.StrongMark)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), limit)], err
}
