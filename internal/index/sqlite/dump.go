package sqlite

import (
	"bufio"
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"
)

// dumped are the contents of the index by natural keys: no internal numbers, no
// sizes of the file, nothing that depends on the order of what was applied.
func dumped() []struct{ name, query string } {
	const of = " FROM %s r JOIN sessions s ON s.no = r.session ORDER BY s.id, "
	// rows lists a table by its key within the session.
	rows := func(table, key, columns string) string {
		key = qualified(key)
		return "SELECT s.id, " + key + ", " + columns + fmt.Sprintf(of, table) + key
	}
	// A copied row names its owner, whose number says nothing.
	copies := func(columns string) string {
		return strings.Replace(qualified(columns), "r.copy_session", copyName, 1)
	}
	return []struct{ name, query string }{
		{"project", "SELECT key, name, root, remote FROM projects WHERE no IN (SELECT project FROM sessions WHERE known = 1) ORDER BY key"},
		{"session", "SELECT r.id, " + strings.Replace(qualified(sessionColumns), "r.project", "coalesce(p.key, '')", 1) +
			" FROM sessions r LEFT JOIN projects p ON p.no = r.project WHERE known = 1 ORDER BY r.id"},
		{"turn", rows("turns", "turn", copies(turnColumns))},
		{"step", rows("steps", "turn, step", copies(stepColumns))},
		{"call", rows("calls", "turn, step, seq", qualified(callColumns))},
		{"passage", rows("passages", "turn, step, seq", "r.kind, r.label, r.paths, r.line_from, r.line_to, r.time, r.partial, r.text")},
		{"terms", "SELECT s.id, r.turn, r.step, r.seq, group_concat(v.term, ' ' ORDER BY v.term) FROM words_terms v " +
			"CROSS JOIN passages r ON r.id = v.doc JOIN sessions s ON s.no = r.session GROUP BY r.id ORDER BY s.id, r.turn, r.step, r.seq"},
		{"vector", "SELECT e.name, e.dim, s.id, r.turn, r.step, r.seq, hex(v.data) AS data FROM vectors v JOIN embedders e ON e.no = v.embedder " +
			"JOIN passages r ON r.id = v.passage JOIN sessions s ON s.no = r.session ORDER BY e.name, e.dim, s.id, r.turn, r.step, r.seq"},
		{"file", rows("files", "turn, step, seq, path", qualified(fileColumns))},
		{"task", rows("tasks", "line, seq", qualified(taskColumns))},
		{"compaction", rows("compactions", "idx", qualified(compactionColumns))},
		{"cursor", "SELECT s.id, r.generation, r.offset, r.line FROM cursors r JOIN sessions s ON s.no = r.session ORDER BY s.id"},
		{"identity", "SELECT r.key, s.id, r.turn, r.step FROM identities r JOIN sessions s ON s.no = r.session ORDER BY r.key"},
		{"journal", "SELECT id, kind, session_id, time, data FROM journal ORDER BY id"},
		{"summary", "SELECT id, session_id, time, source, text FROM hook_summaries ORDER BY id"},
		{"access", "SELECT session_id, turn, step, time, id, how FROM accesses ORDER BY session_id, turn, step, time, id"},
		{"alias", "SELECT old, target, time, id FROM aliases ORDER BY old"},
	}
}

func qualified(columns string) string { return "r." + strings.ReplaceAll(columns, ", ", ", r.") }

// Dump writes every row by its natural key, one line each, in an order that does
// not depend on how the rows came in: two indexes that hold the same facts give
// the same bytes. It is for tests and takes memory for all terms.
func (s *Store) Dump(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	err := s.read(ctx, "dump the index", func(ctx context.Context) error {
		for _, d := range dumped() {
			if err := s.dumpTable(ctx, out, d.name, d.query); err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func (s *Store) dumpTable(ctx context.Context, w *bufio.Writer, name, query string) error {
	st, err := s.stmt(ctx, query)
	if err != nil {
		return err
	}
	return each(ctx, st, nil, func(columns []string, values []driver.Value) error {
		_, _ = w.WriteString(name) // a bufio.Writer keeps its first error for Flush
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case string, []byte:
				_, _ = fmt.Fprintf(w, " %s=%q", columns[i], v)
			default:
				_, _ = fmt.Fprintf(w, " %s=%q", columns[i], fmt.Sprint(v))
			}
		}
		return w.WriteByte('\n')
	})
}
