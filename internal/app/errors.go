package app

import (
	"errors"
	"strings"

	"strandline/internal/archive"
)

// ErrorText returns the message of an error for users, with its innermost cause
// but without the steps in between. The text of a busy error is complete without
// its cause. An error that is not an *archive.Error is returned whole.
func ErrorText(err error) string {
	shown, ok := errors.AsType[*archive.Error](err)
	if !ok {
		return err.Error()
	}
	if shown.Err == nil || shown.Code == archive.CodeBusy {
		return shown.Msg
	}
	cause := innermost(shown.Err).Error()
	if strings.Contains(shown.Msg, cause) {
		return shown.Msg
	}
	return shown.Msg + ": " + cause
}

// innermost returns the first cause of an error; of joined errors, that of the
// first.
func innermost(err error) error {
	for {
		var next error
		switch x := err.(type) { //nolint:errorlint // inspects each link of the chain
		case interface{ Unwrap() error }:
			next = x.Unwrap()
		case interface{ Unwrap() []error }:
			if all := x.Unwrap(); len(all) > 0 {
				next = all[0]
			}
		}
		if next == nil {
			return err
		}
		err = next
	}
}
