package postgres_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"strandline/internal/index/indextest"
	"strandline/internal/index/postgres"
)

// server returns the address of a PostgreSQL server for tests, or skips the test.
func server(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv("STRANDLINE_TEST_POSTGRES")
	if dsn == "" {
		t.Skip("no PostgreSQL: run it as scripts/postgres.sh run go test, or set STRANDLINE_TEST_POSTGRES")
	}
	return dsn
}

var schemas atomic.Int64

// newSchema returns the name of a new schema and deletes it when the test ends.
func newSchema(t testing.TB, dsn string) string {
	t.Helper()
	schema := fmt.Sprintf("test %d-%d", os.Getpid(), schemas.Add(1)) // a name that must be quoted
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{schema}.Sanitize()+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	return schema
}

func mustOpen(t testing.TB, dsn string, opt postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	dsn := server(t)
	indextest.Run(t, func(t testing.TB) indextest.Store {
		return mustOpen(t, dsn, postgres.Options{Schema: newSchema(t, dsn), Conns: 2})
	})
}
