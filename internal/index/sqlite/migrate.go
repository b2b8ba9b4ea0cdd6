package sqlite

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"strandline/internal/archive"
	"strandline/internal/index"
)

//go:embed schema/0001_tables.sql
var schema1 string

//go:embed schema/0002_accesses.sql
var schema2 string

//go:embed schema/0003_vectors.sql
var schema3 string

//go:embed schema/0004_cold.sql
var schema4 string

//go:embed schema/0005_entries.sql
var schema5 string

// migrations returns the scripts that migrate an index from version i to i+1. A released
// script never changes.
//
//  1. Sessions, turns, steps, calls, passages and their terms, files, tasks, compactions,
//     cursors, identities, and the journal's facts.
//  2. One row per access: confidence depends on their times.
//  3. Vectors of passages, and the progress of each embedder.
//  4. Cold turns, whose texts may be only in the log.
//  5. The view transcript_entries, which no code reads.
func migrations() []string { return []string{schema1, schema2, schema3, schema4, schema5} }

// errOlder is returned for an index that must be migrated before it can be read.
var errOlder = errors.New("the index has an older version")

// migrate migrates the file to the version of this build. If it has it already, that costs
// one PRAGMA.
func (s *Store) migrate(ctx context.Context) error {
	version, err := s.userVersion(ctx)
	if err != nil {
		return err
	}
	all := migrations()
	switch {
	case version == len(all):
		return nil
	case version < 0:
		return corrupt(fmt.Sprintf("its version is %d", version))
	case version > len(all):
		return archive.Invalid(
			fmt.Sprintf("the index has version %d and this strandline knows versions up to %d", version, len(all)),
			"install the newer strandline, or rebuild the index for this one with: strandline reindex")
	case s.opt.ReadOnly && version == 0:
		return archive.NotFound("the index "+s.path+" is empty", "run: strandline import")
	case s.opt.ReadOnly:
		return fmt.Errorf("%w: %d, this strandline reads %d", errOlder, version, len(all))
	}
	if err := s.conn.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return s.fail("migrate the index", err)
	}
	if err := s.migrateLocked(ctx, all); err != nil {
		_ = ignoreRolledBack(s.conn.exec(ctx, "ROLLBACK")) // the first error says more
		return s.fail("migrate the index", err)
	}
	return s.fail("migrate the index", s.conn.exec(ctx, "COMMIT"))
}

// migrateLocked runs the missing scripts in a transaction, so that only one process does.
func (s *Store) migrateLocked(ctx context.Context, all []string) error {
	version, err := s.userVersion(ctx)
	if err != nil {
		return err
	}
	fresh := version == 0
	for ; version < len(all); version++ {
		if err := s.conn.exec(ctx, all[version]); err != nil {
			return fmt.Errorf("migration %d: %w", version+1, err)
		}
	}
	if fresh {
		if err := s.conn.exec(ctx, fmt.Sprintf("INSERT INTO meta (name, value) VALUES ('redaction', %d)", s.opt.Rules)); err != nil {
			return err
		}
	}
	return s.conn.exec(ctx, fmt.Sprintf("PRAGMA user_version=%d", len(all)))
}

// Rules returns the version of the redaction rules that the index was created with,
// 0 for one that is older than the rules' versions.
func (s *Store) Rules(ctx context.Context) (rules int, err error) {
	err = s.Read(ctx, "read the index", func(ctx context.Context, t index.Tx) (err error) {
		rules, err = index.Value[int](ctx, t, "SELECT coalesce((SELECT value FROM meta WHERE name = 'redaction'), 0)")
		return err
	})
	return rules, err
}

func (s *Store) userVersion(ctx context.Context) (version int, err error) {
	version, err = index.Value[int](ctx, tx{s, ctx}, "PRAGMA user_version")
	return version, s.fail("read the index", err)
}
