package archive

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

// first walks the tree of err as errors.As does, and goes on where an Error does
// not fit: behind it, and in what was joined to it.
func first(err error, fits func(*Error) bool) *Error {
	if e, ok := err.(*Error); ok && fits(e) { //nolint:errorlint // each link is looked at by itself
		return e
	}
	switch x := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		if next := x.Unwrap(); next != nil {
			return first(next, fits)
		}
	case interface{ Unwrap() []error }:
		for _, next := range x.Unwrap() {
			if e := first(next, fits); e != nil {
				return e
			}
		}
	}
	return nil
}

// OnlyBusy reports that another process stood in the way and nothing else
// happened: the same succeeds a moment later.
func OnlyBusy(err error) bool {
	if e, ok := err.(*Error); ok && e.Code != "" { //nolint:errorlint // as in first
		return e.Code == CodeBusy
	}
	switch x := err.(type) { //nolint:errorlint // as in first
	case interface{ Unwrap() error }:
		return OnlyBusy(x.Unwrap())
	case interface{ Unwrap() []error }:
		for _, next := range x.Unwrap() {
			if !OnlyBusy(next) {
				return false
			}
		}
		return len(x.Unwrap()) > 0
	}
	return false
}

// NotFound returns an Error with CodeNotFound.
func NotFound(msg, hint string) error { return &Error{Code: CodeNotFound, Msg: msg, Hint: hint} }

// Invalid returns an Error with CodeInvalid.
func Invalid(msg, hint string) error { return &Error{Code: CodeInvalid, Msg: msg, Hint: hint} }
