package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// VectorSets lists what vectors there are, in the order in which their embedders
// came.
func (s *Store) VectorSets(ctx context.Context) (sets []archive.VectorSet, err error) {
	err = s.read(ctx, "list vectors", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, "SELECT name, dim, held, last, gone, stamp FROM embedders ORDER BY no", nil, func(scan scanFunc) error {
			var v archive.VectorSet
			err := scan(&v.Embedder, &v.Dim, &v.Rows, &v.Last, &v.Gone, &v.Stamp)
			sets = append(sets, v)
			return err
		})
	})
	return sets, err
}

// embedderNo returns the number of an embedder, 0 if there is none.
func embedderNo(ctx context.Context, tx pgx.Tx, name string, dim int) (no int64, err error) {
	_, err = queryRow(ctx, tx, "SELECT no FROM embedders WHERE name = $1 AND dim = $2", []any{clean(name), dim}, &no)
	return no, err
}

const (
	behindQuery = "SELECT s.no, coalesce(e.next, 0), s.next_doc FROM sessions s LEFT JOIN embedded e ON e.embedder = $1 AND e.session = s.no " +
		"WHERE s.next_doc > coalesce(e.next, 0) ORDER BY s.last DESC, s.no DESC"
	unembeddedQuery = "SELECT id, text FROM passages WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT $3"
)

// Unembedded returns at most limit passages that an embedder has not seen. There
// is nothing left to do once it returns no marks.
func (s *Store) Unembedded(ctx context.Context, embedder string, dim, limit int) (work archive.Unembedded, err error) {
	err = s.read(ctx, "look for what is not embedded", func(ctx context.Context, tx pgx.Tx) error {
		work = archive.Unembedded{}
		no, err := embedderNo(ctx, tx, embedder, dim)
		if err != nil {
			return err
		}
		var behind []archive.EmbedMark
		err = query(ctx, tx, behindQuery, []any{no}, func(scan scanFunc) error {
			var m archive.EmbedMark
			err := scan(&m.Session, &m.From, &m.Next)
			behind = append(behind, m)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range behind {
			if len(work.Passages) >= limit {
				break
			}
			if err := addUnembedded(ctx, tx, &work, m, limit-len(work.Passages)); err != nil {
				return err
			}
		}
		return nil
	})
	return work, err
}

// addUnembedded adds at most limit passages of one session.
func addUnembedded(ctx context.Context, tx pgx.Tx, work *archive.Unembedded, m archive.EmbedMark, limit int) error {
	lo, hi := index.SessionRange(m.Session)
	n := 0
	err := query(ctx, tx, unembeddedQuery, []any{lo | m.From<<index.SeqShift, hi, limit}, func(scan scanFunc) error {
		var p archive.PassageText
		err := scan(&p.ID, &p.Text)
		work.Passages = append(work.Passages, p)
		n++
		return err
	})
	if n == limit { // there may be more behind the last
		m.Next = index.ID(work.Passages[len(work.Passages)-1].ID).Seq() + 1
	}
	work.Marks = append(work.Marks, m)
	return err
}

// Embedded returns how many passages the embedder that is furthest has looked at,
// and of how many; 0 of 0 where none has begun. It counts the places that passages
// ever had, so one that was replaced counts twice on both sides.
func (s *Store) Embedded(ctx context.Context) (part, of int64, err error) {
	const sql = "SELECT sum(least(e.next, s.next_doc))::bigint, (SELECT sum(next_doc) FROM sessions)::bigint " +
		"FROM embedded e JOIN sessions s ON s.no = e.session GROUP BY e.embedder ORDER BY 1 DESC LIMIT 1"
	err = s.read(ctx, "count what is embedded", func(ctx context.Context, tx pgx.Tx) error {
		_, err := queryRow(ctx, tx, sql, nil, &part, &of)
		return err
	})
	return part, of, err
}

// beginSet gives a set a stamp that only has to differ from that of another.
const beginSet = "INSERT INTO embedders (name, dim, stamp) VALUES ($1, $2, 1 + floor(random() * 4611686018427387904)::bigint) " +
	"ON CONFLICT (name, dim) DO UPDATE SET name = excluded.name RETURNING no"

// PutVectors stores what an embedder made of the passages of work, in one
// transaction; rows hold a passage and its vectors, none for those of which the
// embedder knows nothing. What another process was faster with, and passages that
// are gone meanwhile, are left out.
func (s *Store) PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, made []archive.VectorRow) error {
	if embedder == "" || dim < 1 {
		return archive.Invalid(fmt.Sprintf("an embedder %q of %d dimensions", embedder, dim), "")
	}
	return s.write(ctx, "store vectors", func(ctx context.Context, tx pgx.Tx) error {
		var no int64
		if _, err := queryRow(ctx, tx, beginSet, []any{clean(embedder), dim}, &no); err != nil { // and its row is locked
			return err
		}
		due, err := mark(ctx, tx, no, work.Marks)
		if err != nil {
			return err
		}
		return putRows(ctx, tx, no, due, made)
	})
}

// mark moves the marks of sessions that are still where the work began, and
// returns these sessions.
func mark(ctx context.Context, tx pgx.Tx, embedder int64, marks []archive.EmbedMark) (due map[int64]bool, err error) {
	due = map[int64]bool{}
	for _, m := range marks {
		next := int64(0)
		if _, err := queryRow(ctx, tx, "SELECT next FROM embedded WHERE embedder = $1 AND session = $2", []any{embedder, m.Session}, &next); err != nil {
			return nil, err
		}
		if next != m.From {
			continue
		}
		due[m.Session] = true
		if _, err := exec(ctx, tx, "INSERT INTO embedded (embedder, session, next) VALUES ($1, $2, $3) "+
			"ON CONFLICT (embedder, session) DO UPDATE SET next = excluded.next", embedder, m.Session, m.Next); err != nil {
			return nil, err
		}
	}
	return due, nil
}

func putRows(ctx context.Context, tx pgx.Tx, embedder int64, due map[int64]bool, made []archive.VectorRow) error {
	var ids []int64
	for _, r := range made {
		if due[index.ID(r.Passage).Session()] {
			ids = append(ids, r.Passage)
		}
	}
	// Whoever drops a passage waits until its vectors are there, and drops them too.
	there, err := numbers(ctx, tx, "SELECT id FROM passages WHERE id = ANY($1) ORDER BY id FOR SHARE", ids)
	if err != nil {
		return err
	}
	exists := maps.Collect(func(yield func(int64, bool) bool) {
		for _, id := range there {
			if !yield(id, true) {
				return
			}
		}
	})
	var last int64
	if _, err := queryRow(ctx, tx, "SELECT last FROM embedders WHERE no = $1", []any{embedder}, &last); err != nil {
		return err
	}
	put := newBulk("vectors", "embedder, no, passage, data", 2)
	for _, r := range made {
		if exists[r.Passage] {
			last++
			put.add(embedder, last, r.Passage, slices.Clone(r.Data))
		}
	}
	if err := put.insert(ctx, tx, ""); err != nil {
		return err
	}
	_, err = exec(ctx, tx, "UPDATE embedders SET held = held + $1, last = $2 WHERE no = $3", put.rows, last, embedder)
	return err
}

// Vectors calls row for the rows of a set with numbers above after, ascending, at
// most limit of them. Data is valid until row returns.
func (s *Store) Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error {
	const sql = "SELECT v.no, v.passage, v.data FROM vectors v JOIN embedders e ON e.no = v.embedder " +
		"WHERE e.name = $1 AND e.dim = $2 AND v.no > $3 ORDER BY v.no LIMIT $4"
	return s.read(ctx, "read vectors", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, sql, []any{clean(embedder), dim, after, limit}, func(scan scanFunc) error {
			var r archive.VectorRow
			if err := scan(&r.No, &r.Passage, &r.Data); err != nil {
				return err
			}
			return row(r)
		})
	})
}

// VectorsOf returns the rows of a set that these passages have.
func (s *Store) VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (made map[int64]archive.VectorRow, err error) {
	made = make(map[int64]archive.VectorRow, len(passages))
	const sql = "SELECT v.no, v.passage, v.data FROM vectors v JOIN embedders e ON e.no = v.embedder " +
		"WHERE e.name = $1 AND e.dim = $2 AND v.passage = ANY($3)"
	err = s.read(ctx, "read vectors", func(ctx context.Context, tx pgx.Tx) error {
		return query(ctx, tx, sql, []any{clean(embedder), dim, passages}, func(scan scanFunc) error {
			var r archive.VectorRow
			err := scan(&r.No, &r.Passage, &r.Data)
			made[r.Passage] = r
			return err
		})
	})
	return made, err
}

// DropVectors removes all that an embedder made, in every dimension.
func (s *Store) DropVectors(ctx context.Context, embedder string) error {
	return s.write(ctx, "remove vectors", func(ctx context.Context, tx pgx.Tx) error {
		for _, sql := range []string{
			"DELETE FROM vectors WHERE embedder IN (SELECT no FROM embedders WHERE name = $1)",
			"DELETE FROM embedded WHERE embedder IN (SELECT no FROM embedders WHERE name = $1)",
			"DELETE FROM embedders WHERE name = $1",
		} {
			if _, err := exec(ctx, tx, sql, clean(embedder)); err != nil {
				return err
			}
		}
		return nil
	})
}
