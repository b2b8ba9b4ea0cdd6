package cli

import (
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

func (a *commands) showCommand(cmd *cobra.Command) {
	exact := cmd.Flags().Bool("exact", false, "the transcript's lines, not redacted")
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *exact && a.json {
			return wrongUsage("--exact and --json exclude each other", "the exact lines are JSON already")
		}
		at, err := archive.ParseHandle(args[0])
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if *exact {
			out := io.Writer(a.out)
			if a.columns(a.env.Stdout) == 0 {
				out = a.env.Stdout
			}
			return buffered(out, func(w io.Writer) error { return a.app.WriteLines(ctx, at, w) })
		}
		if at.Turn < 0 {
			out, err := a.app.Outline(ctx, at.Session)
			return printResult(a, out, err, a.printOutline)
		}
		p, err := a.app.Place(ctx, at)
		return printResult(a, p.Blocks, err, func([]app.Block) error { return a.printPlace(p) })
	}
}

func (a *commands) printOutline(out app.Outline) error {
	p := a.paint()
	facts := []string{
		a.stamp(out.First) + " – " + a.stamp(out.Last),
		strings.Join([]string{count(out.Turns, "turn"), count(out.Steps, "step"), count(out.Calls, "call"), count(out.Compacts, "compaction")}, ", "),
		size(out.Bytes),
	}
	if out.Model != "" {
		facts = append(facts, oneLine(out.Model))
	}
	fmt.Fprintf(a.out, "%s  %s\n", p.bold(out.ID), oneLine(out.Project))
	hang(a.out, a.columns(a.env.Stdout), "", 0, strings.Join(facts, " · "), p.dim)
	err := printTable(a, "", newTable("HANDLE", "START", ">STEPS", "PROMPT"), out.TurnList, func(turn app.Turn) []string {
		title := turn.Title
		if turn.Dead {
			title = "(rewound) " + title
		}
		if turn.Copy != "" {
			title = "(= " + turn.Copy + ") " + title
		}
		return []string{turn.Handle, a.stamp(turn.Start), fmt.Sprint(turn.Steps), title}
	})
	for _, f := range out.Files {
		fmt.Fprintf(a.out, "file  %s\n", f)
	}
	return err
}

// printPlace prints the conversation in a turn or a step.
func (a *commands) printPlace(place app.Place) error {
	p := a.paint()
	fmt.Fprintln(a.out, p.bold(place.Handle))
	for _, b := range place.Blocks {
		if !b.Conversation() {
			continue
		}
		fmt.Fprintf(a.out, "\n%s %s\n%s\n", p.kind("── "+oneLine(b.Heading())), p.dim("line "+fmt.Sprint(b.Line)), strings.TrimRight(a.blockText(b), "\n"))
	}
	return nil
}

// blockText returns a block's text for printing. On a terminal the prose of users and
// models is wrapped; code, tables and output are not.
func (a *commands) blockText(b app.Block) string {
	columns := a.columns(a.env.Stdout)
	if columns == 0 {
		return b.Text
	}
	visible := text.Visible(b.Text)
	if !slices.Contains([]string{claude.BlockPrompt, claude.BlockReply, claude.BlockThinking}, b.Kind) {
		return visible
	}
	var out strings.Builder
	code := false
	for line := range strings.Lines(visible) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") {
			code = !code
		}
		if indent := strings.Index(line, bare); code || text.Cells(line) <= columns || indent >= 4 || line[0] == '\t' || bare[0] == '|' {
			out.WriteString(line)
		} else {
			hang(&out, columns, strings.Repeat(" ", indent), indent, bare, plain)
		}
	}
	return out.String()
}
