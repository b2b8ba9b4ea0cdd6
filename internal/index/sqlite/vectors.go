package sqlite

import (
	"context"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const setColumns = "name, dim, rows, last, gone, stamp"

// VectorSets lists what vectors there are, in the order in which their embedders
// came.
func (s *Store) VectorSets(ctx context.Context) (sets []archive.VectorSet, err error) {
	err = s.read(ctx, "list vectors", func(ctx context.Context) error {
		return s.query(ctx, "SELECT "+setColumns+" FROM embedders ORDER BY no", nil, func(scan scanFunc) error {
			var v archive.VectorSet
			err := scan(&v.Embedder, &v.Dim, &v.Rows, &v.Last, &v.Gone, &v.Stamp)
			sets = append(sets, v)
			return err
		})
	})
	return sets, err
}

// embedderNo returns the number of an embedder, 0 if there is none.
func (s *Store) embedderNo(ctx context.Context, name string, dim int) (no int64, err error) {
	_, err = s.queryRow(ctx, "SELECT no FROM embedders WHERE name = ? AND dim = ?", []any{name, dim}, &no)
	return no, err
}

const (
	behindQuery = "SELECT s.no, coalesce(e.next, 0), s.next_doc FROM sessions s LEFT JOIN embedded e ON e.embedder = ? AND e.session = s.no " +
		"WHERE s.next_doc > coalesce(e.next, 0) ORDER BY s.last DESC, s.no DESC"
	unembeddedQuery = "SELECT id, text, turn, step, seq, line_from, line_to FROM passages WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?"
)

// Unembedded returns at most limit passages that an embedder has not seen. There
// is nothing left to do once it returns no marks.
func (s *Store) Unembedded(ctx context.Context, embedder string, dim, limit int) (work archive.Unembedded, err error) {
	err = s.read(ctx, "look for what is not embedded", func(calm context.Context) error {
		work = archive.Unembedded{}
		no, err := s.embedderNo(calm, embedder, dim)
		if err != nil {
			return err
		}
		var behind []archive.EmbedMark
		err = s.query(calm, behindQuery, []any{no}, func(scan scanFunc) error {
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
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.addUnembedded(calm, &work, m, limit-len(work.Passages)); err != nil {
				return err
			}
		}
		return nil
	})
	return work, err
}

// addUnembedded adds at most limit passages of one session.
func (s *Store) addUnembedded(ctx context.Context, work *archive.Unembedded, m archive.EmbedMark, limit int) error {
	lo, hi := index.SessionRange(m.Session)
	var ids []int64
	var held []archive.Passage
	err := s.query(ctx, unembeddedQuery, []any{lo | m.From<<index.SeqShift, hi, limit}, func(scan scanFunc) error {
		var id int64
		var p archive.Passage
		err := scan(&id, &p.Text, &p.Turn, &p.Step, &p.Seq, &p.LineFrom, &p.LineTo)
		ids, held = append(ids, id), append(held, p)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.refillTrimmed(ctx, m.Session, held); err != nil {
		return err
	}
	for i, id := range ids {
		work.Passages = append(work.Passages, archive.PassageText{ID: id, Text: held[i].Text})
	}
	if len(ids) == limit { // there may be more behind the last
		m.Next = index.ID(work.Passages[len(work.Passages)-1].ID).Seq() + 1
	}
	work.Marks = append(work.Marks, m)
	return nil
}

// Embedded returns how many passages the embedder that is furthest has looked at,
// and of how many; 0 of 0 where none has begun. It counts the places that passages
// ever had, so one that was replaced counts twice on both sides.
func (s *Store) Embedded(ctx context.Context) (part, of int64, err error) {
	const query = "SELECT sum(min(e.next, s.next_doc)), (SELECT sum(next_doc) FROM sessions) " +
		"FROM embedded e JOIN sessions s ON s.no = e.session GROUP BY e.embedder ORDER BY 1 DESC LIMIT 1"
	err = s.read(ctx, "count what is embedded", func(ctx context.Context) error {
		_, err := s.queryRow(ctx, query, nil, &part, &of)
		return err
	})
	return part, of, err
}

const (
	putVector = "INSERT INTO vectors (embedder, no, passage, data) SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM passages WHERE id = ?3)"
	// randomblob is the database's own; a stamp only has to differ.
	beginSet  = "INSERT INTO embedders (name, dim, stamp) VALUES (?, ?, abs(random() % 4611686018427387904) + 1)"
	embedMark = "SELECT next FROM embedded WHERE embedder = ? AND session = ?"
)

// PutVectors stores what an embedder made of the passages of work, in one
// transaction; rows hold a passage and its vectors, none for those of which the
// embedder knows nothing. What another process was faster with, and passages that
// are gone meanwhile, are left out.
func (s *Store) PutVectors(ctx context.Context, embedder string, dim int, work archive.Unembedded, rows []archive.VectorRow) error {
	if embedder == "" || dim < 1 {
		return archive.Invalid(fmt.Sprintf("an embedder %q of %d dimensions", embedder, dim), "")
	}
	return s.write(ctx, "store vectors", func(ctx context.Context) error {
		no, err := s.embedderNo(ctx, embedder, dim)
		if err != nil {
			return err
		}
		if no == 0 {
			r, err := s.exec(ctx, beginSet, embedder, dim)
			if err != nil {
				return err
			}
			if no, err = r.LastInsertId(); err != nil {
				return err
			}
		}
		due, err := s.mark(ctx, no, work.Marks)
		if err != nil {
			return err
		}
		return s.putRows(ctx, no, due, rows)
	})
}

// mark moves the marks of sessions that are still where the work began, and
// returns these sessions.
func (s *Store) mark(ctx context.Context, embedder int64, marks []archive.EmbedMark) (due map[int64]bool, err error) {
	due = map[int64]bool{}
	for _, m := range marks {
		next := int64(0)
		if _, err := s.queryRow(ctx, embedMark, []any{embedder, m.Session}, &next); err != nil {
			return nil, err
		}
		if next != m.From {
			continue
		}
		due[m.Session] = true
		if _, err := s.exec(ctx, "REPLACE INTO embedded (embedder, session, next) VALUES (?, ?, ?)", embedder, m.Session, m.Next); err != nil {
			return nil, err
		}
	}
	return due, nil
}

func (s *Store) putRows(ctx context.Context, embedder int64, due map[int64]bool, made []archive.VectorRow) error {
	var last, put int64
	if _, err := s.queryRow(ctx, "SELECT last FROM embedders WHERE no = ?", []any{embedder}, &last); err != nil {
		return err
	}
	for _, r := range made {
		if !due[index.ID(r.Passage).Session()] {
			continue
		}
		done, err := s.exec(ctx, putVector, embedder, last+1, r.Passage, r.Data)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err != nil {
			return err
		}
		last, put = last+n, put+n
	}
	_, err := s.exec(ctx, "UPDATE embedders SET rows = rows + ?, last = ? WHERE no = ?", put, last, embedder)
	return err
}

// Vectors calls row for the rows of a set with numbers above after, ascending, at
// most limit of them. Data is valid until row returns.
func (s *Store) Vectors(ctx context.Context, embedder string, dim int, after int64, limit int, row func(archive.VectorRow) error) error {
	const query = "SELECT no, passage, data FROM vectors WHERE embedder = ? AND no > ? ORDER BY no LIMIT ?"
	return s.read(ctx, "read vectors", func(calm context.Context) error {
		no, err := s.embedderNo(calm, embedder, dim)
		if err != nil || no == 0 {
			return err
		}
		n := 0
		return s.query(calm, query, []any{no, after, limit}, func(scan scanFunc) error {
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			var r archive.VectorRow
			if err := scan(&r.No, &r.Passage, &r.Data); err != nil {
				return err
			}
			return row(r)
		})
	})
}

// VectorsOf returns the rows of a set that these passages have.
func (s *Store) VectorsOf(ctx context.Context, embedder string, dim int, passages []int64) (rows map[int64]archive.VectorRow, err error) {
	rows = make(map[int64]archive.VectorRow, len(passages))
	err = s.read(ctx, "read vectors", func(ctx context.Context) error {
		no, err := s.embedderNo(ctx, embedder, dim)
		if err != nil || no == 0 {
			return err
		}
		return inChunks(passages, func(chunk []any) error {
			query := "SELECT no, passage, data FROM vectors WHERE passage IN (" + marks(len(chunk)) + ") AND embedder = ?"
			return s.query(ctx, query, append(chunk, no), func(scan scanFunc) error {
				var r archive.VectorRow
				err := scan(&r.No, &r.Passage, &r.Data)
				rows[r.Passage] = r
				return err
			})
		})
	})
	return rows, err
}

// DropVectors removes all that an embedder made, in every dimension.
func (s *Store) DropVectors(ctx context.Context, embedder string) error {
	return s.write(ctx, "remove vectors", func(ctx context.Context) error {
		for _, query := range []string{
			"DELETE FROM vectors WHERE embedder IN (SELECT no FROM embedders WHERE name = ?)",
			"DELETE FROM embedded WHERE embedder IN (SELECT no FROM embedders WHERE name = ?)",
			"DELETE FROM embedders WHERE name = ?",
		} {
			if _, err := s.exec(ctx, query, embedder); err != nil {
				return err
			}
		}
		return nil
	})
}
