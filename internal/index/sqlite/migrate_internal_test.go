package sqlite

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"strandline/internal/archive"
)

// Migrating an index of version 1 keeps its accesses, each with its time, and skips journal
// entries that cannot be read.
func TestAccessesAreMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	insert := func(id, kind, data string, at int64) string {
		return "INSERT INTO journal (id, kind, session_id, time, data) VALUES ('" + id + "', '" + kind + "', 's', " + time.Unix(at, 0).Format("05") + "000000000, '" + data + "');"
	}
	_, err = db.Exec(schema1 + "; PRAGMA user_version=1;" +
		insert("a", "access", `{"refs":[{"s":"x","t":1,"p":2},{"s":"x","t":3,"p":-1}],"how":"restored"}`, 10) +
		insert("b", "access", `{"refs":[{"s":"x","t":1,"p":2}],"how":"recalled"}`, 20) +
		insert("c", "access", `no json`, 30) + insert("d", "access", `{"refs":7,"how":"used"}`, 30) +
		insert("e", "access", `{"refs":[3,{"s":4,"t":1,"p":1},{"s":"x"}],"how":"used"}`, 30) +
		insert("f", "access", `{"refs":[{"s":"x","t":1,"p":1}]}`, 30) + insert("g", "injected", `{"refs":[{"s":"x","t":9,"p":9}],"how":"used"}`, 30))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Accesses(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	access := func(turn, step int, at int64, how string) archive.Access {
		return archive.Access{Ref: archive.Ref{Session: "x", Turn: turn, Step: step}, Time: time.Unix(at, 0).UTC(), How: how}
	}
	want := []archive.Access{
		access(1, 2, 10, archive.AccessRestored), access(1, 2, 20, archive.AccessRecalled), access(3, -1, 10, archive.AccessRestored),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if v, err := s.userVersion(t.Context()); err != nil || v != Version() {
		t.Errorf("version %d, %v", v, err)
	}
}

// A view that an older sqlite3 cannot parse keeps it from the whole file.
func TestViewsAreReadByOlderPrograms(t *testing.T) {
	for i, script := range migrations() {
		for _, newer := range []string{`(?i)concat\([^()]*(\([^()]*\)[^()]*)*ORDER BY`, `(?i)unixepoch\(\)`, `(?i)string_agg`, `->`} {
			if found := regexp.MustCompile(newer).FindString(script); found != "" {
				t.Errorf("migration %d uses %q, which SQLite 3.37 does not know", i+1, found)
			}
		}
	}
}
