package index

import (
	"context"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// History returns the reads and changes of a file in all sessions, and the commands
// that name it, ordered by time.
func (s *Store) History(ctx context.Context, f archive.HistoryFilter) (out []archive.Touch, err error) {
	f.Path = strings.TrimPrefix(f.Path, "./")
	if f.Path == "" || strings.HasSuffix(f.Path, "/") {
		return nil, archive.Invalid("the path of a file is required", "give a path or the end of one, e.g. pay/retry.go")
	}
	err = s.read(ctx, "read a file's history", func(ctx context.Context, tx Tx) error {
		names, err := projectNames(ctx, tx)
		if err != nil {
			return err
		}
		projects := names.Numbers(f.Projects)
		row := func(scan Scan) error {
			x, wanted, err := ReadTouch(scan, f, projects)
			if wanted {
				out = append(out, x)
			}
			return err
		}
		// The file tables come first: they alone decide which rows are read.
		touched := "SELECT s.id, r.turn, r.step, r.seq, r.path, r.kind, r.line, r.time, c.name, '', c.failed, s.project FROM files r " +
			s.sql.Join + " sessions s ON s.no = r.session " +
			s.sql.Join + " calls c ON c.session = r.session AND c.turn = r.turn AND c.step = r.step AND c.seq = r.seq " +
			"WHERE s.known = true AND (r.path = ?1 OR substr(r.path, length(r.path) - length(?1)) = '/' || ?1) " +
			"ORDER BY r.session, r.turn, r.step, r.seq, r.path"
		if err := tx.Query(ctx, touched, []any{f.Path}, row); err != nil {
			return err
		}
		named := "SELECT s.id, r.turn, r.step, r.seq, '', r.kind, r.line_use, t.time, r.name, r.command, r.failed, s.project FROM calls r " +
			s.sql.Join + " sessions s ON s.no = r.session " +
			s.sql.Join + " steps t ON t.session = r.session AND t.turn = r.turn AND t.step = r.step " +
			"WHERE s.known = true AND r.kind = 'command' AND " + s.sql.Instr + "(r.command, ?) > 0 ORDER BY r.session, r.turn, r.step, r.seq"
		return tx.Query(ctx, named, []any{path.Base(f.Path)}, row)
	})
	slices.SortStableFunc(out, func(a, b archive.Touch) int { return a.Time.Compare(b.Time) })
	return out, err
}

// ReadTouch reads one row of a file's history, followed by its project's number.
// wanted reports whether it passes the filter, whose projects have the given numbers.
func ReadTouch(scan Scan, f archive.HistoryFilter, projects []int64) (x archive.Touch, wanted bool, err error) {
	var project int64
	err = scan(&x.Session, &x.Turn, &x.Step, &x.Seq, &x.Path, &x.Kind, &x.Line, asTime(&x.Time), &x.Tool, &x.Command, &x.Failed, &project)
	if x.Path == "" { // of a command
		x.Path = f.Path
	}
	switch {
	case len(f.Projects) > 0 && !slices.Contains(projects, project):
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, x.Kind):
	case !f.Since.IsZero() && x.Time.Before(f.Since):
	case x.Command != "" && !NamesFile(x.Command, f.Path):
	default:
		wanted = true
	}
	return x, wanted, err
}

// NamesFile reports whether a word of the command is a suffix of the path, or the
// path a suffix of the word, at a slash.
func NamesFile(command, file string) bool {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`()=:;,<>|&{}[]", r) })
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.TrimPrefix(w, "./")
		return w != "" && (w == file || strings.HasSuffix(w, "/"+file) || strings.HasSuffix(file, "/"+w))
	})
}
