package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

func (a *commands) restoreFileCommand(cmd *cobra.Command) {
	var q app.FileAt
	f := cmd.Flags()
	at := f.String("at", "", "as of this handle or time, e.g. 7f3a12cd/12, 2d or 2026-11-01 (default: the newest)")
	to := f.StringP("output", "o", "", "write to this file, which must not exist")
	scopeFlags(f, &q.Scope, "this project instead of the current one, by name or folder")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		q.Path = args[0]
		if *at != "" {
			if q.Until, err = recall.Until(*at, a.app.Now()); err != nil {
				q.Handle = *at
			}
		}
		file, err := a.app.FileContent(cmd.Context(), q)
		if err != nil {
			return err
		}
		if *to == "" {
			_, err = io.WriteString(a.env.Stdout, file.Content) // exact bytes
		} else {
			err = writeNew(a.app.Abs(*to), file.Content)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.errOut, "%s as of %s (%s), from %s\n", oneLine(file.Path), file.Handle, a.stamp(file.Time), file.From)
		return nil
	}
}

// writeNew writes a file that does not exist yet.
func writeNew(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &archive.Error{Code: archive.CodeInvalid, Msg: path + " exists", Hint: "name another file with -o, or leave it out to print the content"}
	}
	if err == nil {
		_, err = f.WriteString(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write " + path, Err: err}
	}
	return nil
}
