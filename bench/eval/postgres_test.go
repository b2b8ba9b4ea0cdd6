package eval

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"strandline/internal/embed"
	"strandline/internal/index/postgres"
)

// The team's archive ranks as a local one does: the bundled set in PostgreSQL gives the
// same rankings, by words alone and together with vectors.
func TestPostgresRanksTheSame(t *testing.T) {
	dsn := os.Getenv("STRANDLINE_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("no PostgreSQL: run it as scripts/postgres.sh run go test, or set STRANDLINE_TEST_POSTGRES")
	}
	home := t.TempDir()
	s, err := own(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("eval_%d", os.Getpid())
	team, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropSchema(t, dsn, schema) })
	again := filepath.Join(home, "again")
	if err := os.Mkdir(again, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := importInto(t.Context(), again, team, team, []string{filepath.Join(home, "client")}); err != nil {
		t.Fatal(err)
	}
	if err := embedAll(t.Context(), again, team); err != nil {
		t.Fatal(err)
	}
	if err := team.Integrity(t.Context()); err != nil {
		t.Error(err)
	}
	g := s.groups[0]
	g.world = &world{home: again, store: team, table: embed.NewStatic()}
	have := rankings(t, &g)
	if err := team.Close(); err != nil {
		t.Error(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "rankings.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if have != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the rankings differ from those of a local index:\n%s", have)
	}
}

func dropSchema(t *testing.T, dsn, schema string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
		t.Error(err)
	}
}
