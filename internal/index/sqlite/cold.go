package sqlite

import (
	"context"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// The sessions that are left alone since a time, and the turns in them that were
// never given to the model.
const (
	restingTurns = "FROM turns t JOIN sessions s ON s.no = t.session WHERE s.known = 1 AND s.last < ? AND NOT EXISTS " +
		"(SELECT 1 FROM accesses a WHERE a.session_id = s.id AND a.turn = t.turn)"
	coolQuery = "INSERT INTO cold (session, turn, trimmed, summary) SELECT t.session, t.turn, 0, " +
		"substr(e.summary, 1, 300) " +
		"FROM (SELECT t.session, t.turn, s.id, t.start " + restingTurns +
		" AND NOT EXISTS (SELECT 1 FROM cold c WHERE c.session = t.session AND c.turn = t.turn)) t " +
		"JOIN transcript_entries e ON e.session_id = t.id AND e.chunk_index = t.turn"
	warmQuery = "SELECT s.id, c.turn, t.line_from, t.line_to, c.trimmed FROM cold c JOIN sessions s ON s.no = c.session " +
		"LEFT JOIN turns t ON t.session = c.session AND t.turn = c.turn " +
		"WHERE s.last >= ? OR EXISTS (SELECT 1 FROM accesses a WHERE a.session_id = s.id AND a.turn = c.turn) ORDER BY s.id, c.turn"
	coldQuery = "SELECT s.id, c.turn, t.line_from, t.line_to, c.trimmed FROM cold c JOIN sessions s ON s.no = c.session " +
		"JOIN turns t ON t.session = c.session AND t.turn = c.turn WHERE c.trimmed = 0 ORDER BY s.last, s.id, c.turn"
)

// Cool takes turns out of the hot set: those of sessions whose last row is older
// than a time, as long as they were never given to the model. It returns how many
// turns that were.
func (s *Store) Cool(ctx context.Context, before time.Time) (n int, err error) {
	err = s.write(ctx, "take turns out of the hot set", func(ctx context.Context) error {
		r, err := s.exec(ctx, coolQuery, index.Nanos(before))
		if err != nil {
			return err
		}
		changed, err := r.RowsAffected()
		n = int(changed)
		return err
	})
	return n, err
}

// Warming lists the turns that do not belong out of the hot set any more: their
// session went on after a time, or they were given to the model.
func (s *Store) Warming(ctx context.Context, since time.Time) ([]archive.ColdTurn, error) {
	return s.coldTurns(ctx, warmQuery, index.Nanos(since))
}

// Cold lists the turns outside the hot set whose texts the index still holds, those
// of the session that was left alone longest first.
func (s *Store) Cold(ctx context.Context) ([]archive.ColdTurn, error) {
	return s.coldTurns(ctx, coldQuery)
}

func (s *Store) coldTurns(ctx context.Context, query string, args ...any) (out []archive.ColdTurn, err error) {
	err = s.read(ctx, "list turns outside the hot set", func(ctx context.Context) error {
		return s.query(ctx, query, args, func(scan scanFunc) error {
			var x archive.ColdTurn
			err := scan(&x.Session, &x.Turn, &x.LineFrom, &x.LineTo, &x.Trimmed)
			out = append(out, x)
			return err
		})
	})
	return out, err
}

// Trim drops the texts of a cold turn's passages as far as log, what its lines in
// the log give, holds the very same: nothing is dropped that could not be read
// back. Terms, places and everything else stay. It returns the bytes dropped.
func (s *Store) Trim(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) (bytes int64, err error) {
	same := sums(log)
	err = s.write(ctx, "trim a turn", func(ctx context.Context) error {
		no, err := s.number(ctx, turn.Session)
		if err != nil || no == 0 {
			return err
		}
		type row struct{ id, sum, size int64 }
		var rows []row
		err = s.query(ctx, "SELECT id, sum, length(CAST(text AS BLOB)) FROM passages WHERE session = ? AND turn = ? AND text <> ''", []any{no, turn.Turn},
			func(scan scanFunc) error {
				var x row
				err := scan(&x.id, &x.sum, &x.size)
				rows = append(rows, x)
				return err
			})
		if err != nil {
			return err
		}
		for _, x := range rows {
			if _, ok := same[x.sum]; !ok {
				continue
			}
			if _, err := s.exec(ctx, "UPDATE passages SET text = '' WHERE id = ?", x.id); err != nil {
				return err
			}
			bytes += x.size
		}
		_, err = s.exec(ctx, "UPDATE cold SET trimmed = 1 WHERE session = ? AND turn = ?", no, turn.Turn)
		return err
	})
	return bytes, err
}

// Warm takes a turn back into the hot set. log is what its lines in the log give;
// the texts that were trimmed are taken from it.
func (s *Store) Warm(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) error {
	same := sums(log)
	return s.write(ctx, "take a turn into the hot set", func(ctx context.Context) error {
		no, err := s.number(ctx, turn.Session)
		if err != nil || no == 0 {
			return err
		}
		rows, err := s.trimmed(ctx, no, turn.Turn)
		if err != nil {
			return err
		}
		for at, sum := range rows {
			if _, err := s.exec(ctx, "UPDATE passages SET text = ? WHERE session = ? AND turn = ? AND step = ? AND seq = ?",
				same[sum], no, at.turn, at.step, at.seq); err != nil {
				return err
			}
		}
		_, err = s.exec(ctx, "DELETE FROM cold WHERE session = ? AND turn = ?", no, turn.Turn)
		return err
	})
}

// Vacuum gives the space of dropped rows back to the disk. It writes the whole
// file anew, and nobody else may write meanwhile.
func (s *Store) Vacuum(ctx context.Context) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	for _, query := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err := s.conn.exec(ctx, query); err != nil {
			return s.fail("give space back", err)
		}
	}
	return nil
}

// sums returns texts by what words holds of them.
func sums(ps []archive.Passage) map[int64]string {
	out := make(map[int64]string, len(ps))
	for i := range ps {
		out[index.Checksum(&ps[i], index.EncodeList(ps[i].Paths))] = ps[i].Text
	}
	return out
}

// trimmed returns the places of a turn whose texts were trimmed, with their sums.
func (s *Store) trimmed(ctx context.Context, no int64, turn int) (map[place]int64, error) {
	out := map[place]int64{}
	err := s.query(ctx, "SELECT turn, step, seq, sum FROM passages WHERE session = ? AND turn = ? AND text = ''", []any{no, turn}, func(scan scanFunc) error {
		var at place
		var sum int64
		err := scan(&at.turn, &at.step, &at.seq, &sum)
		out[at] = sum
		return err
	})
	return out, err
}

// emptied returns the passages whose texts were trimmed.
func emptied(ps []archive.Passage) (rows []*archive.Passage) {
	for i := range ps {
		if ps[i].Text == "" {
			rows = append(rows, &ps[i])
		}
	}
	return rows
}

// refillTrimmed is refillPassages for a caller that reads already, by the number
// of the session.
func (s *Store) refillTrimmed(ctx context.Context, no int64, ps []archive.Passage) error {
	rows := emptied(ps)
	if len(rows) == 0 || s.opt.Texts == nil {
		return nil
	}
	return s.refill(ctx, no, rows)
}

// refillPassages reads texts that were trimmed back from the log: passages of one
// session.
func (s *Store) refillPassages(ctx context.Context, ps []archive.Passage) error {
	rows := emptied(ps)
	if len(rows) == 0 || s.opt.Texts == nil {
		return nil
	}
	return s.read(ctx, "read texts from the log", func(calm context.Context) error {
		no, err := s.number(calm, rows[0].Session)
		if err != nil {
			return err
		}
		return s.refill(ctx, no, rows)
	})
}

// refillHits does so for hits of any sessions.
func (s *Store) refillHits(ctx context.Context, hits []index.Scored) error {
	bySession := map[int64][]*archive.Passage{}
	for i := range hits {
		if hits[i].Text == "" {
			no := hits[i].ID.Session()
			bySession[no] = append(bySession[no], &hits[i].Passage)
		}
	}
	if s.opt.Texts == nil {
		return nil
	}
	for no, rows := range bySession {
		if err := s.refill(ctx, no, rows); err != nil {
			return err
		}
	}
	return nil
}

// refill sets the texts of passages of one session, a turn at a time. A log that
// cannot be read leaves them empty: a search has other hits.
func (s *Store) refill(ctx context.Context, no int64, rows []*archive.Passage) error {
	calm := context.WithoutCancel(ctx)
	var id string
	if _, err := s.queryRow(calm, "SELECT id FROM sessions WHERE no = ?", []any{no}, &id); err != nil {
		return err
	}
	byTurn := map[int][]*archive.Passage{}
	for _, p := range rows {
		byTurn[p.Turn] = append(byTurn[p.Turn], p)
	}
	for turn, ps := range byTurn {
		var from, to int
		found, err := s.queryRow(calm, "SELECT line_from, line_to FROM turns WHERE session = ? AND turn = ?", []any{no, turn}, &from, &to)
		if err != nil {
			return err
		}
		if !found {
			continue // a hook's summary, which is never trimmed
		}
		held, err := s.trimmed(calm, no, turn)
		if err != nil {
			return err
		}
		if len(ps) <= fewTexts {
			if ps, err = s.refillFew(ctx, id, ps, held); err != nil {
				return err
			}
		}
		if len(ps) == 0 {
			continue
		}
		log, err := s.opt.Texts(ctx, id, from, to)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		same := sums(log)
		for _, p := range ps {
			p.Text = same[held[place{p.Turn, p.Step, p.Seq}]]
		}
	}
	return nil
}

// fewTexts is up to how many passages of a turn are read each by its own lines. A
// headless run is one turn of megabytes, of which a search wants a line or two.
const fewTexts = 16

// refillFew sets the texts that a passage's own lines give, and returns the
// passages that need more of the turn to be read.
func (s *Store) refillFew(ctx context.Context, id string, ps []*archive.Passage, held map[place]int64) ([]*archive.Passage, error) {
	var rest []*archive.Passage
	for _, p := range ps {
		log, err := s.opt.Texts(ctx, id, p.LineFrom, p.LineTo)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text, ok := sums(log)[held[place{p.Turn, p.Step, p.Seq}]]
		if err != nil || !ok {
			rest = append(rest, p)
			continue
		}
		p.Text = text
	}
	return rest, nil
}
