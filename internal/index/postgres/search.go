package postgres

import (
	"context"
	"slices"

	"strandline/internal/archive"
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

// Lists reads the passages that hold each term. If some terms are required, passages
// without one of them are left out.
func (t tx) Lists(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	required := slices.ContainsFunc(terms, func(term archive.Term) bool { return term.Must })
	atMost := limit
	if required {
		atMost = 0 // the newest passages that hold all of them may be old
	}
	lists, err := t.wordLists(ctx, terms, scope, atMost)
	if err != nil {
		return nil, err
	}
	for i, term := range terms {
		if term.Prefix {
			if lists[i].Weak, err = t.prefixList(ctx, term.Text, scope); err != nil {
				return nil, err
			}
		}
	}
	if required {
		require(lists)
	}
	for i := range lists {
		lists[i].Strong, lists[i].Weak = index.Newest(lists[i].Strong, limit), index.Newest(lists[i].Weak, limit)
	}
	return lists, nil
}

// wordLists reads the lists of terms that are whole words.
func (t tx) wordLists(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	lists := make([]index.List, len(terms))
	var words []string
	var of []int // the term of each word
	for i, term := range terms {
		lists[i].Term = term
		if term.Prefix {
			continue
		}
		for _, form := range index.Forms(term) {
			words, of = append(words, form), append(of, i)
		}
	}
	type pair struct{ strong, weak []int64 }
	found := make([]pair, len(words))
	lo, hi := index.ID(scope.Lo).Session(), index.ID(scope.Hi).Session()
	err := t.Query(ctx, listQuery, []any{words, lo, hi, limit * postingSize}, func(scan index.Scan) error {
		var n int
		var session int64
		var strong, weak []byte
		if err := scan(&n, &session, &strong, &weak); err != nil {
			return err
		}
		f := &found[n-1]
		f.strong, f.weak = appendIDs(f.strong, session, strong), appendIDs(f.weak, session, weak)
		return nil
	})
	for i, f := range found {
		l := &lists[of[i]]
		l.Strong, l.Weak = index.Union(l.Strong, f.strong), index.Union(l.Weak, f.weak)
	}
	return lists, err
}

// prefixList reads the passages that hold a word with a prefix.
func (t tx) prefixList(ctx context.Context, prefix string, scope *index.Scope) (ids []int64, err error) {
	args := []any{prefix, prefix + afterAll, index.ID(scope.Lo).Session(), index.ID(scope.Hi).Session()}
	err = t.Query(ctx, prefixQuery, args, func(scan index.Scan) error {
		var session int64
		var strong, weak []byte
		err := scan(&session, &strong, &weak)
		ids = appendIDs(appendIDs(ids, session, strong), session, weak)
		return err
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// afterAll is the last character: prefix+afterAll sorts after all words with a prefix.
const afterAll = "\U0010FFFF"

// require deletes passages from the lists that do not hold every other required term.
func require(lists []index.List) {
	all := make([][]int64, len(lists))
	for i := range lists {
		if lists[i].Term.Must {
			all[i] = index.Union(lists[i].Strong, lists[i].Weak)
		}
	}
	for i := range lists {
		for j, with := range all {
			if j != i && lists[j].Term.Must {
				lists[i].Strong, lists[i].Weak = intersect(lists[i].Strong, with), intersect(lists[i].Weak, with)
			}
		}
	}
}

// intersect returns the IDs in both x and y, which ascend.
func intersect(x, y []int64) []int64 {
	out := make([]int64, 0, min(len(x), len(y)))
	for _, id := range x {
		for len(y) > 0 && y[0] < id {
			y = y[1:]
		}
		if len(y) > 0 && y[0] == id {
			out = append(out, id)
		}
	}
	return out
}

// maxCounted is the number of sessions in which the passages of a word are counted: a
// word in more of them is common, and its exact count does not matter.
const maxCounted = 200

const wordCountQuery = "SELECT (SELECT coalesce(sum(n), 0) FROM (SELECT (octet_length(strong) + octet_length(weak)) / ?3 AS n FROM postings " +
	"WHERE term = w.word LIMIT ?2) p)::bigint FROM unnest(?1::text[]) WITH ORDINALITY AS w (word, n) ORDER BY w.n"

// WordCounts returns the number of passages that hold each of words, in all sessions
// and of all kinds. It stops counting a word after a few hundred sessions.
func (s *Store) WordCounts(ctx context.Context, words []string) (counts []int, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	err = s.read(ctx, "count words", func(ctx context.Context, t index.Tx) error {
		counts, err = index.Column[int](ctx, t, wordCountQuery, words, maxCounted, postingSize)
		return err
	})
	return counts, err
}

// wordsQuery skips from one word to the next: reading the whole list would cost a row
// for each session that holds a word.
const wordsQuery = `WITH RECURSIVE skip (term, n) AS (
  (SELECT term, 1 FROM postings WHERE term >= ?1 ORDER BY term LIMIT 1)
  UNION ALL
  SELECT (SELECT p.term FROM postings p WHERE p.term > skip.term ORDER BY p.term LIMIT 1), n + 1 FROM skip WHERE skip.term < ?2 AND n < ?3)
SELECT term FROM skip WHERE term < ?2 ORDER BY term`

// WordsFrom returns the indexed words that begin with prefix, in ascending order, each
// once and at most limit of them.
func (s *Store) WordsFrom(ctx context.Context, prefix string, limit int) (words []string, err error) {
	err = s.read(ctx, "list words", func(ctx context.Context, t index.Tx) error {
		words, err = index.Column[string](ctx, t, wordsQuery, prefix, prefix+afterAll, limit)
		return err
	})
	return words, err
}
