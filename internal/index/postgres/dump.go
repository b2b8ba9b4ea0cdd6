package postgres

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// dumped are the contents of the store by natural keys: no internal numbers, nothing
// that depends on the order of what was applied.
func dumped() []struct{ name, sql string } {
	qualified := func(columns string) string { return "r." + strings.ReplaceAll(columns, ", ", ", r.") }
	of := func(table, key, columns string) string {
		key = qualified(key)
		return "SELECT s.id, " + key + ", " + columns + " FROM " + table + " r JOIN sessions s ON s.no = r.session ORDER BY s.id, " + key
	}
	// A copied row names its owner, whose number says nothing.
	copies := func(columns string) string {
		return strings.Replace(qualified(columns), "r.copy_session", copyName, 1)
	}
	return []struct{ name, sql string }{
		{"project", "SELECT key, name, root, remote FROM projects WHERE no IN (SELECT project FROM sessions WHERE known) ORDER BY key"},
		{"session", "SELECT r.id, " + strings.Replace(qualified(sessionColumns), "r.project", "coalesce(p.key, '')", 1) +
			" FROM sessions r LEFT JOIN projects p ON p.no = r.project WHERE known ORDER BY r.id"},
		{"turn", of("turns", "turn", copies(turnColumns))},
		{"step", of("steps", "turn, step", copies(stepColumns))},
		{"call", of("calls", "turn, step, seq", qualified(callColumns))},
		{"passage", of("passages", "turn, step, seq", "r.kind, r.label, r.paths, r.line_from, r.line_to, r.time, r.partial, r.terms, r.text")},
		{"posting", "SELECT s.id, r.term, octet_length(r.strong), octet_length(r.weak) FROM postings r JOIN sessions s ON s.no = r.session ORDER BY s.id, r.term"},
		{"vector", "SELECT e.name, e.dim, s.id, r.turn, r.step, r.seq, v.data FROM vectors v JOIN embedders e ON e.no = v.embedder " +
			"JOIN passages r ON r.id = v.passage JOIN sessions s ON s.no = r.session ORDER BY e.name, e.dim, s.id, r.turn, r.step, r.seq"},
		{"file", of("files", "turn, step, seq, path", qualified(fileColumns))},
		{"task", of("tasks", "line, seq", qualified(taskColumns))},
		{"compaction", of("compactions", "idx", qualified(compactionColumns))},
		{"cursor", "SELECT s.id, r.generation, r.position, r.line FROM cursors r JOIN sessions s ON s.no = r.session ORDER BY s.id"},
		{"identity", "SELECT r.key, s.id, r.turn, r.step FROM identities r JOIN sessions s ON s.no = r.session ORDER BY r.key"},
		{"journal", "SELECT id, kind, session_id, time, data FROM journal ORDER BY id"},
		{"summary", "SELECT id, session_id, time, source, text FROM hook_summaries ORDER BY id"},
		{"access", "SELECT session_id, turn, step, time, id, how FROM accesses ORDER BY session_id, turn, step, time, id"},
		{"alias", "SELECT old, target, time, id FROM aliases ORDER BY old"},
	}
}

// Dump writes every row by its natural key, one line each, in an order that does
// not depend on how the rows came in: two stores that hold the same facts give the
// same bytes.
func (s *Store) Dump(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	err := s.read(ctx, "dump the team's archive", func(ctx context.Context, tx pgx.Tx) error {
		for _, d := range dumped() {
			if err := dumpTable(ctx, tx, out, d.name, d.sql); err != nil {
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

func dumpTable(ctx context.Context, tx pgx.Tx, w *bufio.Writer, name, sql string) error {
	answer, err := tx.Query(ctx, sql)
	if err != nil {
		return err
	}
	defer answer.Close()
	for answer.Next() {
		values, err := answer.Values()
		if err != nil {
			return err
		}
		_, _ = w.WriteString(name) // a bufio.Writer keeps its first error for Flush
		for i, v := range values {
			if v != nil {
				_, _ = fmt.Fprintf(w, " %s=%q", answer.FieldDescriptions()[i].Name, fmt.Sprint(v))
			}
		}
		_ = w.WriteByte('\n')
	}
	return answer.Err()
}
