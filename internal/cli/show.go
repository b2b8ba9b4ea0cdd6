package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript/claude"
)

func (a *commands) showCommand() *cobra.Command {
	var exact, asJSON bool
	cmd := &cobra.Command{
		Use:   "show HANDLE",
		Short: "Print a session's outline, one turn or one step whole",
		Long: `Print what a handle names, read from the log: a session's outline (7f3a12cd), a turn
(7f3a12cd/12) or a step (7f3a12cd/12.3), nothing cut. Secrets are replaced by
placeholders; --exact prints the transcript's own lines.`,
		Args: arguments("HANDLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if exact && asJSON {
				return wrongUsage("--exact and --json go not together", "the exact lines are JSON already")
			}
			at, err := archive.ParseHandle(args[0])
			switch {
			case err != nil:
				return err
			case exact:
				return buffered(a.out, func(w io.Writer) error { return a.app.WriteLines(cmd.Context(), at, w) })
			case at.Turn < 0:
				return a.showSession(cmd.Context(), at.Session, asJSON)
			}
			return a.showPlace(cmd.Context(), at, asJSON)
		},
	}
	cmd.Flags().BoolVar(&exact, "exact", false, "the transcript's lines as they are, nothing redacted")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *commands) showSession(ctx context.Context, session string, asJSON bool) error {
	out, err := a.app.Outline(ctx, session)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(out)
	}
	return a.printOutline(out)
}

func (a *commands) printOutline(out app.Outline) error {
	p := a.paint()
	facts := []string{
		a.stamp(out.First) + " – " + a.stamp(out.Last),
		strings.Join([]string{count(out.Turns, "turn"), count(out.Steps, "step"), count(out.Calls, "call"), count(out.Compactions, "compaction")}, ", "),
		size(out.Bytes),
	}
	if out.Model != "" {
		facts = append(facts, oneLine(out.Model))
	}
	fmt.Fprintf(a.out, "%s  %s\n", p.bold(out.Session.Session), oneLine(out.Project))
	hang(a.out, a.columns(a.env.Stdout), "", 0, strings.Join(facts, " · "), p.dim)
	t := newTable("HANDLE", "START", ">STEPS", "PROMPT")
	for _, turn := range out.TurnList {
		title := turn.Title
		if turn.Dead {
			title = "(left behind by a rewind) " + title
		}
		if turn.Copy != "" {
			title = "(= " + turn.Copy + ") " + title
		}
		t.row(turn.Handle, a.stamp(turn.Start), fmt.Sprint(turn.Steps), title)
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	for _, f := range out.Files {
		fmt.Fprintf(a.out, "file  %s\n", f)
	}
	return nil
}

func (a *commands) showPlace(ctx context.Context, at archive.Handle, asJSON bool) error {
	p, err := a.app.Place(ctx, at)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(p.Blocks)
	}
	return a.printBlocks(p)
}

// printBlocks prints for people what was said, and leaves out what the client and
// Strandline put beside it.
func (a *commands) printBlocks(place app.Place) error {
	p := a.paint()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.bold(place.Handle))
	for _, x := range place.Blocks {
		if !x.Conversation() {
			continue
		}
		head := x.Kind
		if x.Name != "" {
			head += " " + oneLine(x.Name)
		}
		if x.Error {
			head += " (error)"
		}
		fmt.Fprintf(&b, "\n%s %s\n%s\n", p.kind("── "+head), p.dim("line "+fmt.Sprint(x.Line)), strings.TrimRight(a.told(x), "\n"))
	}
	if _, err := io.WriteString(a.out, b.String()); err != nil {
		return cannotPrint(err)
	}
	return nil
}

// told is a block's text as it is printed. On a terminal what people and models
// wrote is broken between words; code, tables and what programs printed are not.
func (a *commands) told(x app.Block) string {
	quoted, columns := a.quote(x.Text), a.columns(a.env.Stdout)
	if columns == 0 || !slices.Contains([]string{claude.BlockPrompt, claude.BlockReply, claude.BlockThinking}, x.Kind) {
		return quoted
	}
	var b strings.Builder
	code := false
	for line := range strings.Lines(quoted) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") {
			code = !code
		}
		if indent := strings.Index(line, bare); code || text.Cells(line) <= columns || indent >= 4 || line[0] == '\t' || bare[0] == '|' {
			b.WriteString(line)
		} else {
			hang(&b, columns, strings.Repeat(" ", indent), indent, bare, plain)
		}
	}
	return b.String()
}

// quote is a text of a transcript as it is printed: whole where a program reads
// it, without colours of its own on a terminal.
func (a *commands) quote(s string) string {
	if _, terminal := a.env.Terminal(a.env.Stdout); terminal {
		return text.Visible(s)
	}
	return s
}
