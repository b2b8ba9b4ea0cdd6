package archive

import (
	"errors"
	"fmt"
	"slices"
)

// Code classifies an error. The command line maps it to an exit code.
type Code string

// The error codes.
const (
	CodeInternal  Code = "internal"  // a bug or a failure of the machine
	CodeInvalid   Code = "invalid"   // the request is invalid
	CodeNotFound  Code = "not_found" // the named object does not exist
	CodeAmbiguous Code = "ambiguous" // the name matches several objects
	CodeBusy      Code = "busy"      // locked by another process for too long
	CodeCorrupt   Code = "corrupt"   // stored data is damaged
	CodeDenied    Code = "denied"    // missing permission, or a read-only or full disk
)

// ErrDamagedIndex is among the causes of an error with CodeCorrupt if the index is damaged
// rather than a log. The index is derived from the logs and can be rebuilt.
var ErrDamagedIndex = errors.New("the index is damaged")

// Error is an error for the user: one sentence, and a hint what to do next.
type Error struct {
	Code Code
	Msg  string // one sentence without a full stop
	Hint string // what to do, in the imperative; may be empty
	Err  error  // the cause, may be nil
}

// Error returns the message and its cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrorCode returns the code of the first Error in err's tree that has one,
// CodeInternal for any other error and "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	if e := first(err, func(e *Error) bool { return e.Code != "" }); e != nil {
		return e.Code
	}
	return CodeInternal
}

// ErrorHint returns the hint of the first Error in err's tree that has one.
func ErrorHint(err error) string {
	if e := first(err, func(e *Error) bool { return e.Hint != "" }); e != nil {
		return e.Hint
	}
	return ""
}

// first returns the first Error in err's tree that fits. Unlike errors.As it continues
// after an Error that does not fit.
func first(err error, fits func(*Error) bool) *Error {
	if e, ok := err.(*Error); ok && fits(e) { //nolint:errorlint // the tree is walked here
		return e
	}
	for _, cause := range Causes(err) {
		if e := first(cause, fits); e != nil {
			return e
		}
	}
	return nil
}

// Causes returns the errors that err wraps directly.
func Causes(err error) []error {
	switch x := err.(type) { //nolint:errorlint // the tree is walked by the callers
	case interface{ Unwrap() error }:
		if next := x.Unwrap(); next != nil {
			return []error{next}
		}
	case interface{ Unwrap() []error }:
		return x.Unwrap()
	}
	return nil
}

// OnlyBusy reports whether a lock of another process is the only cause of err, so that a
// retry may succeed.
func OnlyBusy(err error) bool {
	if e, ok := err.(*Error); ok && e.Code != "" { //nolint:errorlint // as in first
		return e.Code == CodeBusy
	}
	all := Causes(err)
	return len(all) > 0 && !slices.ContainsFunc(all, func(cause error) bool { return !OnlyBusy(cause) })
}

// NotFound returns an Error with CodeNotFound.
func NotFound(msg, hint string) error { return &Error{Code: CodeNotFound, Msg: msg, Hint: hint} }

// Invalid returns an Error with CodeInvalid.
func Invalid(msg, hint string) error { return &Error{Code: CodeInvalid, Msg: msg, Hint: hint} }

// Wrap adds the failed operation to an error. It returns nil for nil.
func Wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
