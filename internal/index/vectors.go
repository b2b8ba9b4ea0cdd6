package index

import (
	"context"
	"fmt"
	"math/rand/v2"

	"strandline/internal/archive"
)

// VectorSets lists the sets of vectors, ordered by when their embedders were added.
func (s *Store) VectorSets(ctx context.Context) ([]archive.VectorSet, error) {
	query := "SELECT name, dim, " + s.sql.VectorCount + ", last, gone, stamp FROM embedders ORDER BY no"
	return readRows(ctx, s, "list vectors", query, nil, func(scan Scan) (v archive.VectorSet, err error) {
		err = scan(&v.Embedder, &v.Dim, &v.Rows, &v.Last, &v.Gone, &v.Stamp)
		return v, err
	})
}

// embedderNumber returns the number of an embedder, 0 if it is unknown.
func embedderNumber(ctx context.Context, tx Tx, name string, dim int) (no int64, err error) {
	return Value[int64](ctx, tx, "SELECT no FROM embedders WHERE name = ? AND dim = ?", name, dim)
}

// Unembedded returns at most limit passages that an embedder has not processed. If
// it returns no marks, all are processed.
func (s *Store) Unembedded(ctx context.Context, embedder string, dim, limit int) (work archive.Unembedded, err error) {
	err = s.read(ctx, "list passages to embed", func(calm context.Context, tx Tx) error {
		work = archive.Unembedded{}
		no, err := embedderNumber(calm, tx, embedder, dim)
		if err != nil {
			return err
		}
		const query = "SELECT s.no, coalesce(e.next, 0), s.next_doc FROM sessions s LEFT JOIN embedded e ON e.embedder = ? AND e.session = s.no " +
			"WHERE s.next_doc > coalesce(e.next, 0) ORDER BY s.last DESC, s.no DESC"
		open, err := Rows(calm, tx, query, []any{no}, func(scan Scan) (m archive.EmbedMark, err error) {
			err = scan(&m.Session, &m.From, &m.Next)
			return m, err
		})
		for i := 0; err == nil && i < len(open) && len(work.Passages) < limit; i++ {
			if err = ctx.Err(); err == nil {
				err = addUnembedded(calm, tx, &work, open[i], limit-len(work.Passages))
			}
		}
		return err
	})
	return work, err
}

// addUnembedded adds at most limit passages of one session.
func addUnembedded(ctx context.Context, tx Tx, work *archive.Unembedded, m archive.EmbedMark, limit int) error {
	lo, hi := SessionRange(m.Session)
	var ids []int64
	var ps []archive.Passage
	const query = "SELECT id, text, turn, step, seq, line_from, line_to FROM passages WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
	err := tx.Query(ctx, query, []any{lo | m.From<<SeqShift, hi, limit}, func(scan Scan) error {
		var id int64
		var p archive.Passage
		err := scan(&id, &p.Text, &p.Turn, &p.Step, &p.Seq, &p.LineFrom, &p.LineTo)
		ids, ps = append(ids, id), append(ps, p)
		return err
	})
	if err != nil {
		return err
	}
	if err := refill(ctx, tx, m.Session, ps); err != nil {
		return err
	}
	for i, id := range ids {
		work.Passages = append(work.Passages, archive.PassageText{ID: id, Text: ps[i].Text})
	}
	if len(ids) == limit { // there may be more
		m.Next = ID(ids[limit-1]).Seq() + 1
	}
	work.Marks = append(work.Marks, m)
	return nil
}

// Embedded returns the progress of the embedder that processed most passages, and
// the number of passages; 0, 0 if there is no embedder. A passage that was replaced
// counts twice in both.
func (s *Store) Embedded(ctx context.Context) (part, of int64, err error) {
	const query = "SELECT sum(CASE WHEN e.next < s.next_doc THEN e.next ELSE s.next_doc END), (SELECT sum(next_doc) FROM sessions) " +
		"FROM embedded e JOIN sessions s ON s.no = e.session GROUP BY e.embedder ORDER BY 1 DESC LIMIT 1"
	err = s.read(ctx, "count embedded passages", func(ctx context.Context, tx Tx) error {
		_, err := tx.QueryRow(ctx, query, nil, &part, &of)
		return err
	})
	return part, of, err
}

// PutVectors stores an embedder's vectors of the passages of work, in one
// transaction. Passages that the embedder has no vectors for are not in rows. Work
// that another process did first, and passages deleted since, are left out.
func (s *Store) PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, rows []archive.VectorRow) error {
	if embedder == "" || dim < 1 {
		return archive.Invalid(fmt.Sprintf("invalid embedder %q with %d dimensions", embedder, dim), "")
	}
	return s.write(ctx, "store vectors", func(ctx context.Context, tx Tx) error {
		const begin = "INSERT INTO embedders (name, dim, stamp) VALUES (?, ?, ?) ON CONFLICT (name, dim) DO UPDATE SET name = excluded.name RETURNING no"
		no, err := Value[int64](ctx, tx, begin, embedder, dim, rand.Int64N(1<<62)+1)
		if err != nil {
			return err
		}
		due, err := moveMarks(ctx, tx, no, work.Marks)
		if err != nil {
			return err
		}
		return s.putRows(ctx, tx, no, due, rows)
	})
}

// moveMarks moves the marks that are still where the work began, and returns their
// sessions.
func moveMarks(ctx context.Context, tx Tx, embedder int64, marks []archive.EmbedMark) (due map[int64]bool, err error) {
	due = map[int64]bool{}
	var moved []archive.EmbedMark
	for _, m := range marks {
		next, err := Value[int64](ctx, tx, "SELECT next FROM embedded WHERE embedder = ? AND session = ?", embedder, m.Session)
		if err != nil {
			return nil, err
		}
		if next == m.From {
			due[m.Session] = true
			moved = append(moved, m)
		}
	}
	table := Table{Name: "embedded", Columns: "embedder, session, next", Key: 2}
	return due, tx.Put(ctx, table, rowsOf(moved, func(m *archive.EmbedMark) []any { return []any{embedder, m.Session, m.Next} }))
}

// putRows stores vectors of sessions that are due, of passages that still exist.
func (s *Store) putRows(ctx context.Context, tx Tx, embedder int64, due map[int64]bool, rows []archive.VectorRow) error {
	var ids []int64
	for _, r := range rows {
		if due[ID(r.Passage).Session()] {
			ids = append(ids, r.Passage)
		}
	}
	exists := map[int64]bool{}
	err := inChunks(s, ids, func(in string, args []any) error {
		// A transaction that deletes a passage waits, and then deletes its vectors.
		return AddColumn(ctx, tx, exists, "SELECT id FROM passages WHERE id"+in+" ORDER BY id"+s.sql.ForShare, args...)
	})
	if err != nil {
		return err
	}
	last, err := Value[int64](ctx, tx, "SELECT last FROM embedders WHERE no = ?", embedder)
	if err != nil {
		return err
	}
	var added []archive.VectorRow
	for _, r := range rows {
		if exists[r.Passage] {
			last++
			r.No = last
			added = append(added, r)
		}
	}
	table := Table{Name: "vectors", Columns: "embedder, no, passage, data", Key: 2}
	err = tx.Put(ctx, table, rowsOf(added, func(r *archive.VectorRow) []any { return []any{embedder, r.No, r.Passage, r.Data} }))
	if err != nil {
		return err
	}
	count := s.sql.VectorCount
	_, err = tx.Exec(ctx, "UPDATE embedders SET "+count+" = "+count+" + ?, last = ? WHERE no = ?", len(added), last, embedder)
	return err
}

// Vectors calls row for the rows of a set with numbers above after, in ascending
// order, for at most limit of them. Data is valid until row returns.
func (s *Store) Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error {
	return s.read(ctx, "read vectors", func(calm context.Context, tx Tx) error {
		no, err := embedderNumber(calm, tx, embedder, dim)
		if err != nil || no == 0 {
			return err
		}
		const query = "SELECT no, passage, data FROM vectors WHERE embedder = ? AND no > ? ORDER BY no LIMIT ?"
		return tx.Query(calm, query, []any{no, after, limit}, func(scan Scan) error {
			var r archive.VectorRow
			if err := scan(&r.No, &r.Passage, &r.Data); err != nil {
				return err
			}
			if r.No%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			return row(r)
		})
	})
}

// VectorsOf returns the rows of a set for passages, by passage.
func (s *Store) VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (rows map[int64]archive.VectorRow, err error) {
	rows = make(map[int64]archive.VectorRow, len(passages))
	err = s.read(ctx, "read vectors", func(ctx context.Context, tx Tx) error {
		no, err := embedderNumber(ctx, tx, embedder, dim)
		if err != nil || no == 0 {
			return err
		}
		return inChunks(s, passages, func(in string, args []any) error {
			query := "SELECT no, passage, data FROM vectors WHERE passage" + in + " AND embedder = ?"
			return tx.Query(ctx, query, append(args, no), func(scan Scan) error {
				var r archive.VectorRow
				err := scan(&r.No, &r.Passage, &r.Data)
				rows[r.Passage] = r
				return err
			})
		})
	})
	return rows, err
}

// DropVectors deletes the vectors of an embedder, in every dimension.
func (s *Store) DropVectors(ctx context.Context, embedder string) error {
	return s.write(ctx, "remove vectors", func(ctx context.Context, tx Tx) error {
		return execAll(ctx, tx, []string{
			"DELETE FROM vectors WHERE embedder IN (SELECT no FROM embedders WHERE name = ?)",
			"DELETE FROM embedded WHERE embedder IN (SELECT no FROM embedders WHERE name = ?)",
			"DELETE FROM embedders WHERE name = ?",
		}, embedder)
	})
}
