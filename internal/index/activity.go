package index

import (
	"context"
	"fmt"

	"strandline/internal/archive"
)

// Activity returns what happened in the sessions that pass a filter, by session, slot and
// model. The filter's Since selects sessions: their slots are complete. Steps are those that
// sessions count, without errors of the API.
func (s *Store) Activity(ctx context.Context, f archive.SessionFilter) ([]archive.Activity, error) {
	slot := func(column string) string { return fmt.Sprintf("%s / %d", column, int64(archive.ActivitySlot)) }
	long := fmt.Sprintf("input + cache_read + cache_write > %d", archive.LongPrompt)
	const chosen = " FROM %s WHERE session IN (SELECT no FROM chosen)"
	from := func(table string) string { return fmt.Sprintf(chosen, table) }
	return readFiltered(ctx, s, "sum the activity", f, "SELECT s.id, a.at, a.model, a.long, a.turns, a.compacts, a.steps, a.input, a.output, a.cache_read, a.cache_write FROM ("+
		"SELECT session, "+slot("time")+" AS at, model, "+long+" AS long, 0 AS turns, 0 AS compacts, CAST(sum(CASE WHEN api_error = true THEN 0 ELSE 1 END) AS bigint) AS steps, "+
		"CAST(sum(input) AS bigint) AS input, CAST(sum(output) AS bigint) AS output, "+
		"CAST(sum(cache_read) AS bigint) AS cache_read, CAST(sum(cache_write) AS bigint) AS cache_write"+
		from("steps")+" AND copy_session = 0 GROUP BY 1, 2, 3, 4"+
		" UNION ALL SELECT session, "+slot(s.sql.Start)+", '', 1 = 0, count(*), 0, 0, 0, 0, 0, 0"+from("turns")+" AND copy_session = 0 GROUP BY 1, 2"+
		// A fork copies the boundary with its time.
		" UNION ALL SELECT min(session), "+slot("time")+", '', 1 = 0, 0, 1, 0, 0, 0, 0, 0"+from("compactions")+" GROUP BY time, pre_tokens, "+
		"CASE WHEN time = 0 THEN session ELSE 0 END, CASE WHEN time = 0 THEN idx ELSE 0 END"+
		") a JOIN sessions s ON s.no = a.session ORDER BY a.at, s.id, a.model, a.long, a.turns, a.compacts",
		func(scan Scan) (x archive.Activity, err error) {
			var at int64
			err = scan(&x.Session, &at, &x.Model, &x.Long, &x.Turns, &x.Compactions, &x.Steps,
				&x.Usage.Input, &x.Usage.Output, &x.Usage.CacheRead, &x.Usage.CacheWrite)
			if err == nil && at != 0 {
				err = asTime(&x.Time).Scan(at * int64(archive.ActivitySlot))
			}
			return x, err
		})
}

// ToolCalls counts the tool calls of the sessions that pass a filter, from its Since on.
func (s *Store) ToolCalls(ctx context.Context, f archive.SessionFilter) ([]archive.ToolCalls, error) {
	query := "SELECT c.name, c.failed, CASE WHEN c.failed = true THEN c.error ELSE '' END, count(*) FROM calls c"
	if !f.Since.IsZero() {
		query += fmt.Sprintf(" JOIN steps t ON t.session = c.session AND t.turn = c.turn AND t.step = c.step AND t.time >= %d", Nanos(f.Since))
	}
	query += " WHERE c.session IN (SELECT no FROM chosen) GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 3"
	return readFiltered(ctx, s, "count tool calls", f, query, func(scan Scan) (x archive.ToolCalls, err error) {
		err = scan(&x.Name, &x.Failed, &x.Error, &x.Calls)
		return x, err
	})
}

// readFiltered reads the rows of a query that refers to the sessions of a filter as the
// table chosen, with their numbers in the column no.
func readFiltered[T any](ctx context.Context, s *Store, what string, f archive.SessionFilter, query string, row func(scan Scan) (T, error)) ([]T, error) {
	return Read(ctx, s.read, what, func(ctx context.Context, tx Tx) ([]T, error) {
		names, err := readProjects(ctx, tx)
		if err != nil {
			return nil, err
		}
		where, args := sessionsWhere(f, names)
		return Rows(ctx, tx, "WITH chosen AS (SELECT s.no FROM sessions s WHERE "+where+") "+query, args, row)
	})
}
