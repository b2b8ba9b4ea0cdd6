package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestExitCodes(t *testing.T) {
	for code, want := range map[archive.Code]int{
		archive.CodeInternal:  ExitInternal,
		archive.CodeInvalid:   ExitUsage,
		archive.CodeNotFound:  ExitNotFound,
		archive.CodeAmbiguous: ExitAmbiguous,
		archive.CodeBusy:      ExitBusy,
		archive.CodeCorrupt:   ExitCorrupt,
		archive.CodeDenied:    ExitDenied,
		"of a later version":  ExitInternal,
	} {
		err := fmt.Errorf("open index: %w", &archive.Error{Code: code, Msg: "no"})
		if got := exitCode(err); got != want {
			t.Errorf("%s: exit code %d, want %d", code, got, want)
		}
	}
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"none":                    {nil, ExitOK},
		"a foreign error":         {errors.New("no"), ExitInternal},
		"a wrong flag":            {wrongUsage("no", ""), ExitUsage},
		"everything is said":      {silentError{ExitCorrupt}, ExitCorrupt},
		"said, and closing fails": {errors.Join(errors.New("close"), silentError{ExitCorrupt}), ExitCorrupt},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}

// The help lists every exit code.
func TestHelpListsExitCodes(t *testing.T) {
	for _, code := range []int{ExitOK, ExitInternal, ExitUsage, ExitNotFound, ExitAmbiguous, ExitBusy, ExitCorrupt, ExitDenied, ExitInterrupted} {
		if !strings.Contains(strings.ReplaceAll(exitHelp, "\n", " "), fmt.Sprintf(" %d ", code)) {
			t.Errorf("the help does not name %d", code)
		}
	}
}

func TestErrorOutput(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/a/index.db", Err: fs.ErrPermission}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"one sentence and a hint": {
			archive.NotFound("no archive in /a yet", "`strandline import` brings in the sessions that exist"),
			"strandline: no archive in /a yet\nhint: `strandline import` brings in the sessions that exist\n",
		},
		"the steps in between are left out": {
			fmt.Errorf("search: %w", fmt.Errorf("index session: %w", &archive.Error{Code: archive.CodeDenied, Msg: "cannot open the index /a/index.db", Err: fmt.Errorf("stat: %w", denied)})),
			"strandline: cannot open the index /a/index.db: permission denied\n",
		},
		"the first reason of several": {
			cannotPrint(fmt.Errorf("flush: %w", errors.Join(fmt.Errorf("write: %w", denied), errors.New("close")))),
			"strandline: cannot write the output: permission denied\nhint: its reader has ended, or the disk is full\n",
		},
		"a reason that is said already": {
			&archive.Error{Code: archive.CodeDenied, Msg: "cannot write: the disk is full", Err: errors.New("disk is full")},
			"strandline: cannot write: the disk is full\n",
		},
		"a lock, in the database's words": {
			&archive.Error{Code: archive.CodeBusy, Msg: "cannot index the journal", Hint: "another strandline process is writing", Err: errors.New("database is locked (5) (SQLITE_BUSY)")},
			"strandline: cannot index the journal\nhint: another strandline process is writing\n",
		},
		"an error without a message of ours": {
			fmt.Errorf("measure: %w", errors.New("no clock")),
			"strandline: measure: no clock\n",
		},
		"two at once": {
			errors.Join(archive.Invalid("no such scope", "take user"), errors.New("close: bad file")),
			"strandline: no such scope\nhint: take user\nstrandline: close: bad file\n",
		},
		"joined and joined again": {
			errors.Join(errors.Join(errors.New("a"), nil), errors.New("b")),
			"strandline: a\nstrandline: b\n",
		},
		"a hint of the cause": {
			fmt.Errorf("open: %w", &archive.Error{Msg: "cannot read", Err: archive.Invalid("no log", "move it away")}),
			"strandline: cannot read: no log\nhint: move it away\n",
		},
		"nothing":            {nil, ""},
		"everything is said": {silentError{ExitCorrupt}, ""},
		"said, and one more": {errors.Join(silentError{ExitCorrupt}, errors.New("close")), "strandline: close\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			printError(&out, 0, c.err)
			if out.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), c.want)
			}
		})
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestLostOutputIsAnError(t *testing.T) {
	w := newWorld(t)
	w.sessions()
	w.must("import")
	for _, line := range []string{
		"version", "--help", "stats", "status", "status --json", "sessions", "config", "config get search.limit", "verify", "segments --all",
		"search backoff --all", "show 7f3a12cd", "export 7f3a12cd", "compact --session 7f3a12cd", "compact --session 7f3a12cd --format text",
		"restore --session 7f3a12cd", "completion bash", "import", "doctor",
	} {
		for _, width := range []int{0, 80} {
			w.width = width
			var errOut strings.Builder
			code := Main(t.Context(), w.options(full{}, &errOut), strings.Fields(line))
			if code != ExitDenied || !strings.Contains(errOut.String(), "strandline: cannot write the output: no space left\nhint: ") {
				t.Errorf("%s, %d columns: exit code %d\n%s", line, width, code, errOut.String())
			}
		}
	}
}

func TestInterruptedCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out strings.Builder
	if code := finished(ctx, &out, 0, fmt.Errorf("import: %w", ctx.Err())); code != ExitInterrupted || out.String() != "strandline: interrupted\n" {
		t.Errorf("%d, %q", code, out.String())
	}
	// A command that ended before the signal keeps its exit code.
	out.Reset()
	if code := finished(ctx, &out, 0, programError{7}); code != 7 || out.Len() > 0 {
		t.Errorf("a program's exit code 7 becomes %d, said %q", code, out.String())
	}
	out.Reset()
	if code := finished(ctx, &out, 0, nil); code != ExitOK || out.Len() > 0 {
		t.Errorf("%d, %q", code, out.String())
	}
}
