package client_test

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	_ "modernc.org/sqlite"

	"strandline/internal/client"
	"strandline/internal/client/clienttest"
	"strandline/internal/transcript"
)

// databases are the clients with a database: the file's path, and queries that count
// prompts, responses, calls, results and input tokens independently of the readers; none for
// rows that are compressed.
var databases = map[string]struct {
	path    string
	queries []string
	want    []int
}{
	"opencode": {"opencode/opencode.db", []string{
		`select count(distinct m.id) from message m join part p on p.message_id = m.id
			where m.data->>'role' = 'user' and p.data->>'type' = 'text' and coalesce(p.data->>'synthetic', 0) = 0`,
		`select count(*) from message where data->>'role' = 'assistant' and coalesce(data->>'summary', 0) = 0`,
		`select count(*) from part where data->>'type' = 'tool'`,
		`select count(*) from part where data->'state'->>'status' in ('completed', 'error')`,
		`select coalesce(sum(data->'tokens'->>'input'), 0) from message where coalesce(data->>'summary', 0) = 0`,
	}, nil},
	"goose": {"goose/sessions/sessions.db", []string{
		`select count(distinct m.id) from messages m, json_each(m.content_json) b
			where m.role = 'user' and b.value->>'type' = 'text' and coalesce(m.metadata_json->>'userVisible', 1) = 1`,
		`select count(*) from messages where role = 'assistant'`,
		`select count(*) from messages m, json_each(m.content_json) b where b.value->>'type' = 'toolRequest'`,
		`select count(*) from messages m, json_each(m.content_json) b where b.value->>'type' = 'toolResponse'`,
		`select sum(accumulated_input_tokens - accumulated_cache_read_tokens - accumulated_cache_write_tokens) from sessions`,
	}, nil},
	"crush": {"shop/.crush/crush.db", []string{
		`select count(distinct m.id) from messages m, json_each(m.parts) p
			where m.role = 'user' and p.value->>'type' = 'text' and coalesce(p.value->'data'->>'hidden', 0) = 0`,
		`select count(*) from messages where role = 'assistant' and is_summary_message = 0`,
		`select count(*) from messages m, json_each(m.parts) p where p.value->>'type' = 'tool_call'`,
		`select count(*) from messages m, json_each(m.parts) p where p.value->>'type' = 'tool_result'`,
		`select 0`,
	}, nil},
	"zed": {"zed/threads/threads.db", nil, []int{3, 2, 3, 3, 1200}},
}

// TestDatabases compares what the readers yield of the samples with a count in SQL, and
// reads each session again, which adds nothing.
func TestDatabases(t *testing.T) {
	for name, c := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, of := open(t, c.path, filepath.Join(name, "testdata", "database.sql")), transcript.Named(client.All(), name)
			want := c.want
			for _, query := range c.queries {
				var n int
				if err := db.QueryRow(query).Scan(&n); err != nil {
					t.Fatalf("%s: %v", query, err)
				}
				want = append(want, n)
			}
			if got := countDatabase(t, of, databasePath(t, db)); !slices.Equal(got, want) {
				t.Errorf("prompts, responses, calls, results, input tokens: %v, want %v", got, want)
			}
		})
	}
}

// TestDatabaseFixtures reads the databases among the samples of other projects.
func TestDatabaseFixtures(t *testing.T) {
	folder := os.Getenv("STRANDLINE_CLIENT_FIXTURES")
	if folder == "" {
		t.Skip("STRANDLINE_CLIENT_FIXTURES is not set")
	}
	for script, c := range map[string]struct {
		client string
		want   [2]int // prompts and responses
	}{
		"deja-vu/registry/opencode/opencode.sql":    {"opencode", [2]int{1, 1}},
		"deja-vu/registry/goose/sessions/goose.sql": {"goose", [2]int{1, 1}},
		"deja-vu/registry/zed/zed.sql":              {"zed", [2]int{2, 2}},
	} {
		db := open(t, databases[c.client].path, filepath.Join(folder, script))
		got := countDatabase(t, transcript.Named(client.All(), c.client), databasePath(t, db))
		if [2]int(got[:2]) != c.want {
			t.Errorf("%s: %v, want %v", script, got, c.want)
		}
		t.Logf("%s: %v", script, got)
	}
}

// open makes a database with a script.
func open(t *testing.T, path, script string) *sql.DB {
	t.Helper()
	data, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(string(data)); err != nil {
		t.Fatal(err)
	}
	return db
}

func databasePath(t *testing.T, db *sql.DB) (path string) {
	t.Helper()
	if err := db.QueryRow("select file from pragma_database_list").Scan(&path); err != nil {
		t.Fatal(err)
	}
	return path
}

// countDatabase counts prompts, responses, calls, results and input tokens of all
// sessions.
func countDatabase(t *testing.T, of transcript.Client, path string) []int {
	t.Helper()
	if !of.Database.Match(path) {
		t.Errorf("%s is not a database of %s", path, of.Title)
	}
	list, err := of.Database.List(path)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d sessions in %s: %v", len(list), path, err)
	}
	got := make([]int, 5)
	for _, s := range list {
		if id, ok := of.File(s.Path); !ok || id != s.ID || s.Cwd == "" || s.Created.IsZero() || s.Changed.Before(s.Created) {
			t.Errorf("%+v, %q", s, id)
		}
		lines := readStored(t, of, s.Path, nil)
		rows := clienttest.Read(t, of.New, lines)
		for _, turn := range rows.Turns {
			if turn.Title != "" {
				got[0]++
			}
		}
		for _, c := range rows.Calls {
			if c.LineResult >= 0 {
				got[3]++
			}
		}
		got[1], got[2], got[4] = got[1]+len(rows.Steps), got[2]+rows.Session.Calls, got[4]+int(rows.Session.Usage.Input)
		if again := readStored(t, of, s.Path, lines); len(again) != len(lines) {
			t.Errorf("reading %s again adds %s", s.Path, again[len(lines):])
		}
	}
	return got
}

func readStored(t *testing.T, of transcript.Client, path string, logged []byte) []byte {
	t.Helper()
	var before func() io.Reader
	if logged != nil {
		before = func() io.Reader { return bytes.NewReader(logged) }
	}
	f, err := of.Database.Open(path, before)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCrushProjects: the databases are those of the projects that Crush lists.
func TestCrushProjects(t *testing.T) {
	home, crush := t.TempDir(), transcript.Named(client.All(), "crush")
	file := filepath.Join(home, "data", "projects.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	project := filepath.ToSlash(filepath.Join(home, "shop"))
	if err := os.WriteFile(file, []byte(`{"projects": [{"path": "`+project+`", "data_dir": ".crush"}, {"path": "x", "data_dir": ".crush"}, 7]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"CRUSH_GLOBAL_DATA": filepath.Dir(file)}[name] }
	if got, want := crush.Roots(getenv, home), []string{filepath.Join(home, "shop", ".crush", "crush.db"), file}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
