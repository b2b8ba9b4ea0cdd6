package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// Exit codes. Every help text lists them.
const (
	ExitOK          = 0
	ExitInternal    = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitAmbiguous   = 4
	ExitBusy        = 5
	ExitCorrupt     = 6
	ExitDenied      = 7
	ExitInterrupted = 130 // 128 plus the number of SIGINT, as in shells
)

// exitHelp ends every help text.
const exitHelp = `

Exit status: 0 done · 1 internal error · 2 wrong usage or value ·
3 not found · 4 ambiguous · 5 locked by another process ·
6 stored data is damaged · 7 not permitted · 130 interrupted`

// silentError carries an exit code for a command that has printed its errors.
type silentError struct{ code int }

func (e silentError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// programError carries the exit code of a program that this one started.
type programError struct{ code int }

func (e programError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// wrongUsage reports an invalid command line.
func wrongUsage(msg, hint string) error { return archive.Invalid(msg, hint) }

// cannotPrint reports that the output could not be written.
func cannotPrint(err error) error {
	return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write the output", Err: err, Hint: "its reader has ended, or the disk is full"}
}

// finished prints err and returns the exit code. columns is the width of the terminal
// w, 0 if it is not one.
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

// printError prints each error with its hint.
func printError(w io.Writer, columns int, err error) {
	for _, e := range parts(err) {
		if errors.As(e, new(silentError)) {
			continue
		}
		const prefix, hintPrefix = "strandline: ", "hint: "
		hang(w, columns, prefix, len(prefix), app.ErrorText(e), plain)
		if hint := archive.ErrorHint(e); hint != "" {
			hang(w, columns, hintPrefix, len(hintPrefix), hint, plain)
		}
	}
}

// parts splits joined errors.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error }) // errors wrapped deeper belong to one message
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
	codes := map[archive.Code]int{
		archive.CodeInvalid: ExitUsage, archive.CodeNotFound: ExitNotFound, archive.CodeAmbiguous: ExitAmbiguous,
		archive.CodeBusy: ExitBusy, archive.CodeCorrupt: ExitCorrupt, archive.CodeDenied: ExitDenied,
	}
	return cmp.Or(codes[archive.ErrorCode(err)], ExitInternal)
}
