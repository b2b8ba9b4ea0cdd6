package sqlite

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// TestPlans pins how every read is executed: through a key or an index, and
// through no table of rows from end to end. Statistics are never gathered, so
// plans do not depend on what the archive holds.
func TestPlans(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	full := archive.Span{BeforeLine: 9, TurnFrom: 1, TurnTo: 5, Limit: 3, Newest: true}
	only := func(query string, _ []any) string { return query }
	const copyPlan = "SEARCH sessions USING INTEGER PRIMARY KEY (rowid=?)"
	const projectPlan = "SEARCH p USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
	names := index.NewProjects()

	for _, test := range []struct {
		name, query string
		want        []string
	}{
		{"number", "SELECT no FROM sessions WHERE id = ?", []string{"SEARCH sessions USING COVERING INDEX sqlite_autoindex_sessions_1 (id=?)"}},
		{"known", knownQuery(3), []string{"SEARCH i USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"cursor", cursorQuery, []string{"SEARCH s USING COVERING INDEX sqlite_autoindex_sessions_1 (id=?)", "SEARCH c USING INTEGER PRIMARY KEY (rowid=?)"}},
		{"held passages of a turn", heldInTurnQuery, []string{"SEARCH passages USING INDEX passages_place (session=? AND turn=? AND step>? AND step<?)"}},
		{"held passages", heldQuery, []string{"SEARCH passages USING INDEX passages_place (session=? AND turn>? AND turn<?)"}},
		{"summarized", summarizedQuery, []string{"SEARCH s USING COVERING INDEX sqlite_autoindex_sessions_1 (id>? AND id<?)", "SEARCH c USING PRIMARY KEY (session=?)"}},
		{"hook summaries", hookSummariesQuery, []string{"SEARCH hook_summaries USING INDEX hook_summaries_session (session_id=?)"}},
		{"facts of a session", factsQuery, []string{"SEARCH journal USING INDEX journal_session (session_id=? AND kind=?)"}},
		{"resolve", resolveQuery, []string{"SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id>? AND id<?)"}},
		{"session", sessionSelect + "WHERE s.id = ? AND s.known = 1", []string{"SEARCH s USING INDEX sqlite_autoindex_sessions_1 (id=?)", projectPlan}},
		{"sessions", only(sessionsQuery(archive.SessionFilter{}, names)), []string{"SCAN s USING INDEX sessions_last", projectPlan}},
		{"sessions since", only(sessionsQuery(archive.SessionFilter{Since: time.Unix(1, 0), Limit: 5}, names)), []string{"SEARCH s USING INDEX sessions_last (last>?)", projectPlan}},
		{"sessions of a parent", only(sessionsQuery(archive.SessionFilter{Parent: "x", Agents: true}, names)), []string{"SEARCH s USING INDEX sessions_parent (parent_id=?)", projectPlan}},
		{"sessions of a project", only(sessionsQuery(archive.SessionFilter{Projects: []string{"x"}}, names)), []string{"SEARCH s USING INDEX sessions_project (project=?)", projectPlan}},
		{"projects", projectsQuery, []string{"SCAN p", "SEARCH s USING INDEX sessions_project (project=?)"}},
		{"turns", only(turnsQuery(1, archive.Span{})), []string{"SEARCH r USING PRIMARY KEY (session=?)", copyPlan}},
		{"turns, narrowed", only(turnsQuery(1, full)), []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)", copyPlan}},
		{"rewound turns", only(rewoundQuery(1, full)), []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)", "SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)"}},
		{"steps", only(stepsQuery(1, archive.Span{})), []string{"SEARCH r USING PRIMARY KEY (session=?)", copyPlan}},
		{"steps, narrowed", only(stepsQuery(1, full)), []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)", copyPlan}},
		{"calls", only(callsQuery(1, archive.CallSpan{Span: full, Kinds: []archive.CallKind{"x"}, Failed: true})), []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)"}},
		{"passages", only(passagesQuery(1, archive.PassageSpan{})), []string{"SEARCH r USING INDEX passages_place (session=?)"}},
		{"passages, narrowed", only(passagesQuery(1, archive.PassageSpan{Span: full, Kinds: []archive.PassageKind{"x"}})), []string{"SEARCH r USING INDEX passages_place (session=? AND turn>? AND turn<?)"}},
		{"passages of a kind", only(passagesQuery(1, archive.PassageSpan{Kinds: []archive.PassageKind{archive.KindPrompt}})), []string{"SEARCH r USING INDEX passages_place (session=?)"}},
		{"files", only(filesQuery(1, full)), []string{"SEARCH r USING PRIMARY KEY (session=? AND turn>? AND turn<?)"}},
		{"tasks", only(tasksQuery(1, archive.Span{Newest: true})), []string{"SEARCH r USING PRIMARY KEY (session=?)"}},
		{"compactions", only(compactionsQuery(1, archive.Span{Newest: true})), []string{"SEARCH r USING PRIMARY KEY (session=?)"}},
		{"shared turns", sharedTurnsQuery, []string{"SEARCH turns USING COVERING INDEX turns_copied (session=?)"}},
		{"shared steps", sharedStepsQuery, []string{"SEARCH steps USING COVERING INDEX steps_copied (session=?)"}},
		{"list", listQuery, []string{"SCAN words VIRTUAL TABLE INDEX 0:M1><"}},
		{"capped list", cappedQuery, []string{"SCAN words VIRTUAL TABLE INDEX 192:M1><"}},
		{"leaves of words", leafQuery, []string{"SCAN s VIRTUAL TABLE INDEX 1:", "SCAN w VIRTUAL TABLE INDEX 1:", "SEARCH words_idx USING PRIMARY KEY (segid=? AND term<?)"}},
		{"next leaf", nextLeafQuery, []string{"SEARCH words_idx USING PRIMARY KEY (segid=? AND term>?)"}},
		{"blocks", blocksQuery, []string{"SEARCH words_data USING INTEGER PRIMARY KEY (rowid=?)", "SCAN json_each VIRTUAL TABLE INDEX 1:"}},
		{"range of blocks", rangeQuery, []string{"SEARCH words_data USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}},
		{"candidates", topQuery(4), []string{
			"SEARCH r USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH t USING PRIMARY KEY (session=? AND turn=?)",
			"SEARCH p USING COVERING INDEX passages_place (session=? AND turn=?)", "SEARCH p USING COVERING INDEX passages_place (session=? AND turn=?)",
		}},
		{"owners of hits", ownersQuery, []string{"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)", "SCAN json_each VIRTUAL TABLE INDEX 1:", projectPlan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if have := plan(t, s, test.query); !slices.Equal(have, test.want) {
				t.Errorf("%s\nhave %q\nwant %q", test.query, have, test.want)
			}
		})
	}
}

// plan returns the steps of a query that read rows. Sorting, which Sessions of
// several projects need, is not among them.
func plan(t *testing.T, s *Store, query string) (steps []string) {
	t.Helper()
	err := s.query(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))[:argCount(query)], func(scan scanFunc) error {
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

// argCount returns how many values a query takes; numbered ones repeat.
func argCount(query string) int {
	switch {
	case strings.Contains(query, "?2"):
		return 2
	case strings.Contains(query, "?1"):
		return 1
	}
	return strings.Count(query, "?")
}
