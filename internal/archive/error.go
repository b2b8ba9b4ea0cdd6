package archive

import "errors"

// Code classes an error for machines; the command line turns it into an exit
// code.
type Code string

// The error codes.
const (
	CodeInternal  Code = "internal"  // a fault of ours or of the machine
	CodeInvalid   Code = "invalid"   // what was asked makes no sense
	CodeNotFound  Code = "not_found" // nothing of that name
	CodeAmbiguous Code = "ambiguous" // more than one thing of that name
	CodeBusy      Code = "busy"      // locked by another process for too long
	CodeCorrupt   Code = "corrupt"   // stored bytes are not what they should be
	CodeDenied    Code = "denied"    // permissions, a read-only or full disk
)

// Error is what a user is told: one sentence, and a hint what to do next.
type Error struct {
	Code Code
	Msg  string // one sentence without a full stop
	Hint string // what to do, may be empty
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

// ErrorCode returns the code of the first Error in err's chain, CodeInternal
// for any other error and "" for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) && e.Code != "" {
		return e.Code
	}
	return CodeInternal
}

// ErrorHint returns the hint of the first Error in err's chain that has one.
func ErrorHint(err error) string {
	for err != nil {
		var e *Error
		if !errors.As(err, &e) {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}

// NotFound returns an Error with CodeNotFound.
func NotFound(msg, hint string) error { return &Error{Code: CodeNotFound, Msg: msg, Hint: hint} }

// Invalid returns an Error with CodeInvalid.
func Invalid(msg, hint string) error { return &Error{Code: CodeInvalid, Msg: msg, Hint: hint} }
