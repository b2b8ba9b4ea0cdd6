package postgres

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

//go:embed schema/0001_tables.sql
var schema1 string

//go:embed schema/0002_team.sql
var schema2 string

// migrations returns the scripts that migrate the tables from version i to i+1. A
// released script never changes.
//
//  1. The tables of package sqlite in its version 3, with authors and machines.
//  2. Sessions that were deleted for good and must not be pushed again.
func migrations() []string { return []string{schema1, schema2} }

// migrationLock is the advisory lock held while tables change: "strandli" in ASCII.
const migrationLock = 0x737472616e646c69

// migrate migrates the tables to the version of this build. If they have it already,
// that costs two queries.
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
		return archive.NotFound("the database holds no archive that this strandline can read", "run `strandline sync` as a user with the right to write")
	}
	return s.write(ctx, "create the team's tables", func(ctx context.Context, t index.Tx) error { return s.migrateLocked(ctx, t.(tx), all) })
}

// version returns the version of the tables, 0 if they do not exist.
func (s *Store) version(ctx context.Context) (version int, err error) {
	err = s.Read(ctx, "read the team's archive", func(ctx context.Context, t index.Tx) error {
		var exists bool
		if _, err := t.QueryRow(ctx, "SELECT to_regclass(?) IS NOT NULL", []any{s.table("strandline_version")}, &exists); err != nil || !exists {
			return err
		}
		_, err := t.QueryRow(ctx, "SELECT max(version) FROM strandline_version", nil, &version)
		return err
	})
	return version, err
}

// table returns the qualified name of a table.
func (s *Store) table(name string) string { return pgx.Identifier{s.opt.Schema, name}.Sanitize() }

// migrateLocked locks the tables against other processes and runs the missing scripts.
func (s *Store) migrateLocked(ctx context.Context, t tx, all []string) error {
	if _, err := t.Exec(ctx, "SELECT pg_advisory_xact_lock(?)", int64(migrationLock)); err != nil {
		return err
	}
	var exists bool
	if _, err := t.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ?)", []any{s.opt.Schema}, &exists); err != nil {
		return err
	}
	if !exists {
		if _, err := t.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{s.opt.Schema}.Sanitize()); err != nil {
			return err
		}
	}
	if _, err := t.Exec(ctx, "CREATE TABLE IF NOT EXISTS strandline_version (version bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"); err != nil {
		return err
	}
	version := 0
	if _, err := t.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM strandline_version", nil, &version); err != nil {
		return err
	}
	for ; version < len(all); version++ {
		// A script of several statements needs the simple protocol.
		if _, err := t.pgx.Conn().PgConn().Exec(ctx, all[version]).ReadAll(); err != nil {
			return fmt.Errorf("migration %d: %w", version+1, err)
		}
		if _, err := t.Exec(ctx, "INSERT INTO strandline_version (version) VALUES (?)", version+1); err != nil {
			return err
		}
	}
	return nil
}
