package sqlite

import (
	"context"
	"path"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// The file tables come first: which rows are wanted is known of them alone.
const (
	touchedQuery = "SELECT s.id, r.turn, r.step, r.seq, r.path, r.kind, r.line, r.time, c.name, '', c.failed, s.project FROM files r " +
		"CROSS JOIN sessions s ON s.no = r.session CROSS JOIN calls c ON c.session = r.session AND c.turn = r.turn AND c.step = r.step AND c.seq = r.seq " +
		"WHERE s.known = 1 AND (r.path = ?1 OR substr(r.path, -length(?1) - 1) = '/' || ?1)"
	namedQuery = "SELECT s.id, r.turn, r.step, r.seq, ?1, r.kind, r.line_use, t.time, r.name, r.command, r.failed, s.project FROM calls r " +
		"CROSS JOIN sessions s ON s.no = r.session CROSS JOIN steps t ON t.session = r.session AND t.turn = r.turn AND t.step = r.step " +
		"WHERE s.known = 1 AND r.kind = 'command' AND instr(r.command, ?2) > 0"
)

// History returns what calls did to a file, in all sessions, in the order of
// time: reads and changes, and commands that name it.
func (s *Store) History(ctx context.Context, f archive.HistoryFilter) (out []archive.Touch, err error) {
	f.Path = strings.TrimPrefix(f.Path, "./")
	if f.Path == "" || strings.HasSuffix(f.Path, "/") {
		return nil, archive.Invalid("a file is wanted", "give a path or the end of one, e.g. pay/retry.go")
	}
	err = s.read(ctx, "read a file's history", func(ctx context.Context) error {
		names, err := s.projectNames(ctx)
		if err != nil {
			return err
		}
		projects := names.Numbers(f.Projects)
		row := func(scan scanFunc) error {
			x, wanted, err := index.ReadTouch(scan, f, projects)
			if wanted {
				out = append(out, x)
			}
			return err
		}
		if err := s.query(ctx, touchedQuery, []any{f.Path}, row); err != nil {
			return err
		}
		return s.query(ctx, namedQuery, []any{f.Path, path.Base(f.Path)}, row)
	})
	slices.SortStableFunc(out, func(a, b archive.Touch) int { return a.Time.Compare(b.Time) })
	return out, err
}
