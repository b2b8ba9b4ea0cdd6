package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/capture"
)

func (a *commands) importCommand() *cobra.Command {
	var from string
	var asJSON, dry bool
	cmd := &cobra.Command{
		Use:   "import [PATH...]",
		Short: "Bring in the sessions that the client has on disk",
		Long: `Bring in the sessions that the client has on disk: transcripts, sub-agents' runs
and large tool outputs. Without PATH, everything in the client's folder; a PATH is a
transcript or a folder of transcripts.

An import that was interrupted goes on where it stopped, and one that runs again
adds only what is new. Files that cannot be read are named, and the exit status is 1;
all others are imported.

With --from compressed-context or knowledge-db, PATH is a project's folder (default:
this one) whose compressed_context/, context_queue/ and archived_context/ hold summaries
of older tools.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch from {
			case "claude":
			case "compressed-context", "knowledge-db":
				return a.importSegments(cmd, args, dry, asJSON)
			default:
				return wrongUsage(fmt.Sprintf("cannot import from %q", from), "--from takes claude, compressed-context or knowledge-db")
			}
			return a.runImport(cmd.Context(), args, dry, asJSON)
		},
	}
	cmd.Flags().StringVar(&from, "from", "claude", "whose files they are: claude, compressed-context, knowledge-db")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be imported and do nothing")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// importJSON is the outcome of an import for scripts.
type importJSON struct {
	Files    int      `json:"files"`
	Sessions int      `json:"sessions"`
	Agents   int      `json:"agents"`
	Bytes    int64    `json:"bytes"`
	Added    int64    `json:"added_bytes"`
	TookMS   int64    `json:"took_ms"`
	Failed   []string `json:"failed,omitempty"`
}

func (a *commands) runImport(ctx context.Context, paths []string, dry, asJSON bool) error {
	r, err := a.app.Workspace()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		paths = []string{filepath.Join(r.Config.ClientDir, "projects")}
	}
	for i := range paths {
		paths[i] = a.app.Abs(paths[i])
	}
	jobs, unreadable, err := r.Capture.Discover(ctx, paths)
	if err != nil {
		return err
	}
	if dry {
		return a.dryImport(jobs, unreadable, asJSON)
	}
	start := a.app.Now()
	bar := a.newProgress("importing", asJSON)
	var report capture.Report
	err = a.bulk(ctx, r.Config.Paths.Index(), func(idx, known *app.Index) error {
		var err error
		report, err = r.Capture.Bulk(ctx, idx, known, jobs, bar.capture)
		return err
	})
	bar.end()
	if err != nil {
		return err
	}
	out := importJSON{
		Files: report.Jobs, Sessions: report.Sessions, Agents: report.Agents, Bytes: report.Bytes, Added: report.Added,
		TookMS: a.app.Now().Sub(start).Milliseconds(),
	}
	out.failed(append(unreadable, report.Failed...))
	return a.imported(out, asJSON, func() {
		if out.Files == 0 {
			fmt.Fprintln(a.out, "There is no transcript in "+strings.Join(paths, ", ")+".")
			return
		}
		fmt.Fprintf(a.out, "%s read (%s), %s new, %s app.Archive, %.1f s\n", count(out.Files, "file"), size(out.Bytes), size(out.Added),
			runs(out.Sessions, out.Agents), float64(out.TookMS)/1000)
	})
}

func (a *commands) dryImport(jobs []capture.Job, unreadable []capture.FileError, asJSON bool) error {
	out := importJSON{Files: len(jobs)}
	for _, j := range jobs {
		out.Bytes += j.Size
		switch {
		case j.Source.Rel == "":
			out.Sessions++
		case j.Source.Agent() != "":
			out.Agents++
		}
	}
	out.failed(unreadable)
	return a.imported(out, asJSON, func() {
		fmt.Fprintf(a.out, "%s in %s, %s, would be imported.\n", runs(out.Sessions, out.Agents), count(out.Files, "file"), size(out.Bytes))
	})
}

func (j *importJSON) failed(files []capture.FileError) {
	for _, f := range files {
		j.Failed = append(j.Failed, f.Path+": "+app.ErrorText(f.Err))
	}
}

// runs counts sessions, and sub-agents' runs where there are any.
func runs(sessions, agents int) string {
	s := count(sessions, "session")
	if agents > 0 {
		s += " and " + count(agents, "sub-agent run")
	}
	return s
}

// maxShown is how many files that failed are named to a person.
const maxShown = 10

// imported prints the outcome, for people with what summary prints. Files that
// failed make it an error.
func (a *commands) imported(out importJSON, asJSON bool, summary func()) error {
	var err error
	if asJSON {
		err = a.printJSON(out)
	} else {
		summary()
		for i, f := range out.Failed {
			if i == maxShown {
				fmt.Fprintf(a.errOut, "… and %d more\n", len(out.Failed)-i)
				break
			}
			fmt.Fprintf(a.errOut, "not imported: %s\n", f)
		}
	}
	if len(out.Failed) > 0 {
		return errors.Join(err, silentError{ExitInternal})
	}
	return err
}
