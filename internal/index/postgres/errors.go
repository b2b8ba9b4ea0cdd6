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

// again reports that the same transaction may go through now: the server ended it in
// favour of another one.
func again(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "40001" || pe.Code == "40P01")
}

// fail turns an error of the driver into one that a user is told. Errors that are
// told already, batches out of turn and ends of contexts keep what they are.
func fail(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, told := errors.AsType[*archive.Error](err); told || errors.Is(err, archive.ErrStale) ||
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
		e.Hint = "check postgres.host and postgres.port, and that the server runs"
		return e
	}
	if _, ok := errors.AsType[net.Error](err); ok || pgconn.SafeToRetry(err) {
		e.Code, e.Hint = archive.CodeBusy, "the connection was lost; what was pushed before is there, run the command again"
	}
	return e
}

// describe gives an error of the server its code and hint, by the class of its
// SQLSTATE.
func describe(e *archive.Error, pe *pgconn.PgError) {
	switch {
	case pe.Code == "28P01" || pe.Code == "28000":
		e.Code, e.Hint = archive.CodeDenied, "the server does not let this user in; check postgres.user, and PGPASSWORD or ~/.pgpass"
	case pe.Code == "42501" || pe.Code == "25006":
		e.Code, e.Hint = archive.CodeDenied, "this user may not do that; docs/team.md says which rights a reader and a writer need"
	case pe.Code == "3D000":
		e.Code, e.Hint = archive.CodeNotFound, "the server has no such database; check postgres.database"
	case pe.Code == "55P03" || pe.Code == "57014" || pe.Code[:2] == "40" || pe.Code[:2] == "53" || pe.Code[:3] == "57P":
		e.Code, e.Hint = archive.CodeBusy, "the server is busy or was stopped; try again in a moment"
	}
}

// quiet keeps passwords out of what a driver says about a connection.
func quiet(err error) error {
	secret := regexp.MustCompile(`(?i)(password=|://[^:/@\s]*:)[^\s@]+`)
	return errors.New(secret.ReplaceAllString(err.Error(), "$1…"))
}
