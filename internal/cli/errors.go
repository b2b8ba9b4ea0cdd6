package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// Exit codes, stated in every help text.
const (
	ExitOK          = 0
	ExitInternal    = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitAmbiguous   = 4
	ExitBusy        = 5
	ExitCorrupt     = 6
	ExitDenied      = 7
	ExitInterrupted = 130 // as shells count it: 128 and the number of SIGINT
)

// exitHelp stands at the end of every command's help.
const exitHelp = `

Exit status: 0 done · 1 an internal fault · 2 wrong usage or value ·
3 not found · 4 ambiguous · 5 locked by another process ·
6 stored data is damaged · 7 not permitted · 130 interrupted`

// silentError carries an exit code for a command that has said everything.
type silentError struct{ code int }

func (e silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// programError carries the exit code of a program that this one started. What
// ended it is its own business, an interrupt among it.
type programError struct{ code int }

func (e programError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// usageError is a wrong flag or argument.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// wrongUsage says what is wrong with the command line as it was typed.
func wrongUsage(msg, hint string) error { return usageError{archive.Invalid(msg, hint)} }

// cannotPrint is what a user is told whose output went nowhere.
func cannotPrint(err error) error {
	return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write the output", Err: err, Hint: "what reads it has ended, or its disk is full"}
}

// finished says what a run that ended with err has to say, and returns its exit
// code. columns is the width of the terminal that w is, 0 if it is none.
func finished(ctx context.Context, w io.Writer, columns int, err error) int {
	if program, ok := errors.AsType[programError](err); ok {
		return program.code
	}
	if err != nil && ctx.Err() != nil {
		fmt.Fprintln(w, "strandline: interrupted")
		return ExitInterrupted
	}
	printError(w, columns, err)
	return exitCode(err)
}

// printError tells the user what went wrong in one sentence, and what to do.
func printError(w io.Writer, columns int, err error) {
	for _, e := range parts(err) {
		if errors.As(e, new(silentError)) {
			continue
		}
		const said, hinted = "strandline: ", "hint: "
		hang(w, columns, said, len(said), app.ErrorText(e), plain)
		if hint := archive.ErrorHint(e); hint != "" {
			hang(w, columns, hinted, len(hinted), hint, plain)
		}
	}
}

// parts takes apart errors that were joined.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error }) // what is wrapped deeper belongs to one sentence
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, parts(e)...)
	}
	return out
}

func exitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if silent, ok := errors.AsType[silentError](err); ok {
		return silent.code
	}
	if errors.As(err, new(usageError)) {
		return ExitUsage
	}
	switch archive.ErrorCode(err) {
	case archive.CodeInvalid:
		return ExitUsage
	case archive.CodeNotFound:
		return ExitNotFound
	case archive.CodeAmbiguous:
		return ExitAmbiguous
	case archive.CodeBusy:
		return ExitBusy
	case archive.CodeCorrupt:
		return ExitCorrupt
	case archive.CodeDenied:
		return ExitDenied
	}
	return ExitInternal
}
