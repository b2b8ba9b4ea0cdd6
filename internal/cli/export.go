package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/config"
)

func (a *app) exportCommand() *cobra.Command {
	var out, file string
	var generation int
	cmd := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write the exact bytes of a session's transcript",
		Long: `Write the exact bytes of a session's transcript to stdout or to a file. Nothing is
redacted: these are the bytes that the client wrote. With --file, one of the files
that the client keeps beside the transcript ("subagents/agent-….jsonl",
"tool-results/….txt").`,
		Args: exactArgs("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			c, _, err := a.env.NewCapture(cfg)
			if err != nil {
				return err
			}
			id, err := a.loggedSession(cmd.Context(), cfg, c, args[0])
			if err != nil {
				return err
			}
			return a.writeOut(out, func(w io.Writer) error {
				if file != "" {
					return c.ExportFile(id, file, w)
				}
				return c.Export(id, generation, w)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to this file instead of stdout")
	cmd.Flags().StringVar(&file, "file", "", "a file of the session's folder instead of its transcript")
	cmd.Flags().IntVar(&generation, "generation", 0, "an earlier generation of a transcript that was rewritten (0: the latest)")
	return cmd
}

// loggedSession resolves a session for commands that need only the log: a full id
// works without an index.
func (a *app) loggedSession(ctx context.Context, cfg *config.Config, c *capture.Capture, typed string) (string, error) {
	h, err := archive.ParseHandle(typed)
	if err != nil {
		return "", err
	}
	if c.HasLog(h.Session) {
		return h.Session, nil
	}
	s, err := a.env.OpenStore(ctx, indexPath(cfg.Paths.Home), StoreRead)
	if err != nil {
		return "", err
	}
	id, err := s.Resolve(ctx, h.Session)
	return id, errors.Join(err, s.Close())
}

// writeOut lets write fill a file or stdout. A file appears whole or not at all.
func (a *app) writeOut(path string, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriterSize(a.env.Stdout, 1<<20)
		if err := write(w); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		return nil
	}
	path = a.abs(path)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".strandline-*")
	if err != nil {
		return &archive.Error{Code: archive.CodeDenied, Msg: "cannot write " + path, Err: err}
	}
	err = write(tmp)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

func (a *app) rebuildCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "rebuild SESSION",
		Short: "Put a vanished session back, so that the client can resume it",
		Long: `Put a session's transcript, its sub-agents' transcripts and its tool outputs back
where the client keeps them, byte for byte. A file that exists with other content is
never touched. Afterwards ` + "`claude --resume SESSION`" + ` goes on with it.`,
		Args: exactArgs("SESSION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			c, _, err := a.env.NewCapture(cfg)
			if err != nil {
				return err
			}
			id, err := a.loggedSession(cmd.Context(), cfg, c, args[0])
			if err != nil {
				return err
			}
			dir := filepath.Join(cfg.ClientDir, "projects")
			if to != "" {
				dir = a.abs(to)
			}
			files, err := c.Rebuild(cmd.Context(), id, dir)
			if err != nil {
				return err
			}
			for _, f := range files {
				note := size(f.Bytes)
				if f.Kept {
					note = "there already"
				}
				fmt.Fprintf(a.env.Stdout, "%s  (%s)\n", f.Path, note)
			}
			fmt.Fprintf(a.env.Stdout, "Resume it in its folder with: claude --resume %s\n", id)
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "put the files below this folder instead of the client's")
	return cmd
}
