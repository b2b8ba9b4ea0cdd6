package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// retryable reports whether the server ended a transaction in favour of another one.
func retryable(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "40001" || pe.Code == "40P01")
}

// fail converts an error of the driver to an archive.Error. It only adds what to an
// archive.Error, to ErrStale and to the end of a context.
func fail(what string, err error) error {
	if err == nil {
		return nil
	}
	e, failed := index.Fail(what, err)
	if e == nil {
		return failed
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		describe(e, pe)
		return e
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		secret := regexp.MustCompile(`(?i)(password=|://[^:/@\s]*:)[^\s@]+`) // the address in the error may hold the password
		e.Code, e.Err = archive.CodeNotFound, errors.New(secret.ReplaceAllString(err.Error(), "$1…"))
		e.Hint = "check postgres.host and postgres.port, and that the server is running"
		return e
	}
	if _, ok := errors.AsType[net.Error](err); ok || pgconn.SafeToRetry(err) {
		e.Code, e.Hint = archive.CodeBusy, "the connection was lost; sessions pushed before are stored; run the command again"
	}
	return e
}

// describe sets the code and the hint of an error by the server's SQLSTATE.
func describe(e *archive.Error, pe *pgconn.PgError) {
	switch {
	case pe.Code == "28P01" || pe.Code == "28000":
		e.Code, e.Hint = archive.CodeDenied, "the server refuses this user; check postgres.user, and PGPASSWORD or ~/.pgpass"
	case pe.Code == "42501" || pe.Code == "25006":
		e.Code, e.Hint = archive.CodeDenied, "the user lacks a right; see docs/team.md for the rights of readers and writers"
	case pe.Code == "3D000":
		e.Code, e.Hint = archive.CodeNotFound, "the database does not exist; check postgres.database"
	case pe.Code == "55P03" || pe.Code == "57014" || pe.Code[:2] == "40" || pe.Code[:2] == "53" || pe.Code[:3] == "57P":
		e.Code, e.Hint = archive.CodeBusy, "the server is busy or was stopped; try again"
	}
}

const integrityQuery = `SELECT s.id, s.held, coalesce(p.n, 0), coalesce(p.terms, 0), coalesce(o.terms, 0)
FROM sessions s
LEFT JOIN (SELECT session, count(*) AS n, sum(cardinality(string_to_array(nullif(terms, ''), ' ')))::bigint AS terms FROM passages GROUP BY session) p ON p.session = s.no
LEFT JOIN (SELECT session, sum(octet_length(strong) + octet_length(weak))::bigint / ? AS terms FROM postings GROUP BY session) o ON o.session = s.no
WHERE s.held <> coalesce(p.n, 0) OR coalesce(p.terms, 0) <> coalesce(o.terms, 0) ORDER BY s.no LIMIT 1`

// Integrity checks that the passages of each session agree with their count and with
// the lists of their terms. It fails with CodeCorrupt. It reads all terms.
func (s *Store) Integrity(ctx context.Context) error {
	return s.Read(ctx, "check the team's archive", func(ctx context.Context, t index.Tx) error {
		var id string
		var held, passages, terms, postings int64
		found, err := t.QueryRow(ctx, integrityQuery, []any{postingSize}, &id, &held, &passages, &terms, &postings)
		if err != nil || !found {
			return err
		}
		return &archive.Error{
			Code: archive.CodeCorrupt,
			Msg: fmt.Sprintf("session %s in the team's archive is damaged: %d passages, %d counted; %d terms, %d of them listed",
				archive.ShortID(id), passages, held, terms, postings),
			Hint: "push it again with: strandline sync --again",
		}
	})
}
