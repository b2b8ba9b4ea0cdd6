package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Apply stores what a reader found, in one transaction: all of it is there
// afterwards or nothing. Rows replace those of the same place; an identity stays
// with its first owner, and a turn that was dead stays dead.
//
// A batch that ends at the session's cursor or before it has been applied and
// changes nothing. One that begins elsewhere than at the cursor is refused with
// archive.ErrStale.
func (s *Store) Apply(ctx context.Context, b archive.Batch) error {
	return s.ApplyAll(ctx, []archive.Batch{b})
}

// ApplyAll stores several batches in one transaction, those of one session in
// their order.
func (s *Store) ApplyAll(ctx context.Context, bs []archive.Batch) error {
	var ids []string
	for i := range bs {
		id := bs[i].Session.ID
		if !index.ValidID(id) {
			return archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(id, 60)), "")
		}
		ids = append(ids, id)
		ids = append(ids, spokenOf(&bs[i])...)
	}
	return s.write(ctx, "store a session", func(ctx context.Context, tx pgx.Tx) error {
		numbers, err := intern(ctx, tx, ids)
		if err != nil {
			return err
		}
		order := make([]*archive.Batch, len(bs))
		for i := range bs {
			order[i] = &bs[i]
		}
		// All take the locks on sessions in one order, so that nobody waits in a circle.
		slices.SortStableFunc(order, func(x, y *archive.Batch) int { return int(numbers[x.Session.ID] - numbers[y.Session.ID]) })
		for _, b := range order {
			w := &batchWriter{s: s, tx: tx, b: b, no: numbers[b.Session.ID], numbers: numbers}
			if err := index.StoreBatch(ctx, w.b.Session.ID, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// spokenOf lists the sessions that a batch's rows were copied from.
func spokenOf(b *archive.Batch) (ids []string) {
	add := func(ref *archive.Ref) {
		if ref != nil && ref.Session != b.Session.ID && (len(ids) == 0 || ids[len(ids)-1] != ref.Session) {
			ids = append(ids, ref.Session)
		}
	}
	for i := range b.Turns {
		add(b.Turns[i].Copy)
	}
	for i := range b.Steps {
		add(b.Steps[i].Copy)
	}
	for i := range b.Keys {
		add(&b.Keys[i].Ref)
	}
	return ids
}

// intern returns the numbers of session ids and gives those one that have none, in
// the order in which they are named. A number that another transaction gives at the
// same moment is waited for.
func intern(ctx context.Context, tx pgx.Tx, ids []string) (map[string]int64, error) {
	numbers, err := numbersOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	var fresh []string
	for _, id := range ids {
		if numbers[id] == 0 && !slices.Contains(fresh, id) {
			fresh = append(fresh, id)
		}
	}
	if len(fresh) == 0 {
		return numbers, nil
	}
	const sql = "INSERT INTO sessions (id) SELECT id FROM unnest($1::text[]) WITH ORDINALITY AS f (id, n) ORDER BY n ON CONFLICT (id) DO NOTHING"
	if _, err := exec(ctx, tx, sql, fresh); err != nil {
		return nil, err
	}
	return numbersOf(ctx, tx, ids)
}

// numbersOf returns the numbers that session ids have.
func numbersOf(ctx context.Context, tx pgx.Tx, ids []string) (map[string]int64, error) {
	numbers := make(map[string]int64, len(ids))
	err := query(ctx, tx, "SELECT id, no FROM sessions WHERE id = ANY($1)", []any{ids}, func(scan scanFunc) error {
		var id string
		var no int64
		err := scan(&id, &no)
		numbers[id] = no
		return err
	})
	return numbers, err
}

// number returns the number of a session id, 0 if it has none.
func number(ctx context.Context, tx pgx.Tx, id string) (no int64, err error) {
	_, err = queryRow(ctx, tx, "SELECT no FROM sessions WHERE id = $1", []any{id}, &no)
	return no, err
}

// batchWriter stores one batch.
type batchWriter struct {
	s       *Store
	tx      pgx.Tx
	b       *archive.Batch
	no      int64
	numbers map[string]int64
}

// Due reports whether the batch is what comes next in its session. The session's row
// is locked until the transaction ends.
func (w *batchWriter) Due(ctx context.Context) (bool, error) {
	var known, gone bool
	var author string
	const own = "SELECT known, author, EXISTS (SELECT 1 FROM forgotten WHERE fact = $2) FROM sessions WHERE no = $1 FOR UPDATE"
	if _, err := queryRow(ctx, w.tx, own, []any{w.no, archive.Owner(w.b.Session.ID)}, &known, &author, &gone); err != nil {
		return false, err
	}
	if gone {
		return false, &archive.Error{Code: archive.CodeDenied, Msg: "session " + archive.ShortID(w.b.Session.ID) + " was deleted from the team's archive for good"}
	}
	if known && author != clean(w.s.opt.Author) {
		return false, &archive.Error{Code: archive.CodeDenied, Msg: fmt.Sprintf("session %s was brought by %s", archive.ShortID(w.b.Session.ID), author),
			Hint: "set postgres.author to the same name on all of your machines"}
	}
	var generation int
	var position int64
	found, err := queryRow(ctx, w.tx, "SELECT generation, position FROM cursors WHERE session = $1", []any{w.no}, &generation, &position)
	if err != nil {
		return false, err
	}
	return index.Due(w.b, found, generation, position)
}

// owner returns the number of the session that a row was copied from; the session
// may come into the archive later, or never.
func (w *batchWriter) owner(ref *archive.Ref) (no int64, at archive.Ref) {
	if ref == nil {
		return 0, archive.Ref{}
	}
	return w.numbers[ref.Session], *ref
}
