package postgres

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// Defaults of Options.
const (
	DefaultSchema  = "strandline"
	DefaultTimeout = 2 * time.Minute
	defaultConns   = 4
	connectTimeout = 10 * time.Second
)

// Options adjusts Open.
type Options struct {
	// Schema is the schema of the tables; empty means DefaultSchema. Unless ReadOnly,
	// Open creates the schema and the tables.
	Schema string
	// ReadOnly refuses all changes. It needs only the right to read.
	ReadOnly bool
	// Timeout is the time that a statement may take, and that it may wait for a
	// lock; 0 means DefaultTimeout.
	Timeout time.Duration
	// Conns is the maximal number of connections; 0 means 4.
	Conns int
	// Author and Machine are stored in the sessions that are written.
	Author, Machine string
}

// Store is an open archive.
type Store struct {
	*index.Store
	pool *pgxpool.Pool
	opt  Options
}

// Open connects to the database dsn, a URL or key=value pairs; PG* environment
// variables supply what it leaves out. It migrates the tables.
//
// Errors are archive.Errors: CodeInvalid if dsn cannot be parsed or the tables have a
// newer version, CodeNotFound if the server does not answer or, with ReadOnly, there
// are no tables, CodeDenied if the server refuses the user.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) {
	opt.Schema = cmp.Or(opt.Schema, DefaultSchema)
	if opt.Timeout <= 0 {
		opt.Timeout = DefaultTimeout
	}
	if opt.Conns <= 0 {
		opt.Conns = defaultConns
	}
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The driver's message may contain the password.
		return nil, archive.Invalid("the address of the PostgreSQL database is not valid",
			"write postgres://USER@HOST/DATABASE, or set postgres.host, postgres.database and postgres.user")
	}
	cfg.MaxConns = int32(min(opt.Conns, 64))
	if cfg.ConnConfig.ConnectTimeout <= 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	limit := strconv.FormatInt(opt.Timeout.Milliseconds(), 10)
	params := cfg.ConnConfig.RuntimeParams
	params["search_path"] = pgx.Identifier{opt.Schema}.Sanitize() + ", public"
	params["statement_timeout"], params["lock_timeout"] = limit, limit
	params["idle_in_transaction_session_timeout"] = strconv.FormatInt(max(opt.Timeout, time.Minute).Milliseconds(), 10)
	if params["application_name"] == "" {
		params["application_name"] = "strandline"
	}
	if opt.ReadOnly {
		params["default_transaction_read_only"] = "on"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fail("connect to PostgreSQL", err)
	}
	s := &Store{pool: pool, opt: opt}
	s.Store = index.New(s.Read, s.write, index.Dialect{
		Join: "JOIN", Instr: "strpos", ForUpdate: " FOR UPDATE", ForShare: " FOR SHARE",
		Start: "began", End: "ended", Offset: "position", VectorCount: "held", Arrays: true,
		PassageCount: "SELECT coalesce(sum(held), 0) FROM sessions", WordCounts: wordCountQuery,
		Contributor: &index.Contributor{Author: opt.Author, Machine: opt.Machine},
	})
	if err := s.migrate(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the connections after running calls have returned.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// attempts is the number of times that a transaction is run if the server ends it
// because of a deadlock or a conflict.
const attempts = 4

// write runs fn in a transaction.
func (s *Store) write(ctx context.Context, what string, fn func(ctx context.Context, tx index.Tx) error) error {
	return s.transact(ctx, what, func(t tx) error { return fn(ctx, t) })
}

// transact is write for functions that need the connection.
func (s *Store) transact(ctx context.Context, what string, fn func(t tx) error) error {
	if s.opt.ReadOnly {
		return &archive.Error{Code: archive.CodeDenied, Msg: "the team's archive is open read-only"}
	}
	var err error
	for range attempts {
		if err = pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error { return fn(tx{t, &s.opt}) }); !retryable(err) {
			break
		}
	}
	return fail(what, err)
}

// Read runs fn in a read-only transaction with one snapshot.
func (s *Store) Read(ctx context.Context, what string, fn func(ctx context.Context, tx index.Tx) error) error {
	opt := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return fail(what, pgx.BeginTxFunc(ctx, s.pool, opt, func(t pgx.Tx) error { return fn(ctx, tx{t, &s.opt}) }))
}

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
	return s.transact(ctx, "create the team's tables", func(t tx) error { return s.migrateLocked(ctx, t, all) })
}

// version returns the version of the tables, 0 if they do not exist.
func (s *Store) version(ctx context.Context) (version int, err error) {
	return index.Read(ctx, s.Read, "read the team's archive", func(ctx context.Context, t index.Tx) (version int, err error) {
		exists, err := index.Value[bool](ctx, t, "SELECT to_regclass(?) IS NOT NULL", pgx.Identifier{s.opt.Schema, "strandline_version"}.Sanitize())
		if err != nil || !exists {
			return 0, err
		}
		return index.Value[int](ctx, t, "SELECT max(version) FROM strandline_version")
	})
}

// migrateLocked locks the tables against other processes and runs the missing scripts.
func (s *Store) migrateLocked(ctx context.Context, t tx, all []string) error {
	if _, err := t.Exec(ctx, "SELECT pg_advisory_xact_lock(?)", int64(migrationLock)); err != nil {
		return err
	}
	exists, err := index.Value[bool](ctx, t, "SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ?)", s.opt.Schema)
	if err == nil && !exists {
		_, err = t.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{s.opt.Schema}.Sanitize())
	}
	if err != nil {
		return err
	}
	if _, err := t.Exec(ctx, "CREATE TABLE IF NOT EXISTS strandline_version (version bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"); err != nil {
		return err
	}
	version, err := index.Value[int](ctx, t, "SELECT coalesce(max(version), 0) FROM strandline_version")
	for ; err == nil && version < len(all); version++ {
		// A script of several statements needs the simple protocol.
		if _, err := t.pgx.Conn().PgConn().Exec(ctx, all[version]).ReadAll(); err != nil {
			return fmt.Errorf("migration %d: %w", version+1, err)
		}
		_, err = t.Exec(ctx, "INSERT INTO strandline_version (version) VALUES (?)", version+1)
	}
	return err
}
