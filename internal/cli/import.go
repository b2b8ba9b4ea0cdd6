package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
)

func (a *commands) importCommand(cmd *cobra.Command) {
	from := cmd.Flags().String("from", "claude", "whose files they are: claude, ruflo, compressed-context, knowledge-db")
	clients := cmd.Flags().StringSlice("client", nil, "import from these clients only, as `NAME,...`")
	dry := cmd.Flags().Bool("dry-run", false, "count the sessions and do nothing")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for i := range args {
			args[i] = a.app.Abs(args[i])
		}
		switch *from {
		case "claude":
			return a.importTranscripts(cmd, app.ImportOptions{Paths: args, Clients: *clients, DryRun: *dry}, a.app.Import)
		case "ruflo", "claude-flow":
			return a.importTranscripts(cmd, app.ImportOptions{Paths: args, DryRun: *dry}, a.app.ImportEntries)
		case "compressed-context", "knowledge-db":
			return a.importSegments(cmd, args, *dry)
		}
		return wrongUsage(fmt.Sprintf("cannot import from %q", *from), "--from takes claude, ruflo, compressed-context or knowledge-db")
	}
}

func (a *commands) importTranscripts(cmd *cobra.Command, o app.ImportOptions, run func(context.Context, app.ImportOptions) (app.ImportReport, error)) error {
	bar := a.newProgress("importing")
	o.Progress = bar.capture
	out, err := run(cmd.Context(), o)
	bar.end()
	if cmd.Context().Err() != nil && out.Found > 0 {
		fmt.Fprintf(a.errOut, "%d of %s imported; the same command imports the rest.\n", out.Files, count(out.Found, "file"))
	}
	if err != nil {
		return err
	}
	if a.json {
		return errors.Join(a.printJSON(out), a.importFailures(nil, out.Failed))
	}
	what := runs(out.Sessions, out.Agents)
	switch {
	case out.Found > 0 && o.DryRun && out.Files == 0:
		fmt.Fprintf(a.out, "Nothing to import: the archive holds %s already.\n", count(out.Found, "file"))
	case out.Found > 0 && o.DryRun:
		fmt.Fprintf(a.out, "%s in %s, %s, would be imported.\n", what, count(out.Files, "file"), size(out.Bytes))
	case out.Found == 0:
		fmt.Fprintln(a.out, "No transcripts found in "+strings.Join(out.Paths, ", ")+".")
	default:
		fmt.Fprintf(a.out, "%s read (%s), %s new, %s indexed, %.1f s\n", count(out.Files, "file"), size(out.Bytes), size(out.Added),
			what, float64(out.TookMS)/1000)
	}
	return a.importFailures(a.errOut, out.Failed)
}

// importSegments imports the summaries of older tools.
func (a *commands) importSegments(cmd *cobra.Command, paths []string, dry bool) error {
	if len(paths) == 0 {
		paths = a.app.OlderFolders()
	}
	out, err := a.app.ImportSegments(cmd.Context(), paths, dry)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(out)
	} else {
		fmt.Fprintf(a.out, "%s read, %s new\n", count(out.Files, "file"), count(out.Segments, "segment"))
	}
	return errors.Join(err, a.importFailures(a.errOut, out.Failed))
}

// runs counts sessions and, if there are any, sub-agents' runs.
func runs(sessions, agents int) string {
	s := count(sessions, "session")
	if agents > 0 {
		s += " and " + count(agents, "sub-agent run")
	}
	return s
}

// maxShown is how many failed files are printed.
const maxShown = 10

// importFailures prints failed files to w, unless it is nil, and returns an error if
// there are any.
func (a *commands) importFailures(w io.Writer, failed []string) error {
	if len(failed) == 0 {
		return nil
	}
	if w != nil {
		for _, f := range failed[:min(len(failed), maxShown)] {
			fmt.Fprintf(w, "not imported: %s\n", f)
		}
		if n := len(failed) - maxShown; n > 0 {
			fmt.Fprintf(w, "… and %d more\n", n)
		}
	}
	return silentError{ExitInternal}
}
