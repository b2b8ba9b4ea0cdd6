package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
)

//go:embed schema/0001_spine.sql
var schema1 string

//go:embed schema/0002_team.sql
var schema2 string

// migrations bring the tables from version i to i+1. A released one is never
// edited; each has its reason beside its number.
//
//  1. The spine: what store/sqlite holds in its version 3, and who brought it in.
//  2. What was deleted for good, so that nobody brings it again.
func migrations() []string { return []string{schema1, schema2} }

// Version is the version of the tables that this build reads and writes.
func Version() int { return len(migrations()) }

// migrationLock is the advisory lock that is held while tables change: "strandli".
const migrationLock = 0x737472616e646c69

// migrate brings the tables to the version of this build; when they are, which is
// nearly always, it costs one look.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	all := migrations()
	switch {
	case version == len(all):
		return nil
	case version > len(all):
		return archive.Invalid(
			fmt.Sprintf("the team's archive has version %d and this strandline knows versions up to %d", version, len(all)),
			"install the newer strandline")
	case s.opt.ReadOnly:
		return archive.NotFound("the database holds no archive that this strandline can read", "run `strandline sync` as a user who may write")
	}
	return s.write(ctx, "make the team's tables", func(ctx context.Context, tx pgx.Tx) error { return s.migrateLocked(ctx, tx, all) })
}

// version returns the version of the tables, 0 if there are none.
func (s *Store) version(ctx context.Context) (version int, err error) {
	err = s.read(ctx, "read the team's archive", func(ctx context.Context, tx pgx.Tx) error {
		var there bool
		if _, err := queryRow(ctx, tx, "SELECT to_regclass($1) IS NOT NULL", []any{s.table("strandline_version")}, &there); err != nil || !there {
			return err
		}
		_, err := queryRow(ctx, tx, "SELECT max(version) FROM strandline_version", nil, &version)
		return err
	})
	return version, err
}

// table is the qualified name of one of our tables.
func (s *Store) table(name string) string { return pgx.Identifier{s.opt.Schema, name}.Sanitize() }

// migrateLocked runs what is missing, once no other process can do the same.
func (s *Store) migrateLocked(ctx context.Context, tx pgx.Tx, all []string) error {
	if _, err := exec(ctx, tx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
		return err
	}
	var exists bool
	if _, err := queryRow(ctx, tx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", []any{s.opt.Schema}, &exists); err != nil {
		return err
	}
	if !exists {
		// A name cannot be a parameter.
		if _, err := exec(ctx, tx, "CREATE SCHEMA "+pgx.Identifier{s.opt.Schema}.Sanitize()); err != nil {
			return err
		}
	}
	if _, err := exec(ctx, tx, "CREATE TABLE IF NOT EXISTS strandline_version (version bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"); err != nil {
		return err
	}
	version := 0
	if _, err := queryRow(ctx, tx, "SELECT coalesce(max(version), 0) FROM strandline_version", nil, &version); err != nil {
		return err
	}
	for ; version < len(all); version++ {
		// Several statements at once take no parameters and need the simple protocol.
		if _, err := tx.Conn().PgConn().Exec(ctx, all[version]).ReadAll(); err != nil {
			return fmt.Errorf("migration %d: %w", version+1, err)
		}
		if _, err := exec(ctx, tx, "INSERT INTO strandline_version (version) VALUES ($1)", version+1); err != nil {
			return err
		}
	}
	return nil
}
