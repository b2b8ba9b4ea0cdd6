package index

import (
	"cmp"
	"context"
	"math"
	"slices"

	"strandline/internal/archive"
)

const (
	defaultLimit = 10
	// listCap is the number of passages per term that are considered first, the
	// newest. A term with more passages selects little, and scoring counts it in
	// every passage that the other terms find.
	listCap = 8_000
	// readAtLeast is the least number of candidates that are read and scored.
	readAtLeast = 48
)

// Search returns the passages that match q, best first; of equal ones the newer
// comes first. Without terms it returns none.
func (s *Store) Search(ctx context.Context, q archive.Query) ([]archive.Hit, error) {
	if len(q.Terms) == 0 {
		return nil, nil
	}
	return searching(ctx, s, q, func(ctx context.Context, x *search) ([]archive.Hit, error) { return x.hits(ctx) })
}

// Counts returns how common the terms of q are. It reads only lists of passages, not the
// passages. A count stops at listCap.
func (s *Store) Counts(ctx context.Context, q archive.Query) (archive.Counts, error) {
	return searching(ctx, s, q, func(ctx context.Context, x *search) (c archive.Counts, err error) {
		c.Terms = make([]archive.TermCount, len(q.Terms))
		if x.scope.Empty() {
			return c, nil
		}
		c.Passages, c.Sessions = x.scope.Size, len(x.scope.Sessions)
		if len(q.Projects) > 0 {
			projects := x.names.Numbers(q.Projects)
			query := "SELECT coalesce(sum(next_doc), 0) FROM sessions WHERE project IN (" + Marks(len(projects)) + ")"
			if c.Passages, err = Value[int](ctx, x.tx, query, anys(projects)...); err != nil {
				return c, err
			}
		}
		lists, err := Lists(ctx, x.tx, q.Terms, x.scope, listCap)
		admits := x.scope.Test()
		for i, l := range lists {
			ids := slices.DeleteFunc(Union(l.Strong, l.Weak), func(id int64) bool { return !admits(id) })
			c.Terms[i].Passages = len(ids)
			IDShape().runs(ids, func(int64, []int64) { c.Terms[i].Sessions++ })
		}
		return c, err
	})
}

// HitsOf returns those of the passages that exist and pass the query's filters, in
// the given order. It ignores the terms and the limit of the query, and scores are 0.
func (s *Store) HitsOf(ctx context.Context, q archive.Query, passages []int64) ([]archive.Hit, error) {
	return searching(ctx, s, q, func(ctx context.Context, x *search) ([]archive.Hit, error) { return x.numbered(ctx, passages) })
}

// VectorScope returns a test of which passages, by their IDs, may pass a query's
// filters, nil if all may. HitsOf applies the filters that need rows: time, lines,
// abandoned branches, places shared with a fork.
func (s *Store) VectorScope(ctx context.Context, q archive.Query) (func(passage int64) bool, error) {
	return searching(ctx, s, q, func(_ context.Context, x *search) (keep func(int64) bool, err error) {
		if !x.scope.Everything() {
			keep = x.scope.Test()
		}
		return keep, nil
	})
}

// searching runs fn with the scope of a query.
func searching[T any](ctx context.Context, s *Store, q archive.Query, fn func(ctx context.Context, x *search) (T, error)) (T, error) {
	return Read(ctx, s.read, "search", func(calm context.Context, tx Tx) (out T, err error) {
		x := &search{Store: s, tx: tx, query: &q, done: ctx}
		if x.names, err = readProjects(calm, tx); err != nil {
			return out, err
		}
		if x.scope, err = x.newScope(calm); err != nil {
			return out, err
		}
		return fn(calm, x)
	})
}

// search is one query with its scope.
type search struct {
	*Store
	tx    Tx
	query *archive.Query
	names *Projects
	scope *Scope
	done  context.Context //nolint:containedctx // the caller's, checked between the steps of a search
}

// newScope finds the sessions that the query covers.
func (x *search) newScope(ctx context.Context) (*Scope, error) {
	size, err := x.passageCount(ctx, x.tx)
	if err != nil {
		return nil, err
	}
	scope := NewScope(x.query, size)
	for _, id := range x.query.Sessions {
		if err := x.addSession(ctx, scope, id); err != nil {
			return nil, err
		}
	}
	if len(x.query.Projects) > 0 {
		projects := x.names.Numbers(x.query.Projects)
		of := map[int64]bool{}
		if err := AddColumn(ctx, x.tx, of, "SELECT no FROM sessions WHERE project IN ("+Marks(len(projects))+")", anys(projects)...); err != nil {
			return nil, err
		}
		scope.Narrow(of)
	}
	if len(x.query.Branches) > 0 {
		of := map[int64]bool{}
		if err := AddColumn(ctx, x.tx, of, "SELECT no FROM sessions WHERE branch IN ("+Marks(len(x.query.Branches))+")", anys(x.query.Branches)...); err != nil {
			return nil, err
		}
		scope.Narrow(of)
	}
	if len(x.query.Clients) > 0 {
		of := map[int64]bool{}
		if err := AddColumn(ctx, x.tx, of, "SELECT no FROM sessions WHERE client IN ("+Marks(len(x.query.Clients))+")", anys(x.query.Clients)...); err != nil {
			return nil, err
		}
		scope.Narrow(of)
	}
	scope.Bound()
	return scope, nil
}

// addSession adds a session, and the places in other sessions that its rows were
// copied from: only its own passages have its number.
func (x *search) addSession(ctx context.Context, scope *Scope, id string) error {
	var no int64
	var size int
	found, err := x.tx.QueryRow(ctx, "SELECT no, next_doc FROM sessions WHERE id = ?", []any{id}, &no, &size)
	if err != nil || !found {
		return err
	}
	scope.Sessions[no] = true
	scope.Size += size
	before := int64(math.MaxInt64)
	if x.query.BeforeLine > 0 {
		before = int64(x.query.BeforeLine)
	}
	const copied = " WHERE session = ?1 AND copy_session <> 0 AND copy_session <> ?1 AND line_from < ?2"
	const query = "SELECT copy_session, copy_turn, -1 FROM turns" + copied + " UNION ALL SELECT copy_session, copy_turn, copy_step FROM steps" + copied
	return x.tx.Query(ctx, query, []any{no, before}, func(scan Scan) error {
		var p SharedPlace
		err := scan(&p.Session, &p.Turn, &p.Step)
		scope.Shared[p] = true
		if !scope.Sessions[p.Session] {
			scope.Sessions[p.Session] = false
		}
		return err
	})
}

// scored is a hit with its ID, which orders equal hits, and the first and the last
// passage of its turn by place.
type scored struct {
	archive.Hit
	id, first, last ID
	dead            bool // of a turn that a rewind abandoned
}

// compareScored orders the better hit first, then the newer one.
func compareScored(x, y scored) int {
	return cmp.Or(cmp.Compare(y.Score, x.Score), y.Time.Compare(x.Time), cmp.Compare(y.id, x.id))
}

// hits returns the passages that match best, best first; of equal ones the newer
// comes first.
func (x *search) hits(ctx context.Context) ([]archive.Hit, error) {
	if x.query.Limit <= 0 {
		x.query.Limit = defaultLimit
	}
	if x.scope.Empty() {
		return nil, nil
	}
	for limit := listCap; ; limit = 0 {
		lists, err := Lists(ctx, x.tx, x.query.Terms, x.scope, limit)
		if err != nil {
			return nil, err
		}
		capped := false
		for i := range lists {
			l := &lists[i]
			capped = capped || limit > 0 && (len(l.Weak) >= limit || len(l.Strong) >= limit)
			if l.Term.Forms != "" {
				l.Weak = Without(l.Weak, l.Strong)
			}
		}
		candidates := x.scope.keep(IDShape().Merge(lists, x.scope.Size))
		IDShape().Lift(candidates, lists, x.scope.Size)
		also := IDShape().Find(candidates, archive.Select(x.query.Also, x.scope.Test()))
		ranker := NewRanker(lists, x.scope.Size, x.query.Answer)
		found, err := x.score(ctx, candidates, ranker)
		if err != nil {
			return nil, err
		}
		if capped && len(found) < x.wanted() {
			continue
		}
		if found, err = x.scoreAlso(ctx, also, ranker, found); err != nil {
			return nil, err
		}
		x.weigh(lists, found)
		return x.best(ctx, found)
	}
}

// wanted returns the number of passages that the hits are chosen from.
func (x *search) wanted() int { return max(readAtLeast, x.query.Limit) }

// score reads the best candidates and scores them by their text, until as many as
// wanted pass the query's filters.
func (x *search) score(ctx context.Context, candidates []Candidate, ranker *Ranker) (found []scored, err error) {
	for read := x.wanted(); len(candidates) > 0 && len(found) < x.wanted(); read *= 2 {
		if err := x.done.Err(); err != nil {
			return nil, err
		}
		top := Top(candidates, read)
		candidates = candidates[len(top):]
		scored, err := x.read(ctx, top, ranker)
		if err != nil {
			return nil, err
		}
		for _, h := range scored {
			if h.Evidence.Words > 0 {
				found = append(found, h)
			}
		}
	}
	return found, nil
}

// scoreAlso appends the passages of Query.Also that were not found.
func (x *search) scoreAlso(ctx context.Context, also []Candidate, ranker *Ranker, found []scored) ([]scored, error) {
	known := make(map[ID]bool, len(found))
	for i := range found {
		known[found[i].id] = true
	}
	more, err := x.read(ctx, archive.Select(also, func(c Candidate) bool { return !known[ID(c.ID)] }), ranker)
	return append(found, more...), err
}

// weigh sets the scores of all hits.
func (x *search) weigh(lists []List, found []scored) {
	x.addTurns(lists, found)
	all := make([]*archive.Hit, len(found))
	for i := range found {
		all[i] = &found[i].Hit
	}
	IDShape().Follow(all)
	Weigh(all)
}

// read reads candidates and returns those that pass the query's filters and have its
// required terms, with the evidence for them.
func (x *search) read(ctx context.Context, top []Candidate, ranker *Ranker) (found []scored, err error) {
	ids := make([]int64, len(top))
	lifted := make(map[ID]Candidate, len(top))
	for i, c := range top {
		ids[i] = c.ID
		lifted[ID(c.ID)] = c
	}
	read, err := x.rows(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, h := range read {
		e, c := &h.Evidence, lifted[h.id]
		if *e = ranker.Score(&h.Passage); e.Words >= 0 {
			e.Before, e.Session = float64(c.Before), float64(c.Session)
			found = append(found, h)
		}
	}
	return found, nil
}

// rowsQuery reads passages with the columns of scored. A condition on the ID follows.
const (
	ofTurn    = "(SELECT id FROM passages p WHERE p.session = r.session AND p.turn = r.turn ORDER BY "
	rowsQuery = "SELECT " + passageColumns + ", id, coalesce((SELECT dead FROM turns t WHERE t.session = r.session AND t.turn = r.turn), false), " +
		ofTurn + "step, seq LIMIT 1), " + ofTurn + "step DESC, seq DESC LIMIT 1) FROM passages r WHERE id"
)

// rows reads those of the passages that pass the query's filters.
func (x *search) rows(ctx context.Context, ids []int64) (found []scored, err error) {
	err = inChunks(x.Store, ids, func(in string, args []any) error {
		if x.query.Failed {
			in += " AND " + ofFailedCall
		}
		return x.tx.Query(ctx, rowsQuery+in, args, func(scan Scan) error {
			var h scored
			err := ReadPassage(scan, &h.Passage, &h.id, &h.dead, &h.first, &h.last)
			if err == nil && (!h.dead || x.query.Dead) && x.scope.Admits(x.query, &h.Passage, h.id) {
				h.ID = int64(h.id)
				found = append(found, h)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	missing := map[int64][]*archive.Passage{} // without texts, by session
	for i := range found {
		if h := &found[i]; h.Text == "" {
			missing[h.id.Session()] = append(missing[h.id.Session()], &h.Passage)
		}
	}
	for session, ps := range missing {
		if err := x.tx.Refill(ctx, session, ps); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// addTurns sets the evidence from the whole turns of hits.
func (x *search) addTurns(lists []List, found []scored) {
	known := map[ID]float64{} // by a turn's first passage
	for i := range found {
		h := &found[i]
		first, last := min(h.first, h.last), max(h.first, h.last)
		score, ok := known[first]
		if !ok {
			score = IDShape().Turn(lists, x.scope.Size, int64(first), int64(last))
			known[first] = score
		}
		h.Evidence.Turn = score
	}
}

// best returns the best of the passages, up to the query's limit, each with its
// session and project.
func (x *search) best(ctx context.Context, found []scored) ([]archive.Hit, error) {
	slices.SortFunc(found, compareScored)
	found = found[:min(x.query.Limit+len(x.query.Also), len(found))]
	sessions := archive.Convert(found, func(h scored) int64 { return h.id.Session() })
	slices.Sort(sessions)
	owners, err := x.owners(ctx, slices.Compact(sessions))
	out := make([]archive.Hit, len(found))
	for i, h := range found {
		owner := owners[h.id.Session()]
		h.Session, h.Project, h.Author = owner.ID, owner.Project, owner.Author
		h.Title, h.Client = owner.Title, owner.Client
		out[i] = h.Hit
	}
	return out, err
}

// owners returns sessions by their numbers, with their IDs, projects and authors.
func (x *search) owners(ctx context.Context, sessions []int64) (map[int64]archive.Session, error) {
	owners := make(map[int64]archive.Session, len(sessions))
	return owners, inChunks(x.Store, sessions, func(in string, args []any) error {
		query := "SELECT s.no, s.id, s.worktree, s.title, s.client, " + x.contributorSelection() + projectSelection +
			" FROM sessions s LEFT JOIN projects p ON p.no = s.project WHERE s.no" + in
		return x.tx.Query(ctx, query, args, func(scan Scan) error {
			var no int64
			var owner archive.Session
			p := &owner.Project
			dest := []any{&no, &owner.ID, &p.Worktree, &owner.Title, &owner.Client}
			if x.sql.Contributor != nil {
				dest = append(dest, &owner.Author, &owner.Machine)
			}
			err := scan(append(dest, &p.Key, &p.Name, &p.Root, &p.Remote)...)
			owner.Project = x.names.Resolve(owner.Project)
			owners[no] = owner
			return err
		})
	})
}

// numbered implements HitsOf.
func (x *search) numbered(ctx context.Context, passages []int64) ([]archive.Hit, error) {
	found, err := x.rows(ctx, archive.Select(passages, x.scope.Test()))
	if err != nil {
		return nil, err
	}
	rank := make(map[ID]int, len(passages))
	for i, id := range slices.Backward(passages) {
		rank[ID(id)] = i
	}
	for i := range found {
		found[i].Score = -float64(rank[found[i].id])
	}
	x.query.Limit = len(found)
	hits, err := x.best(ctx, found)
	for i := range hits {
		hits[i].Score = 0
	}
	return hits, err
}

// maxCounted is the number of passages or, in PostgreSQL, of sessions at which counting
// stops: a word with more is common, and its exact count does not matter.
const maxCounted = 200

// WordCounts returns the number of passages that hold each of words, in all sessions
// and of all kinds. It stops counting a word at maxCounted.
func (s *Store) WordCounts(ctx context.Context, words []string) ([]int, error) {
	if len(words) == 0 {
		return nil, nil
	}
	return Read(ctx, s.read, "count words", func(ctx context.Context, tx Tx) ([]int, error) {
		return Column[int](ctx, tx, s.sql.WordCounts, words, maxCounted)
	})
}
