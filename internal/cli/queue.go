package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/task"
)

// segmentsWait is how long a change of segments waits for another.
const segmentsWait = 5 * time.Second

func (a *commands) queueCommand() *cobra.Command {
	var typed string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "queue", Short: "Show what waits for a summary, and what has one", Args: arguments(),
		Long: `Show the queue of a session: segments that wait for a summary and those that have one.
--json prints it in the shape of context_queue/{session}_pending.json.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				id, err := a.app.SessionOrLatest(cmd.Context(), x, typed)
				if err != nil {
					return err
				}
				state, err := task.LoadState(cmd.Context(), x.Index, id)
				if err != nil {
					return err
				}
				q := state.Queue(id)
				if asJSON {
					return a.printJSON(q)
				}
				fmt.Fprintf(a.out, "%s pending, %s compressed\n", count(len(q.Pending), "segment"), count(len(q.Compressed), "segment"))
				if len(q.Pending) == 0 {
					return nil
				}
				t := newTable("SEGMENT", "QUEUED", ">TOKENS", "TOPIC")
				for _, e := range q.Pending {
					t.row(e.ID, a.ago(e.QueuedAt), tokens(int64(e.OriginalTokens)), e.Topic)
				}
				return t.write(a.out, a.width())
			})
		},
	}
	sessionFlag(cmd, &typed)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) segmentsReset() *cobra.Command {
	var typed string
	cmd := &cobra.Command{
		Use: "reset-check", Short: "Let the next hook look for cold work at once", Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				id, err := a.app.SessionOrLatest(cmd.Context(), x, typed)
				if err != nil {
					return err
				}
				if err := x.Marks().Reset(id); err != nil {
					return err
				}
				fmt.Fprintln(a.out, "The next hook of "+archive.ShortID(id)+" looks for cold work.")
				return nil
			})
		},
	}
	sessionFlag(cmd, &typed)
	return cmd
}

func (a *commands) segmentsExport() *cobra.Command {
	var typed string
	cmd := &cobra.Command{
		Use: "export FOLDER", Short: "Write summaries as files that older tools read", Args: arguments("FOLDER"),
		Long: `Write the segments of a session into FOLDER: compressed_context/SEGMENT.json,
archived_context/SEGMENT.json, context_queue/SESSION_pending.json and _state.json, and for
each finished task its summary as md5("session:task").json. Files of the same name are
replaced.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				id, err := a.app.SessionOrLatest(cmd.Context(), x, typed)
				if err != nil {
					return err
				}
				state, err := task.LoadState(cmd.Context(), x.Index, id)
				if err != nil {
					return err
				}
				past, err := task.Load(cmd.Context(), x.Index, id, 0)
				if err != nil {
					return err
				}
				files, err := state.Files(id)
				if err != nil {
					return err
				}
				if err := past.TaskFiles(state, a.app.Now(), files); err != nil {
					return err
				}
				if err := writeFiles(a.abs(args[0]), files); err != nil {
					return err
				}
				fmt.Fprintf(a.out, "%s written to %s\n", count(len(files), "file"), a.abs(args[0]))
				return nil
			})
		},
	}
	sessionFlag(cmd, &typed)
	return cmd
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + dir, Err: err}
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write to " + dir, Err: err}
		}
	}
	return nil
}

// importedSegments is the outcome of an import of older tools' files.
type importedSegments struct {
	Files    int      `json:"files"`
	Segments int      `json:"segments"`
	Failed   []string `json:"failed,omitempty"`
}

// importSegments brings in the files that older tools keep in these folders.
func (a *commands) importSegments(cmd *cobra.Command, paths []string, dry, asJSON bool) error {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	var out importedSegments
	var facts []archive.SegmentFact
	for _, p := range paths {
		names, err := olderFiles(a.abs(p))
		if err != nil {
			return err
		}
		for _, name := range names {
			got, err := readOlder(name)
			if err != nil {
				out.Failed = append(out.Failed, name+": "+app.ErrorText(err))
				continue
			}
			out.Files++
			facts = append(facts, got...)
		}
	}
	ctx := cmd.Context()
	finish := func() error {
		return a.imported(importJSON{Failed: out.Failed}, false, func() {
			if !asJSON {
				fmt.Fprintf(a.out, "%s read, %s new\n", count(out.Files, "file"), count(out.Segments, "segment"))
			}
		})
	}
	news := func(x app.Archive) ([]archive.SegmentFact, error) {
		state, err := task.LoadState(ctx, x.Index, "")
		if err != nil {
			return nil, err
		}
		fresh := state.News(facts)
		for _, f := range fresh {
			if f.Event != archive.SegmentArchived {
				out.Segments++
			}
		}
		return fresh, nil
	}
	run := func(x app.Archive) error {
		fresh, err := news(x)
		if err != nil || dry {
			return err
		}
		return record(ctx, x, "", fresh)
	}
	if err := a.app.WithArchive(ctx, app.ReadWrite, run); err != nil {
		return err
	}
	if asJSON {
		return errors.Join(a.printJSON(out), finish())
	}
	return finish()
}

// olderFiles lists the JSON files of the folders that older tools use below a
// path; a path that is a file is itself.
func olderFiles(path string) (names []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &archive.Error{Code: archive.CodeNotFound, Msg: "there is no " + path, Err: err}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		parent := filepath.Base(filepath.Dir(name))
		if d.Type().IsRegular() && filepath.Ext(name) == ".json" &&
			slices.Contains([]string{"compressed_context", "archived_context", "context_queue"}, parent) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look through %s: %w", path, err)
	}
	return names, nil
}

// maxOlder is the size in bytes above which a file is none of theirs.
const maxOlder = 8 << 20

func readOlder(name string) ([]archive.SegmentFact, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	if info.Size() > maxOlder {
		return nil, archive.Invalid("it is too large", "")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return task.Import(name, data)
}

func (a *commands) segmentsSearch() *cobra.Command {
	var warm, asJSON bool
	cmd := &cobra.Command{
		Use: "search WORDS", Short: "Find summaries, archived ones as well", Args: arguments("WORDS..."),
		Long: `Find summaries of finished work by their words, and see in which tier each one is.
strandline search --kind summary finds them among everything else.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.app.WithArchive(cmd.Context(), app.ReadOnly, func(x app.Archive) error {
				state, err := task.LoadState(cmd.Context(), x.Index, "")
				if err != nil {
					return err
				}
				out := []app.Segment{}
				for _, e := range state.Search(strings.Join(args, " "), !warm) {
					out = append(out, app.NewSegment(e, e.End))
				}
				if asJSON {
					return a.printJSON(out)
				}
				if len(out) == 0 {
					fmt.Fprintln(a.out, "No summary holds any of these words.")
					return nil
				}
				t := newTable("SEGMENT", "WHERE", "TIER", "TOPIC")
				for _, j := range out {
					t.row(j.ID, j.Handle, string(j.Tier), j.Topic)
				}
				return t.write(a.out, a.width())
			})
		},
	}
	cmd.Flags().BoolVar(&warm, "warm", false, "leave archived ones out")
	jsonFlag(cmd, &asJSON)
	return cmd
}
