package postgres

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

const summarizedQuery = "SELECT 1 FROM sessions s JOIN compactions c ON c.session = s.no " +
	"WHERE s.id >= $1 AND s.id < $1 || 'A' AND (s.id = $1 OR substr(s.id, length($1) + 1, 1) = '@') " +
	"AND c.summary_line >= 0 AND c.time >= $2 LIMIT 1"

// applySummary stores a summary unless a transcript holds it by now.
func applySummary(ctx context.Context, tx pgx.Tx, e *archive.JournalEntry, fact archive.SummaryFact) error {
	base := index.BaseID(e.Session)
	var one int
	done, err := queryRow(ctx, tx, summarizedQuery, []any{base, index.Nanos(e.Time)}, &one)
	if err != nil || done {
		return err
	}
	text := clean(fact.Text)
	fresh, err := exec(ctx, tx, "INSERT INTO hook_summaries (id, session_id, time, source, text) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING",
		clean(e.ID), base, index.Nanos(e.Time), clean(fact.Source), text)
	if err != nil || fresh == 0 {
		return err
	}
	return putSummary(ctx, tx, base, index.SummaryPassages(archive.HookSummary{ID: e.ID, Session: base, Time: e.Time.UTC(), Text: text}))
}

// putSummary stores passages that stand in no transcript.
func putSummary(ctx context.Context, tx pgx.Tx, id string, ps []archive.Passage) error {
	numbers, err := intern(ctx, tx, []string{id})
	if err != nil {
		return err
	}
	return putPassages(ctx, tx, numbers[id], archive.IsAgentID(id), ps)
}

// dropHookSummaries removes the summaries of a session that were told until then,
// because a transcript holds a summary of that time.
func dropHookSummaries(ctx context.Context, tx pgx.Tx, base string, until int64) error {
	var ids []string
	err := query(ctx, tx, "DELETE FROM hook_summaries WHERE session_id = $1 AND time <= $2 RETURNING id", []any{base, until}, func(scan scanFunc) error {
		var id string
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	no, err := number(ctx, tx, base)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := dropHookPassages(ctx, tx, no, id); err != nil {
			return err
		}
	}
	return nil
}

// dropHookPassages removes the passages of one summary that stands in no transcript.
func dropHookPassages(ctx context.Context, tx pgx.Tx, no int64, id string) error {
	first := index.HookSeq(id)
	const sql = "SELECT id FROM passages WHERE session = $1 AND turn = $2 AND step = -1 AND seq >= $3 AND seq < $4"
	ids, err := numbers(ctx, tx, sql, no, index.HookTurn, first, first+index.HookChunks)
	if err != nil {
		return err
	}
	return dropPassages(ctx, tx, ids)
}

// numbers reads a column of numbers.
func numbers(ctx context.Context, tx pgx.Tx, sql string, args ...any) (out []int64, err error) {
	err = query(ctx, tx, sql, args, func(scan scanFunc) error {
		var n int64
		err := scan(&n)
		out = append(out, n)
		return err
	})
	return out, err
}

// moveHookSummaries makes the passages of a session's summaries anew under its
// name, after the session with number no lost that name.
func moveHookSummaries(ctx context.Context, tx pgx.Tx, id string, no int64) error {
	summaries, err := hookSummaries(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, h := range summaries {
		if err := dropHookPassages(ctx, tx, no, h.ID); err != nil {
			return err
		}
		if err := putSummary(ctx, tx, id, index.SummaryPassages(h)); err != nil {
			return err
		}
	}
	return nil
}

// HookSummaries returns the summaries of a session that only hooks told so far,
// oldest first.
func (s *Store) HookSummaries(ctx context.Context, session string) (out []archive.HookSummary, err error) {
	err = s.read(ctx, "read summaries", func(ctx context.Context, tx pgx.Tx) error {
		out, err = hookSummaries(ctx, tx, index.BaseID(session))
		return err
	})
	return out, err
}

func hookSummaries(ctx context.Context, tx pgx.Tx, base string) (out []archive.HookSummary, err error) {
	const sql = "SELECT id, time, source, text FROM hook_summaries WHERE session_id = $1 ORDER BY time, id"
	err = query(ctx, tx, sql, []any{base}, func(scan scanFunc) error {
		h := archive.HookSummary{Session: base}
		var at int64
		err := scan(&h.ID, &at, &h.Source, &h.Text)
		h.Time = index.Instant(at)
		out = append(out, h)
		return err
	})
	return out, err
}

// segmentFacts reads what happened to the segments of a session, by their ids and
// in the order of time.
func segmentFacts(ctx context.Context, tx pgx.Tx, base string) (map[string][]archive.SegmentFact, error) {
	entries, err := facts(ctx, tx, base, archive.JournalSegment)
	if err != nil {
		return nil, err
	}
	out := map[string][]archive.SegmentFact{}
	for _, e := range entries {
		var f archive.SegmentFact
		if json.Unmarshal(e.Data, &f) == nil && f.Segment.ID != "" {
			out[f.Segment.ID] = append(out[f.Segment.ID], f)
		}
	}
	return out, nil
}

// indexSegments makes the passages of segments anew to which something happened.
// What they are depends on all entries about it, whatever order they come in.
func indexSegments(ctx context.Context, tx pgx.Tx, base string, ids []string) error {
	facts, err := segmentFacts(ctx, tx, base)
	if err != nil {
		return err
	}
	no, err := number(ctx, tx, base)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := dropHookPassages(ctx, tx, no, id); err != nil {
			return err
		}
		if err := putSummary(ctx, tx, base, index.SegmentPassages(facts[id], base)); err != nil {
			return err
		}
	}
	return nil
}

// moveSegments makes the passages of a session's segments anew under its name,
// after the session with number no lost that name.
func moveSegments(ctx context.Context, tx pgx.Tx, id string, no int64) error {
	facts, err := segmentFacts(ctx, tx, id)
	if err != nil || len(facts) == 0 {
		return err
	}
	ids := slices.Sorted(maps.Keys(facts))
	for _, segment := range ids {
		if err := dropHookPassages(ctx, tx, no, segment); err != nil {
			return err
		}
	}
	return indexSegments(ctx, tx, id, ids)
}
