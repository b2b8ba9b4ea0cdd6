package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
)

func (a *commands) exportCommand(cmd *cobra.Command) {
	out := cmd.Flags().StringP("output", "o", "", "write to this file instead of stdout")
	file := cmd.Flags().String("file", "", "a file in the session's folder instead of the transcript")
	format := cmd.Flags().String("format", "transcript", "transcript, or entries: the turns of a session, or of all, as lines of JSON")
	generation := cmd.Flags().Int("generation", 0, "an earlier generation of a rewritten transcript (0: the latest)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *generation < 0 || *generation > 0 && *file != "" {
			return wrongUsage("--generation takes a number from 0 up and excludes --file", "")
		}
		if *format == "entries" && *generation == 0 && *file == "" {
			return a.writeOut(*out, func(w io.Writer) error {
				_, err := a.app.ExportEntries(cmd.Context(), strings.Join(args, ""), w)
				return err
			})
		}
		if *format != "transcript" {
			return wrongUsage("--format takes transcript or entries; entries exclude --generation and --file", "")
		}
		if len(args) == 0 {
			return wrongUsage("name a session", "`strandline sessions` lists them; --format entries alone exports all of them")
		}
		var damaged int64
		err := a.writeOut(*out, func(w io.Writer) (err error) {
			damaged, err = a.app.Export(cmd.Context(), app.Export{Session: args[0], File: *file, Generation: *generation}, w)
			return err
		})
		if damaged > 0 && err == nil {
			fmt.Fprintf(a.errOut, "note: %d bytes at the end of the log are damaged; `strandline import` repairs them while the client has its file\n", damaged)
		}
		return err
	}
}

// writeOut calls write with a file, or with stdout if path is "". A regular file is
// replaced atomically; a pipe or /dev/null is written to.
func (a *commands) writeOut(path string, write func(io.Writer) error) error {
	if path == "" {
		return buffered(a.env.Stdout, write)
	}
	path = a.app.Abs(path)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return cannotWrite(path, err)
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".strandline-*") // mode 0600
	if err != nil {
		return cannotWrite(path, err)
	}
	err = errors.Join(buffered(tmp, write), tmp.Close())
	if err != nil && archive.ErrorCode(err) != archive.CodeCorrupt { // else everything readable is written
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	if rerr := os.Rename(tmp.Name(), path); rerr != nil {
		return errors.Join(cannotWrite(path, rerr), os.Remove(tmp.Name()))
	}
	return err
}

// buffered calls write with a buffered w. A write error becomes cannotPrint.
func buffered(w io.Writer, write func(io.Writer) error) error {
	out := output{Writer: w}
	b := bufio.NewWriterSize(&out, 1<<20)
	err := write(b)
	if err == nil || archive.ErrorCode(err) == archive.CodeCorrupt {
		err = errors.Join(err, b.Flush())
	}
	if out.err != nil {
		return cannotPrint(out.err)
	}
	return err
}

func cannotWrite(path string, err error) error {
	return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write " + path, Err: err, Hint: "name a file in an existing, writable folder"}
}
