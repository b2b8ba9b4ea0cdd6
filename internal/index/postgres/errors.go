package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"

	"github.com/jackc/pgx/v5/pgconn"

	"strandline/internal/archive"
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
	if _, known := errors.AsType[*archive.Error](err); known || errors.Is(err, archive.ErrStale) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", what, err)
	}
	e := &archive.Error{Code: archive.CodeInternal, Msg: "cannot " + what, Err: err}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok {
		describe(e, pe)
		return e
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		e.Code, e.Err = archive.CodeNotFound, quiet(err)
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

// quiet removes passwords from a connection error.
func quiet(err error) error {
	secret := regexp.MustCompile(`(?i)(password=|://[^:/@\s]*:)[^\s@]+`)
	return errors.New(secret.ReplaceAllString(err.Error(), "$1…"))
}
