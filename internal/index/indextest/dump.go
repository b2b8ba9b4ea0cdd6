package indextest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// The columns of each table after its key.
const (
	sessionColumns = "known, client, project, worktree, parent_id, relation, agent_id, agent_type, agent_desc, cwd, branch, " +
		"version, model, title, first, last, generation, bytes, lines, turns, steps, calls, compacts, input, output, " +
		"cache_read, cache_write, cost_usd, cost_api, cost_time, cost_turns, lines_added, lines_gone"
	copyColumns = "copy_session, copy_turn, copy_step"
	stepColumns = "message_id, model, time, line_from, line_to, input, output, cache_read, cache_write, stop, api_error, sidechain, " +
		copyColumns
	callColumns       = "tool_id, name, kind, command, files, exit, failed, error, duration, line_use, line_result"
	fileColumns       = "kind, line, time"
	taskColumns       = "task_id, subject, status, time, turn, step"
	compactionColumns = "line, time, cause, pre_tokens, post_tokens, duration, summary_line, kept, ours, turn"
)

// copyName selects the ID of the session that a row was copied from.
const copyName = "coalesce((SELECT id FROM sessions WHERE no = r.copy_session), '')"

// listing is a query whose rows Dump prints under a name.
type listing struct {
	name    string
	columns int
	query   string
}

// Dump returns every row of a store by its natural key, one line each, independent of the
// order in which rows were applied: two stores with the same facts give the same text.
func Dump(t testing.TB, s interface {
	Read(ctx context.Context, what string, fn func(ctx context.Context, tx index.Tx) error) error
},
) string {
	t.Helper()
	var out bytes.Buffer
	_, team := s.(interface { // only an archive of a team
		Pushed(ctx context.Context) (map[string]archive.Cursor, error)
	})
	err := s.Read(context.Background(), "dump the index", func(ctx context.Context, tx index.Tx) error {
		for _, l := range listings(team) {
			values, dest := make([]any, l.columns), make([]any, l.columns)
			for i := range dest {
				dest[i] = &values[i]
			}
			err := tx.Query(ctx, l.query, nil, func(scan index.Scan) error {
				err := scan(dest...)
				fmt.Fprintf(&out, "%s %q\n", l.name, values)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", l.name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Dump: %v", err)
	}
	return out.String()
}

// listings returns the contents of the tables without internal numbers.
func listings(team bool) []listing {
	start, end, offset := "start", "end", "offset"
	if team {
		start, end, offset = "began", "ended", "position"
	}
	turnColumns := "title, prompt_id, " + start + ", " + end + ", line_from, line_to, steps, dead, " + copyColumns
	qualified := func(columns string) string { return "r." + strings.ReplaceAll(columns, ", ", ", r.") }
	// rows lists a table by its key within the session. A copied row names the
	// session it was copied from.
	rows := func(name, table, key, columns string) listing {
		n := 3 + strings.Count(key, ", ") + strings.Count(columns, ", ")
		columns = strings.Replace(qualified(columns), "r.copy_session", copyName, 1)
		return listing{
			name, n,
			"SELECT s.id, " + qualified(key) + ", " + columns + " FROM " + table + " r JOIN sessions s ON s.no = r.session ORDER BY s.id, " + qualified(key),
		}
	}
	all := []listing{
		{"project", 4, "SELECT key, name, root, remote FROM projects WHERE no IN (SELECT project FROM sessions WHERE known = true) ORDER BY key"},
		{
			"session", 2 + strings.Count(sessionColumns, ", "),
			"SELECT r.id, " + strings.Replace(qualified(sessionColumns), "r.project", "coalesce(p.key, '')", 1) +
				" FROM sessions r LEFT JOIN projects p ON p.no = r.project WHERE known = true ORDER BY r.id",
		},
		rows("turn", "turns", "turn", turnColumns),
		rows("step", "steps", "turn, step", stepColumns),
		rows("call", "calls", "turn, step, seq", callColumns),
		rows("passage", "passages", "turn, step, seq", "kind, label, paths, line_from, line_to, time, partial, text"),
		{"vector", 7, "SELECT e.name, e.dim, s.id, r.turn, r.step, r.seq, v.data FROM vectors v JOIN embedders e ON e.no = v.embedder " +
			"JOIN passages r ON r.id = v.passage JOIN sessions s ON s.no = r.session ORDER BY e.name, e.dim, s.id, r.turn, r.step, r.seq"},
		rows("file", "files", "turn, step, seq, path", fileColumns),
		rows("task", "tasks", "line, seq", taskColumns),
		rows("compaction", "compactions", "idx", compactionColumns),
		{"cursor", 4, "SELECT s.id, r.generation, r." + offset + ", r.line FROM cursors r JOIN sessions s ON s.no = r.session ORDER BY s.id"},
		{"identity", 4, "SELECT r.key, s.id, r.turn, r.step FROM identities r JOIN sessions s ON s.no = r.session ORDER BY r.key"},
		{"journal", 5, "SELECT id, kind, session_id, time, data FROM journal ORDER BY id"},
		{"summary", 5, "SELECT id, session_id, time, source, text FROM hook_summaries ORDER BY id"},
		{"access", 6, "SELECT session_id, turn, step, time, id, how FROM accesses ORDER BY session_id, turn, step, time, id"},
		{"alias", 4, "SELECT old, target, time, id FROM aliases ORDER BY old"},
	}
	if team {
		return append(all,
			listing{"terms", 5, "SELECT s.id, r.turn, r.step, r.seq, r.terms FROM passages r JOIN sessions s ON s.no = r.session ORDER BY s.id, r.turn, r.step, r.seq"},
			listing{"posting", 4, "SELECT s.id, r.term, octet_length(r.strong), octet_length(r.weak) FROM postings r " +
				"JOIN sessions s ON s.no = r.session ORDER BY s.id, r.term"})
	}
	return append(all, listing{
		"terms", 5, "SELECT s.id, r.turn, r.step, r.seq, group_concat(v.term, ' ' ORDER BY v.term) FROM words_terms v " +
			"CROSS JOIN passages r ON r.id = v.doc JOIN sessions s ON s.no = r.session GROUP BY r.id ORDER BY s.id, r.turn, r.step, r.seq",
	})
}
