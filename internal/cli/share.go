package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript/claude"
)

func (a *commands) shareCommand(cmd *cobra.Command) {
	out := cmd.Flags().StringP("output", "o", "", "file to write, *.html or *.md")
	force := cmd.Flags().Bool("force", false, "replace an existing file")
	a.action(cmd, func(ctx context.Context, args []string) (string, error) {
		formats := map[string]shareFormat{".html": htmlShare{}, ".htm": htmlShare{}, ".md": markdownShare{}}
		format := formats[strings.ToLower(filepath.Ext(*out))]
		if format == nil {
			return "", wrongUsage("-o takes a file that ends in .html or .md", "such as: strandline share "+args[0]+" -o session.html")
		}
		if _, err := os.Lstat(a.app.Abs(*out)); err == nil && !*force {
			return "", archive.Invalid(*out+" exists", "--force replaces it")
		}
		at, err := archive.ParseHandle(args[0])
		if err != nil {
			return "", err
		}
		s, err := a.shared(ctx, at)
		if err != nil {
			return "", err
		}
		var b bytes.Buffer
		format.write(&b, s)
		if err := a.writeOut(*out, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }); err != nil {
			return "", err
		}
		return fmt.Sprintf("wrote %s: %s, %s, secrets redacted; read it before you send it", *out, count(len(s.places), "turn"), size(int64(b.Len()))), nil
	})
}

// share is a session or a part of it, for a file that others read.
type share struct {
	title  string
	facts  []string
	places []app.Place
	stamp  func(app.Place) string
}

// shareFormat writes a share as a file.
type shareFormat interface {
	write(b *bytes.Buffer, s share)
}

// shared reads a session or a place. It leaves out turns that a rewind abandoned, and copies.
func (a *commands) shared(ctx context.Context, at archive.Handle) (s share, err error) {
	out, err := a.app.Outline(ctx, at.Session)
	if err != nil {
		return s, err
	}
	turns := archive.Select(out.TurnList, func(t app.Turn) bool { return !t.Dead && t.Copy == "" })
	if at.Turn >= 0 {
		turns = archive.Select(out.TurnList, func(t app.Turn) bool { return t.Index == at.Turn })
		if len(turns) == 0 {
			return s, archive.NotFound(fmt.Sprintf("the session has no turn %d", at.Turn), "`strandline show "+at.Session+"` lists the turns")
		}
	}
	for _, t := range turns {
		place := archive.Handle{Session: out.ID, Turn: t.Index, Step: -1}
		if at.Turn >= 0 {
			place.Step = at.Step
		}
		p, err := a.app.Place(ctx, place)
		if err != nil {
			return s, err
		}
		s.places = append(s.places, p)
	}
	s.title = oneLine(cmp.Or(out.Title, out.Handle))
	if at.Turn >= 0 {
		s.title = oneLine(cmp.Or(turns[0].Title, turns[0].Handle))
	}
	s.facts = []string{
		oneLine(cmp.Or(out.ProjectName, "unknown project")), a.stamp(out.First), count(len(s.places), "turn"),
		oneLine(out.Model), "session " + out.Handle,
	}
	s.facts = slices.DeleteFunc(s.facts, func(f string) bool { return f == "" })
	s.stamp = func(p app.Place) string {
		for _, b := range p.Blocks {
			if !b.Time.IsZero() {
				return a.stamp(b.Time)
			}
		}
		return ""
	}
	return s, nil
}

// maxShared is the number of characters of a tool's input or output that a share holds.
const maxShared = 6000

// sharedText returns a block's text without control characters, output shortened.
func sharedText(b app.Block) string {
	if b.Diff != "" {
		b.Text = b.Diff
	}
	if b.Kind == claude.BlockToolResult {
		b.Text = text.FoldTerminal(b.Text)
	}
	b.Text = strings.Trim(text.Visible(b.Text), "\n")
	if n := len(b.Text) - maxShared; n > 0 && !isProse(b) {
		return strings.ToValidUTF8(b.Text[:maxShared], "") + fmt.Sprintf("\n… %s left out", size(int64(n)))
	}
	return b.Text
}

func isProse(b app.Block) bool {
	return slices.Contains([]string{claude.BlockPrompt, claude.BlockReply, claude.BlockThinking}, b.Kind)
}

// sharedHead returns the heading of a block of a place, with the first line of a call, also
// above its result.
func sharedHead(b app.Block, in app.Place) string {
	switch b.Kind {
	case claude.BlockPrompt:
		return "User"
	case claude.BlockReply:
		return "Assistant"
	case claude.BlockThinking:
		return "Reasoning"
	}
	head, call := cmp.Or(b.Name, b.Kind), b
	if b.Kind == claude.BlockToolResult {
		head = "Result of " + cmp.Or(b.Name, "a tool")
		if i := slices.IndexFunc(in.Blocks, func(c app.Block) bool { return c.Kind == claude.BlockToolUse && c.ToolID == b.ToolID }); i >= 0 {
			call = in.Blocks[i]
		}
	}
	if b.Error {
		head += " (failed)"
	}
	if call.Kind == claude.BlockToolUse {
		line, _, _ := strings.Cut(strings.TrimSpace(call.Text), "\n")
		head += " · " + text.TruncateCells(oneLine(cmp.Or(call.Path, strings.TrimPrefix(line, "command: "))), 100)
	}
	return oneLine(head)
}
