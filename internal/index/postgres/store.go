package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"strandline/internal/archive"
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
	// Schema is the one that the tables are in; empty means DefaultSchema. Open
	// creates it, and the tables, unless ReadOnly.
	Schema string
	// ReadOnly refuses to change anything, and asks for rights to read only.
	ReadOnly bool
	// Timeout is how long a statement may take, and how long it waits for a lock;
	// 0 means DefaultTimeout.
	Timeout time.Duration
	// Conns is how many connections there are at most; 0 means 4.
	Conns int
	// Author and Machine are noted in the sessions that are written.
	Author, Machine string
}

// Store is an open archive.
type Store struct {
	pool *pgxpool.Pool
	opt  Options
}

// Open connects to the database that dsn names, as a URL or as key=value pairs; what
// it leaves out comes from the PG* environment. It brings the tables up to date.
//
// Errors are Errors of package archive: CodeInvalid for a dsn that cannot be read and
// for tables of a newer version, CodeNotFound if the server does not answer or should
// be read and holds no archive, CodeDenied if it refuses the user.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) {
	if opt.Schema == "" {
		opt.Schema = DefaultSchema
	}
	if opt.Timeout <= 0 {
		opt.Timeout = DefaultTimeout
	}
	if opt.Conns <= 0 {
		opt.Conns = defaultConns
	}
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The driver's own words may repeat the password.
		return nil, archive.Invalid("the address of the PostgreSQL database cannot be read",
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
	if err := s.migrate(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the connections, after the calls that are running.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// attempts is how often a transaction is tried that the server ended because it and
// another one waited for each other.
const attempts = 4

// write runs fn in a transaction.
func (s *Store) write(ctx context.Context, what string, fn func(ctx context.Context, tx pgx.Tx) error) error {
	if s.opt.ReadOnly {
		return &archive.Error{Code: archive.CodeDenied, Msg: "the team's archive is open for reading only"}
	}
	var err error
	for range attempts {
		if err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return fn(ctx, tx) }); !again(err) {
			break
		}
	}
	return fail(what, err)
}

// read runs fn on one snapshot.
func (s *Store) read(ctx context.Context, what string, fn func(ctx context.Context, tx pgx.Tx) error) error {
	opt := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return fail(what, pgx.BeginTxFunc(ctx, s.pool, opt, func(tx pgx.Tx) error { return fn(ctx, tx) }))
}

// scanFunc reads the current row.
type scanFunc func(dest ...any) error

// query runs a statement and calls row for each row of its answer.
func query(ctx context.Context, tx pgx.Tx, sql string, args []any, row func(scan scanFunc) error) error {
	answer, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", brief(sql), err)
	}
	defer answer.Close()
	for answer.Next() {
		if err := row(answer.Scan); err != nil {
			return fmt.Errorf("%s: %w", brief(sql), err)
		}
	}
	if err := answer.Err(); err != nil {
		return fmt.Errorf("%s: %w", brief(sql), err)
	}
	return nil
}

// queryRow reads the first row of the answer and reports whether there is one.
func queryRow(ctx context.Context, tx pgx.Tx, sql string, args []any, dest ...any) (found bool, err error) {
	err = tx.QueryRow(ctx, sql, args...).Scan(dest...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", brief(sql), err)
	}
	return true, nil
}

// exec runs a statement and returns how many rows it changed.
func exec(ctx context.Context, tx pgx.Tx, sql string, args ...any) (int64, error) {
	tag, err := tx.Exec(ctx, sql, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", brief(sql), err)
	}
	return tag.RowsAffected(), nil
}

// brief is the beginning of a statement, which says enough in a message.
func brief(sql string) string { return archive.Clip(strings.Join(strings.Fields(sql), " "), 60) }

// clean makes text of what PostgreSQL takes: no NUL, and UTF-8 only.
func clean(s string) string {
	const replacement = "\uFFFD"
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", replacement)
	}
	return strings.ToValidUTF8(s, replacement)
}
