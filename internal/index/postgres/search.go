package postgres

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Search returns the passages that match q best, best first; between equals the
// newer one. It returns none if q has no terms.
func (s *Store) Search(ctx context.Context, q archive.Query) (hits []archive.Hit, err error) {
	if len(q.Terms) == 0 {
		return nil, nil
	}
	err = s.read(ctx, "search", func(ctx context.Context, tx pgx.Tx) error {
		x, err := newSearch(ctx, tx, &q)
		if err == nil {
			hits, err = x.Hits(ctx)
		}
		return err
	})
	return hits, err
}

// HitsOf returns the passages with these numbers that exist and that the query's
// filters let through, in the order of the numbers. Terms and Limit of the query
// are not looked at, and scores are 0.
func (s *Store) HitsOf(ctx context.Context, q archive.Query, passages []int64) (hits []archive.Hit, err error) {
	err = s.read(ctx, "search", func(ctx context.Context, tx pgx.Tx) error {
		x, err := newSearch(ctx, tx, &q)
		if err == nil {
			hits, err = x.Numbered(ctx, passages)
		}
		return err
	})
	return hits, err
}

// VectorScope returns the test which passages, by their numbers, a query's
// filters may let through; nil if all. What only the rows tell (time, lines,
// branches left behind, places shared with a fork) HitsOf decides.
func (s *Store) VectorScope(ctx context.Context, q archive.Query) (keep func(passage int64) bool, err error) {
	err = s.read(ctx, "search", func(ctx context.Context, tx pgx.Tx) error {
		x, err := newSearch(ctx, tx, &q)
		if err == nil && !x.Scope.Everything() {
			keep = x.Scope.Test()
		}
		return err
	})
	return keep, err
}

// searcher is what a search asks of the store.
type searcher struct {
	tx    pgx.Tx
	names *index.Projects
}

func newSearch(ctx context.Context, tx pgx.Tx, q *archive.Query) (*index.Search, error) {
	names, err := projectNames(ctx, tx)
	if err != nil {
		return nil, err
	}
	scope, err := newScope(ctx, tx, q, names)
	return &index.Search{Source: &searcher{tx, names}, Query: q, Scope: scope, Done: ctx}, err
}

// newScope finds out where a query looks.
func newScope(ctx context.Context, tx pgx.Tx, q *archive.Query, names *index.Projects) (*index.Scope, error) {
	size, err := passageCount(ctx, tx)
	if err != nil {
		return nil, err
	}
	x := index.NewScope(q, size)
	for _, id := range q.Sessions {
		if err := addSession(ctx, tx, x, q, id); err != nil {
			return nil, err
		}
	}
	if len(q.Projects) > 0 {
		list, err := numbers(ctx, tx, "SELECT no FROM sessions WHERE project = ANY($1)", names.Numbers(q.Projects))
		if err != nil {
			return nil, err
		}
		of := make(map[int64]bool, len(list))
		for _, no := range list {
			of[no] = true
		}
		x.Narrow(of)
	}
	x.Bound()
	return x, nil
}

const sharedQuery = "SELECT copy_session, copy_turn, -1 FROM turns WHERE session = $1 AND copy_session NOT IN (0, $1) AND line_from < $2 " +
	"UNION ALL SELECT copy_session, copy_turn, copy_step FROM steps WHERE session = $1 AND copy_session NOT IN (0, $1) AND line_from < $2"

// addSession adds a session and the places that it shares with those it was
// copied from. Only passages of its own are numbered under it.
func addSession(ctx context.Context, tx pgx.Tx, x *index.Scope, q *archive.Query, id string) error {
	var no int64
	var size int
	found, err := queryRow(ctx, tx, "SELECT no, next_doc FROM sessions WHERE id = $1", []any{id}, &no, &size)
	if err != nil || !found {
		return err
	}
	x.AddSession(no, size)
	before := int64(math.MaxInt64)
	if q.BeforeLine > 0 {
		before = int64(q.BeforeLine)
	}
	return query(ctx, tx, sharedQuery, []any{no, before}, func(scan scanFunc) error {
		var p index.SharedPlace
		err := scan(&p.Session, &p.Turn, &p.Step)
		x.Share(p)
		return err
	})
}

const (
	// The newest sessions' postings come first where only so many are wanted: newer
	// counts the bytes of those before a row.
	listQuery = "SELECT n, session, strong, weak FROM (SELECT w.n, p.session, p.strong, p.weak, " +
		"sum(octet_length(p.strong)) OVER newer - octet_length(p.strong) AS s, sum(octet_length(p.weak)) OVER newer - octet_length(p.weak) AS k " +
		"FROM unnest($1::text[]) WITH ORDINALITY AS w (word, n) JOIN postings p ON p.term = w.word " +
		"WHERE p.session BETWEEN $2 AND $3 WINDOW newer AS (PARTITION BY w.n ORDER BY p.session DESC)) x " +
		"WHERE $4 = 0 OR s < $4 OR k < $4 ORDER BY n, session"
	prefixQuery = "SELECT session, strong, weak FROM postings WHERE term >= $1 AND term < $2 AND session BETWEEN $3 AND $4 ORDER BY session"
)

// Lists reads which passages hold each term. Where terms must be there, passages
// without one of them are in no list.
func (x *searcher) Lists(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	must := slices.ContainsFunc(terms, func(t archive.Term) bool { return t.Must })
	atMost := limit
	if must {
		atMost = 0 // the newest that hold all of them may be old
	}
	lists, err := x.wordLists(ctx, terms, scope, atMost)
	if err != nil {
		return nil, err
	}
	for i, t := range terms {
		if t.Prefix {
			if lists[i].Weak, err = x.prefixList(ctx, t.Text, scope); err != nil {
				return nil, err
			}
		}
	}
	if must {
		require(lists)
	}
	for i := range lists {
		lists[i].Strong, lists[i].Weak = newest(lists[i].Strong, limit), newest(lists[i].Weak, limit)
	}
	return lists, nil
}

// wordLists reads the lists of terms that are whole words.
func (x *searcher) wordLists(ctx context.Context, terms []archive.Term, scope *index.Scope, limit int) ([]index.List, error) {
	lists := make([]index.List, len(terms))
	var words []string
	var of []int // the term of each word
	for i, t := range terms {
		lists[i].Term = t
		if t.Prefix {
			continue
		}
		for _, form := range append([]string{t.Text}, strings.Fields(t.Forms)...) {
			words, of = append(words, clean(form)), append(of, i)
		}
	}
	type pair struct{ strong, weak []int64 }
	found := make([]pair, len(words))
	lo, hi := index.ID(scope.Lo).Session(), index.ID(scope.Hi).Session()
	err := query(ctx, x.tx, listQuery, []any{words, lo, hi, limit * postingSize}, func(scan scanFunc) error {
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

// prefixList reads the passages that hold a word with this beginning.
func (x *searcher) prefixList(ctx context.Context, prefix string, scope *index.Scope) (ids []int64, err error) {
	args := []any{clean(prefix), clean(prefix) + "\U0010FFFF", index.ID(scope.Lo).Session(), index.ID(scope.Hi).Session()}
	err = query(ctx, x.tx, prefixQuery, args, func(scan scanFunc) error {
		var session int64
		var strong, weak []byte
		err := scan(&session, &strong, &weak)
		ids = appendIDs(appendIDs(ids, session, strong), session, weak)
		return err
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// require leaves only passages in the lists that hold every other Must term.
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
				lists[i].Strong, lists[i].Weak = both(lists[i].Strong, with), both(lists[i].Weak, with)
			}
		}
	}
}

// both returns what x and y hold; both ascend.
func both(x, y []int64) []int64 {
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

// newest cuts a list to a limit, 0 for none.
func newest(ids []int64, limit int) []int64 {
	if limit > 0 && len(ids) > limit {
		return ids[len(ids)-limit:]
	}
	return ids
}

const topQuery = "SELECT " + index.PassageColumns + ", id, coalesce((SELECT dead FROM turns t WHERE t.session = r.session AND t.turn = r.turn), false), " +
	"(SELECT id FROM passages p WHERE p.session = r.session AND p.turn = r.turn ORDER BY step, seq LIMIT 1), " +
	"(SELECT id FROM passages p WHERE p.session = r.session AND p.turn = r.turn ORDER BY step DESC, seq DESC LIMIT 1) FROM passages r WHERE id = ANY($1)"

// Rows reads passages by their numbers.
func (x *searcher) Rows(ctx context.Context, ids []int64) (read []index.Scored, err error) {
	err = query(ctx, x.tx, topQuery, []any{ids}, func(scan scanFunc) error {
		var h index.Scored
		err := index.ReadPassage(scan, &h.Passage, (*int64)(&h.ID), &h.Dead, (*int64)(&h.First), (*int64)(&h.Last))
		read = append(read, h)
		return err
	})
	return read, err
}

// Refill has nothing to do: no text is missing here.
func (x *searcher) Refill(context.Context, []index.Scored) error { return nil }

const ownersQuery = "SELECT s.no, s.id, s.author, s.worktree, coalesce(p.key, ''), coalesce(p.name, ''), coalesce(p.root, ''), coalesce(p.remote, '') " +
	"FROM sessions s LEFT JOIN projects p ON p.no = s.project WHERE s.no = ANY($1)"

// Owners reads the ids and projects of sessions by their numbers.
func (x *searcher) Owners(ctx context.Context, sessions []int64) (map[int64]archive.Session, error) {
	owners := make(map[int64]archive.Session, len(sessions))
	err := query(ctx, x.tx, ownersQuery, []any{sessions}, func(scan scanFunc) error {
		var no int64
		var owner archive.Session
		p := &owner.Project
		err := scan(&no, &owner.ID, &owner.Author, &p.Worktree, &p.Key, &p.Name, &p.Root, &p.Remote)
		owner.Project = x.names.Resolve(owner.Project)
		owners[no] = owner
		return err
	})
	return owners, err
}
