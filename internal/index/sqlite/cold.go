package sqlite

import (
	"context"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const (
	// inactiveTurns are turns that were never injected or used, of sessions without
	// rows since a time.
	inactiveTurns = "FROM turns t JOIN sessions s ON s.no = t.session WHERE s.known = 1 AND s.last < ? AND NOT EXISTS " +
		"(SELECT 1 FROM accesses a WHERE a.session_id = s.id AND a.turn = t.turn)"
	coolQuery = "INSERT INTO cold (session, turn, trimmed, summary) SELECT t.session, t.turn, 0, " +
		"substr(e.summary, 1, 300) " +
		"FROM (SELECT t.session, t.turn, s.id, t.start " + inactiveTurns +
		" AND NOT EXISTS (SELECT 1 FROM cold c WHERE c.session = t.session AND c.turn = t.turn)) t " +
		"JOIN transcript_entries e ON e.session_id = t.id AND e.chunk_index = t.turn"
	warmQuery = "SELECT s.id, c.turn, t.line_from, t.line_to, c.trimmed FROM cold c JOIN sessions s ON s.no = c.session " +
		"LEFT JOIN turns t ON t.session = c.session AND t.turn = c.turn " +
		"WHERE s.last >= ? OR EXISTS (SELECT 1 FROM accesses a WHERE a.session_id = s.id AND a.turn = c.turn) ORDER BY s.id, c.turn"
	coldQuery = "SELECT s.id, c.turn, t.line_from, t.line_to, c.trimmed FROM cold c JOIN sessions s ON s.no = c.session " +
		"JOIN turns t ON t.session = c.session AND t.turn = c.turn WHERE c.trimmed = 0 ORDER BY s.last, s.id, c.turn"
)

// Cool moves turns out of the hot tier: those of sessions whose last row is older
// than before, unless they were injected or used. It returns the number of turns.
func (s *Store) Cool(ctx context.Context, before time.Time) (n int, err error) {
	err = s.write(ctx, "move turns out of the hot tier", func(ctx context.Context, t index.Tx) error {
		changed, err := t.Exec(ctx, coolQuery, index.Nanos(before))
		n = int(changed)
		return err
	})
	return n, err
}

// Warming lists the cold turns that belong in the hot tier again: their session has
// rows since a time, or they were injected or used.
func (s *Store) Warming(ctx context.Context, since time.Time) ([]archive.ColdTurn, error) {
	return s.coldTurns(ctx, warmQuery, index.Nanos(since))
}

// Cold lists the cold turns whose texts the index still holds. Those of the session
// that was inactive longest come first.
func (s *Store) Cold(ctx context.Context) ([]archive.ColdTurn, error) {
	return s.coldTurns(ctx, coldQuery)
}

func (s *Store) coldTurns(ctx context.Context, query string, args ...any) ([]archive.ColdTurn, error) {
	return index.Read(ctx, s.Read, "list cold turns", func(ctx context.Context, t index.Tx) ([]archive.ColdTurn, error) {
		return index.Rows(ctx, t, query, args, func(scan index.Scan) (x archive.ColdTurn, err error) {
			err = scan(&x.Session, &x.Turn, &x.LineFrom, &x.LineTo, &x.Trimmed)
			return x, err
		})
	})
}

// Trim deletes the texts of a cold turn's passages that log, the passages in its
// lines of the session log, holds unchanged. Terms and all other columns stay. It
// returns the number of bytes deleted.
func (s *Store) Trim(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) (bytes int64, err error) {
	texts := textsBySum(log)
	err = s.write(ctx, "trim a turn", func(ctx context.Context, t index.Tx) error {
		no, err := index.SessionNumber(ctx, t, turn.Session)
		if err != nil || no == 0 {
			return err
		}
		var ids []int64
		const query = "SELECT id, sum, length(CAST(text AS BLOB)) FROM passages WHERE session = ? AND turn = ? AND text <> ''"
		err = t.Query(ctx, query, []any{no, turn.Turn}, func(scan index.Scan) error {
			var id, sum, size int64
			err := scan(&id, &sum, &size)
			if _, ok := texts[sum]; ok {
				ids, bytes = append(ids, id), bytes+size
			}
			return err
		})
		for i := 0; err == nil && i < len(ids); i++ {
			_, err = t.Exec(ctx, "UPDATE passages SET text = '' WHERE id = ?", ids[i])
		}
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, "UPDATE cold SET trimmed = 1 WHERE session = ? AND turn = ?", no, turn.Turn)
		return err
	})
	return bytes, err
}

// Warm moves a turn back into the hot tier. log holds the passages in its lines of
// the session log; trimmed texts are restored from it.
func (s *Store) Warm(ctx context.Context, turn archive.ColdTurn, log []archive.Passage) error {
	texts := textsBySum(log)
	return s.write(ctx, "move a turn into the hot tier", func(ctx context.Context, t index.Tx) error {
		no, err := index.SessionNumber(ctx, t, turn.Session)
		if err != nil || no == 0 {
			return err
		}
		sums, err := trimmed(ctx, t, no, turn.Turn)
		if err != nil {
			return err
		}
		for at, sum := range sums {
			if _, err := t.Exec(ctx, "UPDATE passages SET text = ? WHERE session = ? AND turn = ? AND step = ? AND seq = ?",
				texts[sum], no, at.Turn, at.Step, at.Seq); err != nil {
				return err
			}
		}
		_, err = t.Exec(ctx, "DELETE FROM cold WHERE session = ? AND turn = ?", no, turn.Turn)
		return err
	})
}

// Vacuum returns the space of deleted rows to the file system. It rewrites the whole
// file, and no other process may write meanwhile.
func (s *Store) Vacuum(ctx context.Context) error {
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	for _, query := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err := s.conn.exec(ctx, query); err != nil {
			return s.fail("shrink the index", err)
		}
	}
	return nil
}

// textsBySum returns texts by the checksums of their passages.
func textsBySum(ps []archive.Passage) map[int64]string {
	out := make(map[int64]string, len(ps))
	for i := range ps {
		out[index.Checksum(&ps[i], index.EncodeList(ps[i].Paths))] = ps[i].Text
	}
	return out
}

// trimmed returns the places of a turn's passages whose texts were trimmed, with
// their checksums.
func trimmed(ctx context.Context, t index.Tx, no int64, turn int) (map[index.Place]int64, error) {
	out := map[index.Place]int64{}
	err := t.Query(ctx, "SELECT turn, step, seq, sum FROM passages WHERE session = ? AND turn = ? AND text = ''", []any{no, turn}, func(scan index.Scan) error {
		var at index.Place
		var sum int64
		err := scan(&at.Turn, &at.Step, &at.Seq, &sum)
		out[at] = sum
		return err
	})
	return out, err
}

// Refill reads the trimmed texts of one session's passages back from the log, a turn
// at a time. If the log cannot be read, they stay empty: a search has other hits.
func (t tx) Refill(ctx context.Context, session int64, ps []*archive.Passage) error {
	if t.opt.Texts == nil {
		return nil
	}
	id, err := index.Value[string](ctx, t, "SELECT id FROM sessions WHERE no = ?", session)
	if err != nil {
		return err
	}
	byTurn := map[int][]*archive.Passage{}
	for _, p := range ps {
		byTurn[p.Turn] = append(byTurn[p.Turn], p)
	}
	for turn, ps := range byTurn {
		var from, to int
		found, err := t.QueryRow(ctx, "SELECT line_from, line_to FROM turns WHERE session = ? AND turn = ?", []any{session, turn}, &from, &to)
		if err != nil {
			return err
		}
		if !found {
			continue // a hook's summary, which is never trimmed
		}
		sums, err := trimmed(ctx, t, session, turn)
		if err != nil {
			return err
		}
		if len(ps) <= fewTexts {
			var rest []*archive.Passage
			for _, p := range ps {
				missing, err := t.refillFrom(id, p.LineFrom, p.LineTo, []*archive.Passage{p}, sums)
				if err != nil {
					return err
				}
				rest = append(rest, missing...)
			}
			ps = rest
		}
		if len(ps) == 0 {
			continue
		}
		if _, err := t.refillFrom(id, from, to, ps, sums); err != nil {
			return err
		}
	}
	return nil
}

// fewTexts is the number of passages of a turn up to which each is read by its own
// lines. A headless run is one turn of megabytes, of which a search wants a line or
// two.
const fewTexts = 16

// refillFrom sets the texts that are in lines of the session log. It returns the passages
// whose text is elsewhere, all if the log cannot be read.
func (t tx) refillFrom(id string, from, to int, ps []*archive.Passage, sums map[index.Place]int64) (rest []*archive.Passage, err error) {
	log, err := t.opt.Texts(t.done, id, from, to)
	if t.done.Err() != nil {
		return nil, t.done.Err()
	}
	if err != nil {
		return ps, nil //nolint:nilerr // a search has other hits
	}
	texts := textsBySum(log)
	for _, p := range ps {
		text, ok := texts[sums[index.PlaceOf(p)]]
		if !ok {
			rest = append(rest, p)
			continue
		}
		p.Text = text
	}
	return rest, nil
}
