package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

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
	// Source is "same", "ahead" (the client's file holds more), "gone",
	// "differs", or "superseded" (a later generation took its place); empty for
	// a damaged log.
	Source string `json:"source,omitempty"`
	Error  string `json:"error,omitempty"`
}

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [SESSION]",
		Short: "Check every byte: the logs' checksums, and the logs against the client's files",
		Long: `Decompress the logs, check every frame's checksum, and compare them byte for byte with
the client's files where these still exist. With SESSION, its logs only, and a sha256 of
each transcript; a sub-agent's run is checked with its parent.`,
		Args: arguments("[SESSION]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.enter()
			if err != nil {
				return err
			}
			only := ""
			if len(args) == 1 {
				if only, err = a.loggedSession(cmd.Context(), r, args[0]); err != nil {
					return err
				}
			}
			return a.verify(cmd.Context(), r, only, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) verify(ctx context.Context, r rooms, only string, asJSON bool) error {
	checks, err := r.capture.Verify(ctx, only)
	if err != nil {
		return err
	}
	if only != "" && len(checks) == 0 {
		return archive.NotFound("no log of session "+archive.ShortID(only), "`strandline sessions` lists the sessions that are kept")
	}
	bad := 0
	out := make([]verifyJSON, 0, len(checks))
	for _, v := range checks {
		j := verified(r.cfg.Paths.Home, v)
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
	j := verifyJSON{Log: rel, OK: v.Err == nil && v.Source != capture.SourceDiffers, Bytes: v.Report.Raw, Lines: v.Report.Lines, Source: string(v.Source)}
	if v.Err != nil {
		j.Error = sentence(v.Err)
	} else {
		j.SHA256 = hex.EncodeToString(v.Report.SHA256[:])
	}
	return j
}

func (a *app) printVerify(out []verifyJSON, bad int, each bool) {
	p := a.paint()
	var total int64
	for _, v := range out {
		total += v.Bytes
		switch {
		case v.Error != "":
			fmt.Fprintf(a.out, "%s %s: %s\n", p.red("✗"), v.Log, v.Error)
		case !v.OK:
			fmt.Fprintf(a.out, "%s %s: the client's file no longer begins with what was logged; the next capture keeps it as a new generation\n", p.red("✗"), v.Log)
		case each:
			fmt.Fprintf(a.out, "%s %s  %d bytes, %d lines, client's file: %s\n  sha256 %s\n", p.green("✓"), v.Log, v.Bytes, v.Lines, v.Source, v.SHA256)
		}
	}
	fmt.Fprintf(a.out, "%s, %s: %d good, %d bad\n", count(len(out), "log"), size(total), len(out)-bad, bad)
}
