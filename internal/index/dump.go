package index

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Listing is a query whose result Dump prints under a name.
type Listing struct {
	Name    string
	Columns int
	Query   string
}

// Dump writes every row by its natural key, one line each, independent of the order
// in which rows were applied: two indexes with the same facts give the same bytes.
// more are listings of the database itself. It is for tests.
func (s *Store) Dump(ctx context.Context, w io.Writer, more ...Listing) error {
	out := bufio.NewWriter(w)
	err := s.read(ctx, "dump the index", func(ctx context.Context, tx Tx) error {
		for _, l := range append(s.listings(), more...) {
			values := make([]any, l.Columns)
			dest := make([]any, l.Columns)
			for i := range dest {
				dest[i] = &values[i]
			}
			err := tx.Query(ctx, l.Query, nil, func(scan Scan) error {
				err := scan(dest...)
				_, _ = fmt.Fprintf(out, "%s %q\n", l.Name, values) // a bufio.Writer keeps its first error for Flush
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", l.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// listings returns the contents of the tables without internal numbers.
func (s *Store) listings() []Listing {
	qualified := func(columns string) string { return "r." + strings.ReplaceAll(columns, ", ", ", r.") }
	// rows lists a table by its key within the session. A copied row names the
	// session it was copied from.
	rows := func(name, table, key, columns string) Listing {
		n := 3 + strings.Count(key, ", ") + strings.Count(columns, ", ")
		columns = strings.Replace(qualified(columns), "r.copy_session", copyName, 1)
		return Listing{
			name, n,
			"SELECT s.id, " + qualified(key) + ", " + columns + " FROM " + table + " r JOIN sessions s ON s.no = r.session ORDER BY s.id, " + qualified(key),
		}
	}
	return []Listing{
		{"project", 4, "SELECT key, name, root, remote FROM projects WHERE no IN (SELECT project FROM sessions WHERE known = true) ORDER BY key"},
		{
			"session", 2 + strings.Count(sessionColumns, ", "),
			"SELECT r.id, " + strings.Replace(qualified(sessionColumns), "r.project", "coalesce(p.key, '')", 1) +
				" FROM sessions r LEFT JOIN projects p ON p.no = r.project WHERE known = true ORDER BY r.id",
		},
		rows("turn", "turns", "turn", s.turnColumns()),
		rows("step", "steps", "turn, step", stepColumns),
		rows("call", "calls", "turn, step, seq", callColumns),
		rows("passage", "passages", "turn, step, seq", "kind, label, paths, line_from, line_to, time, partial, text"),
		{"vector", 7, "SELECT e.name, e.dim, s.id, r.turn, r.step, r.seq, v.data FROM vectors v JOIN embedders e ON e.no = v.embedder " +
			"JOIN passages r ON r.id = v.passage JOIN sessions s ON s.no = r.session ORDER BY e.name, e.dim, s.id, r.turn, r.step, r.seq"},
		rows("file", "files", "turn, step, seq, path", fileColumns),
		rows("task", "tasks", "line, seq", taskColumns),
		rows("compaction", "compactions", "idx", compactionColumns),
		{"cursor", 4, "SELECT s.id, r.generation, r." + s.sql.Offset + ", r.line FROM cursors r JOIN sessions s ON s.no = r.session ORDER BY s.id"},
		{"identity", 4, "SELECT r.key, s.id, r.turn, r.step FROM identities r JOIN sessions s ON s.no = r.session ORDER BY r.key"},
		{"journal", 5, "SELECT id, kind, session_id, time, data FROM journal ORDER BY id"},
		{"summary", 5, "SELECT id, session_id, time, source, text FROM hook_summaries ORDER BY id"},
		{"access", 6, "SELECT session_id, turn, step, time, id, how FROM accesses ORDER BY session_id, turn, step, time, id"},
		{"alias", 4, "SELECT old, target, time, id FROM aliases ORDER BY old"},
	}
}
