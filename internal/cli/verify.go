package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
)

// verifyJSON is one verified log.
type verifyJSON struct {
	Log    string `json:"log"`
	OK     bool   `json:"ok"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256,omitempty"`
	// Torn counts bytes of the log behind its last whole append: of one that was
	// cut short, or that was damaged later.
	Torn int64 `json:"torn,omitempty"`
	// Forgotten counts bytes of it that were deleted for good; a line stands for each
	// turn and step, and spaces for the rest.
	Forgotten int64 `json:"forgotten_bytes,omitempty"`
	// Source is "same", "ahead" (the client's file holds more), "gone",
	// "differs", "superseded" (a later generation took its place), or "unread" (it
	// is there and cannot be read); empty for a damaged log.
	Source string `json:"source,omitempty"`
	// SourceError is why the client's file could not be read. The log is checked
	// all the same, and counts as good.
	SourceError string `json:"source_error,omitempty"`
	Error       string `json:"error,omitempty"`
}

func (a *commands) verifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Check every byte of the logs, also against the client's files",
		Long: `Decompress the logs, check every frame's checksum, and compare them byte for byte with
the client's files where these still exist; a file of the client that cannot be read is
told of and makes no log bad. With SESSION, its logs only, and a sha256 of
each transcript; a sub-agent's run is checked with its parent.`,
		Args: arguments("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.app.Workspace()
			if err != nil {
				return err
			}
			only := ""
			if len(args) == 1 {
				if _, only, err = a.app.LoggedSession(cmd.Context(), args[0]); err != nil {
					return err
				}
			}
			return a.verify(cmd.Context(), r, only, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) verify(ctx context.Context, r app.Workspace, only string, asJSON bool) error {
	checks, err := r.Capture.Verify(ctx, only)
	if err != nil {
		return err
	}
	if only != "" && len(checks) == 0 {
		return archive.NotFound("no log of session "+archive.ShortID(only), "`strandline sessions` lists the sessions that are kept")
	}
	bad := 0
	out := make([]verifyJSON, 0, len(checks))
	for _, v := range checks {
		j := verified(r.Config.Paths.Home, v)
		if !j.OK {
			bad++
		}
		out = append(out, j)
	}
	if asJSON {
		err = a.printJSON(out)
	} else {
		a.printVerify(out, bad, only != "")
	}
	if bad > 0 {
		return errors.Join(err, silentError{ExitCorrupt})
	}
	return err
}

func verified(home string, v capture.Verified) verifyJSON {
	rel, err := filepath.Rel(home, v.Log)
	if err != nil {
		rel = v.Log
	}
	j := verifyJSON{Log: rel, Bytes: v.Report.Raw, Lines: v.Report.Lines, Source: string(v.Source), Torn: v.Report.Torn, Forgotten: v.Report.Blanked}
	// The next capture takes what is torn from the client's file again.
	mends := v.Source == capture.SourceSame || v.Source == capture.SourceAhead
	if v.Unread != nil {
		j.SourceError = app.ErrorText(v.Unread)
	}
	switch {
	case v.Err != nil:
		j.Error = app.ErrorText(v.Err)
		return j
	case v.Source == capture.SourceDiffers:
		j.Error = "the client's file no longer begins with what was logged; the next capture keeps it as a new generation"
	case j.Torn > 0 && v.Unread != nil:
		j.Error = fmt.Sprintf("%s at its end are damaged, and the client's file, which may hold them, cannot be read: %s", size(j.Torn), j.SourceError)
	case j.Torn > 0 && !mends:
		j.Error = fmt.Sprintf("%s at its end are damaged, and the client's file does not hold them any more", size(j.Torn))
	default:
		j.OK = true
	}
	j.SHA256 = hex.EncodeToString(v.Report.SHA256[:])
	return j
}

func (a *commands) printVerify(out []verifyJSON, bad int, each bool) {
	p := a.paint()
	var total int64
	unread := 0
	for _, v := range out {
		total += v.Bytes
		if v.SourceError != "" {
			unread++
		}
		switch {
		case v.Error != "":
			fmt.Fprintf(a.out, "%s %s: %s\n", p.red("✗"), v.Log, v.Error)
		case v.Torn > 0:
			fmt.Fprintf(a.out, "%s %s: %s at its end are torn; the next capture takes them from the client's file again\n", p.yellow("!"), v.Log, size(v.Torn))
		case v.SourceError != "":
			fmt.Fprintf(a.out, "%s %s: the log is good; it could not be compared with the client's file: %s\n", p.yellow("!"), v.Log, v.SourceError)
		case each:
			fmt.Fprintf(a.out, "%s %s  %d bytes, %d lines, client's file: %s\n  sha256 %s\n", p.green("✓"), v.Log, v.Bytes, v.Lines, v.Source, v.SHA256)
			if v.Forgotten > 0 {
				fmt.Fprintf(a.out, "  %s of it were forgotten; the client's file is compared without them\n", size(v.Forgotten))
			}
		}
	}
	fmt.Fprintf(a.out, "%s, %s: %d good, %d bad", count(len(out), "log"), size(total), len(out)-bad, bad)
	if unread > 0 {
		fmt.Fprintf(a.out, "; %s of the client could not be read", count(unread, "file"))
	}
	fmt.Fprintln(a.out)
}
