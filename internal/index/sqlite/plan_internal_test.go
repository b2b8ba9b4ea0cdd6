package sqlite

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// TestPlans fixes how every read is executed: by a key or an index, without a scan of
// a table of rows. The index gathers no statistics, so plans do not depend on its
// contents.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	passage := func(turn int) archive.Passage {
		return archive.Passage{Session: "x", Turn: turn, Kind: archive.KindPrompt, Text: "word"}
	}
	batch := archive.Batch{
		Session: archive.Session{ID: "x", Project: archive.Project{Key: "x"}}, Cursor: archive.Cursor{Session: "x", Offset: 1},
		Passages: []archive.Passage{passage(1), passage(2)},
	}
	if err := s.Apply(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	full := archive.Span{Session: "x", BeforeLine: 9, TurnFrom: 1, TurnTo: 5, Limit: 3, Newest: true}
	whole, newest := archive.Span{Session: "x"}, archive.Span{Session: "x", Newest: true}
	const copyPlan = "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)"
	const projectPlan = "SEARCH p USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
	ctx := t.Context()
	sessions := func(f archive.SessionFilter) func() error {
		return func() error { _, err := s.Sessions(ctx, f); return err }
	}
	search := func() error {
		_, err := s.Search(ctx, archive.Query{Terms: []archive.Term{{Text: "word", Weight: 1}}, Sessions: []string{"x"}})
		return err
	}
	put := func(turns ...int) func() error {
		return func() error {
			return s.write(ctx, "test", func(ctx context.Context, t index.Tx) error {
				var ps []archive.Passage
				for _, turn := range turns {
					ps = append(ps, passage(turn))
				}
				return t.PutPassages(ctx, 1, false, ps)
			})
		}
	}

	for _, test := range []struct {
		name, marker string // part of the query, unless run is nil: then the query itself
		run          func() error
		want         []string
	}{
		{"number", "SELECT no FROM sessions WHERE id = ?", func() error { _, err := s.Turns(ctx, whole); return err }, []string{"SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (id=?)"}},
		{"known", "FROM identities", func() error { _, err := s.Known(ctx, []uint64{1, 2, 3}); return err }, []string{"SEARCH i USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"cursor", "JOIN cursors", func() error { _, err := s.Cursor(ctx, "x"); return err }, []string{"SEARCH s USING COVERING INDEX sqlite_autoindex_sessions_1 (id=?)", "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"held passages of a turn", "SELECT turn, step, seq, id, sum", put(1), []string{"SEARCH passages USING INDEX passages_place (session=? AND turn=? AND step>? AND step<?)"}},
		{"held passages", "SELECT turn, step, seq, id, sum", put(1, 2), []string{"SEARCH passages USING INDEX passages_place (session=? AND turn>? AND turn<?)"}},
		{"summarized", "c.summary_line >= 0", func() error {
			return s.ApplyJournal(ctx, []archive.JournalEntry{{ID: "1", Kind: archive.JournalSummary, Session: "x", Data: []byte(`{"text":"t"}`)}}, nil)
		}, []string{"SEARCH s USING COVERING INDEX sqlite_autoindex_sessions_1 (id>? AND id<?)", "SEARCH c USING PRIMARY KEY (session=?)"}},
		{"hook summaries", "FROM hook_summaries", func() error { _, err := s.HookSummaries(ctx, "x"); return err }, []string{"SEARCH hook_summaries USING INDEX hook_summaries_session (session_id=?)"}},
		{"facts of a session", "FROM journal", func() error { _, err := s.Facts(ctx, "x", archive.JournalTask); return err }, []string{"SEARCH journal USING INDEX journal_session (session_id=? AND kind=?)"}},
		{"resolve", "id < ?", func() error { _, err := s.Resolve(ctx, "x"); return err }, []string{"SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id>? AND id<?)"}},
		{"session", "s.id = ?", func() error { _, err := s.Session(ctx, "x"); return err }, []string{"SEARCH s USING INDEX sqlite_autoindex_sessions_1 (id=?)", projectPlan}},
		{"sessions", "FROM sessions s", sessions(archive.SessionFilter{}), []string{"SCAN s USING INDEX sessions_last", projectPlan}},
		{"sessions since", "FROM sessions s", sessions(archive.SessionFilter{Since: time.Unix(1, 0), Limit: 5}), []string{"SEARCH s USING INDEX sessions_last (last>?)", projectPlan}},
		{"sessions of a parent", "FROM sessions s", sessions(archive.SessionFilter{Parent: "x", Agents: true}), []string{"SEARCH s USING INDEX sessions_parent (parent_id=?)", projectPlan}},
		{"sessions of a project", "FROM sessions s", sessions(archive.SessionFilter{Projects: []string{"unknown"}}), []string{"SEARCH s USING INDEX sessions_project (project=?)", projectPlan}},
		{"projects", "GROUP BY p.no", func() error { _, err := s.Projects(ctx); return err }, []string{
			"SCAN turns USING COVERING INDEX turns_copied", "SCAN p", "SEARCH s USING INDEX sessions_project (project=?)", "SEARCH r USING AUTOMATIC COVERING INDEX (session=?) LEFT-JOIN",
		}},
		{"turns", "FROM turns", func() error { _, err := s.Turns(ctx, whole); return err }, []string{"SEARCH r USING PRIMARY KEY (session=?)", copyPlan}},
		{"turns, narrowed", "FROM turns", func() error { _, err := s.Turns(ctx, full); return err }, []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)", copyPlan}},
		{"rewound turns", "FROM turns", func() error { _, err := s.Rewound(ctx, full); return err }, []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)", "SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)"}},
		{"steps", "FROM steps", func() error { _, err := s.Steps(ctx, whole); return err }, []string{"SEARCH r USING PRIMARY KEY (session=?)", copyPlan}},
		{"steps, narrowed", "FROM steps", func() error { _, err := s.Steps(ctx, full); return err }, []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)", copyPlan}},
		{"calls", "FROM calls", func() error {
			_, err := s.Calls(ctx, archive.CallSpan{Span: full, Kinds: []archive.CallKind{"x"}, Failed: true})
			return err
		}, []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)"}},
		{"passages", "FROM passages", func() error { _, err := s.Passages(ctx, archive.PassageSpan{Span: whole}); return err }, []string{"SEARCH r USING INDEX passages_place (session=?)"}},
		{"passages, narrowed", "FROM passages", func() error {
			_, err := s.Passages(ctx, archive.PassageSpan{Span: full, Kinds: []archive.PassageKind{"x"}})
			return err
		}, []string{"SEARCH r USING INDEX passages_place (session=? AND turn>? AND turn<?)"}},
		{"passages of a kind", "FROM passages", func() error {
			_, err := s.Passages(ctx, archive.PassageSpan{Span: whole, Kinds: []archive.PassageKind{archive.KindPrompt}})
			return err
		}, []string{"SEARCH r USING INDEX passages_place (session=?)"}},
		{"files", "FROM files", func() error { _, err := s.Files(ctx, full); return err }, []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)"}},
		{"tasks", "FROM tasks", func() error { _, err := s.Tasks(ctx, newest); return err }, []string{"SEARCH r USING PRIMARY KEY (session=?)"}},
		{"compactions", "FROM compactions", func() error { _, err := s.Compactions(ctx, newest); return err }, []string{"SEARCH r USING PRIMARY KEY (session=?)"}},
		{"shared turns and steps", "copy_turn, -1 FROM turns", search, []string{
			"SEARCH turns USING COVERING INDEX turns_copied (session=?)", "SEARCH steps USING COVERING INDEX steps_copied (session=?)",
		}},
		{"list", listQuery, nil, []string{"SCAN words VIRTUAL TABLE INDEX 0:M1><"}},
		{"capped list", cappedQuery, nil, []string{"SCAN words VIRTUAL TABLE INDEX 192:M1><"}},
		{"leaves of words", leafQuery, nil, []string{"SCAN s VIRTUAL TABLE INDEX 1:", "SCAN w VIRTUAL TABLE INDEX 1:", "SEARCH words_idx USING PRIMARY KEY (segid=? AND term<?)"}},
		{"next leaf", nextLeafQuery, nil, []string{"SEARCH words_idx USING PRIMARY KEY (segid=? AND term>?)"}},
		{"blocks", blocksQuery, nil, []string{"SEARCH words_data USING INTEGER PRIMARY KEY (rowid=?)", "SCAN json_each VIRTUAL TABLE INDEX 1:"}},
		{"range of blocks", rangeQuery, nil, []string{"SEARCH words_data USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}},
		{"candidates", "coalesce((SELECT dead FROM turns", search, []string{
			"SEARCH r USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH t USING PRIMARY KEY (session=? AND turn=?)",
			"SEARCH p USING COVERING INDEX passages_place (session=? AND turn=?)", "SEARCH p USING COVERING INDEX passages_place (session=? AND turn=?)",
		}},
		{"owners of hits", "SELECT s.no, s.id", search, []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)", projectPlan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			query := test.marker
			if test.run != nil {
				query = executed(t, s, test.marker, test.run)
			}
			if have := plan(t, s, query); !slices.Equal(have, test.want) {
				t.Errorf("%s\nhave %q\nwant %q", query, have, test.want)
			}
		})
	}
}

// executed returns the only query with the marker that run executes.
func executed(t *testing.T, s *Store, marker string, run func() error) (query string) {
	t.Helper()
	for _, st := range s.stmts {
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	clear(s.stmts)
	if err := run(); err != nil {
		t.Fatal(err)
	}
	for q := range s.stmts {
		if !strings.Contains(q, marker) {
			continue
		}
		if query != "" {
			t.Fatalf("both %s and %s contain %s", query, q, marker)
		}
		query = q
	}
	if query == "" {
		t.Fatalf("no query with %s", marker)
	}
	return query
}

// plan returns the steps of a query that read rows. Sorting, which Sessions of
// several projects need, is not among them.
func plan(t *testing.T, s *Store, query string) (steps []string) {
	t.Helper()
	err := tx{s, t.Context()}.Query(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))[:argCount(query)], func(scan index.Scan) error {
		var id, parent, unused int
		var detail string
		if err := scan(&id, &parent, &unused, &detail); err != nil {
			return err
		}
		if strings.HasPrefix(detail, "SEARCH") || strings.HasPrefix(detail, "SCAN") && !strings.HasPrefix(detail, "SCAN (subquery") {
			steps = append(steps, detail)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return steps
}

// argCount returns the number of arguments of a query. Numbered ones repeat.
func argCount(query string) int {
	switch {
	case strings.Contains(query, "?2"):
		return 2
	case strings.Contains(query, "?1"):
		return 1
	}
	return strings.Count(query, "?")
}
