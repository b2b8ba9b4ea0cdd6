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
	a.paged(cmd)
	full := cmd.Flags().Bool("full", false, "a turn's whole text instead of its steps")
	file := cmd.Flags().String("file", "", "a file of the session, such as a plan or its list of tasks, redacted")
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
		if *file != "" {
			var b strings.Builder
			if _, err := a.app.Export(ctx, app.Export{Session: at.Session, File: *file}, &b); err != nil {
				return err
			}
			return a.println(strings.TrimSuffix(text.Visible(a.app.Redact(b.String())), "\n"))
		}
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
		return printResult(a, p.Blocks, err, func([]app.Block) error {
			if *full || at.Step >= 0 || len(p.Calls) == 0 {
				return a.printPlace(p)
			}
			return a.printSteps(p)
		})
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

// The most lines of a turn's first prompt and last reply above and below its steps.
const promptLines, replyLines = 12, 24

// printSteps prints a turn's prompt, its steps, and its last reply.
func (a *commands) printSteps(place app.Place) error {
	p := a.paint()
	blocks := archive.Select(place.Blocks, app.Block.Conversation)
	rows := place.Rows()
	if len(rows) == 0 { // a damaged log has results left, without their calls
		return a.printPlace(place)
	}
	fmt.Fprintf(a.out, "%s  %s\n", p.bold(place.Handle), p.dim(a.stamp(rows[0].Time)+" · "+count(len(place.Steps), "step")+", "+count(len(place.Calls), "call")))
	if first := blocks[0]; first.Kind == claude.BlockPrompt {
		a.printStart(first, promptLines)
		rows = rows[1:]
	}
	last, replied := lastReply(blocks)
	if replied {
		rows = slices.DeleteFunc(rows, func(r app.PlaceRow) bool { return r.Line == last.Line && r.What == last.Kind })
	}
	fmt.Fprintln(a.out)
	t := newTable("HANDLE", "TIME", "RESULT", "WHAT")
	handle := ""
	for _, row := range rows {
		at, when := row.Handle, a.format(row.Time, "15:04")
		if at == handle {
			at, when = "", ""
		}
		handle = row.Handle
		t.row(at, when, row.Result(), a.stepText(row))
		if row.Error != "" {
			t.row("", "", "", indent+indent+row.Error)
		}
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	if replied {
		a.printStart(last, replyLines)
	}
	fmt.Fprintln(a.out)
	hang(a.out, a.columns(a.env.Stdout), "", 0, "`strandline show "+place.Handle+" --full` prints everything; with a step's handle, that step.", p.dim)
	return nil
}

// lastReply returns the reply after the last call of a turn.
func lastReply(blocks []app.Block) (b app.Block, ok bool) {
	for _, b := range slices.Backward(blocks) {
		switch b.Kind {
		case claude.BlockReply:
			return b, true
		case claude.BlockToolUse, claude.BlockToolResult:
			return b, false
		}
	}
	return b, false
}

// indent is put before the calls of a step in an outline, below what the model said.
const indent = "  "

// stepText returns the text or the call of a row of an outline.
func (a *commands) stepText(row app.PlaceRow) string {
	switch {
	case row.What == claude.BlockReply:
		return row.Text
	case row.Kind == archive.CallEdit || row.Kind == archive.CallRead:
		if n := a.columns(a.env.Stdout); n > 0 && n < roomy {
			row.Text = pathEnd(row.Text)
		}
	}
	return indent + row.What + " " + row.Text
}

// roomy is the width of a terminal on which paths are printed whole.
const roomy = 120

// pathEnd returns the last three elements of a path.
func pathEnd(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) <= 3 {
		return path
	}
	return "…/" + strings.Join(parts[len(parts)-3:], "/")
}

// printStart prints the first lines of a block.
func (a *commands) printStart(b app.Block, most int) {
	lines := strings.Split(strings.TrimSpace(a.blockText(b)), "\n")
	rest := ""
	if n := len(lines) - most; n > 1 {
		lines, rest = lines[:most], a.paint().dim(fmt.Sprintf("… %d more lines", n))+"\n"
	}
	fmt.Fprintf(a.out, "\n%s\n%s\n%s", a.heading(b), strings.Join(lines, "\n"), rest)
}

// heading returns the line above a block.
func (a *commands) heading(b app.Block) string {
	p := a.paint()
	return p.kind("── "+oneLine(b.Heading())) + " " + p.dim("line "+fmt.Sprint(b.Line))
}

// printPlace prints the conversation in a turn or a step.
func (a *commands) printPlace(place app.Place) error {
	p := a.paint()
	fmt.Fprintln(a.out, p.bold(place.Handle))
	for _, b := range place.Blocks {
		if !b.Conversation() {
			continue
		}
		fmt.Fprintf(a.out, "\n%s\n%s\n", a.heading(b), strings.TrimRight(a.blockText(b), "\n"))
	}
	return nil
}

// blockText returns a block's text for printing: an edit as a diff, output as a terminal
// shows it. On a terminal the prose of users and models is wrapped; code, tables and
// output are not.
func (a *commands) blockText(b app.Block) string {
	switch {
	case b.Diff != "":
		return a.diffText(b.Diff)
	case b.Kind == claude.BlockToolResult && !a.raw:
		b.Text = text.FoldTerminal(b.Text)
	}
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

// diffText colors a diff.
func (a *commands) diffText(diff string) string {
	p := a.paint()
	var b strings.Builder
	for line := range strings.Lines(text.Visible(diff)) {
		line, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		switch {
		case text.HasAnyPrefix(line, "--- ", "+++ "):
			line = p.bold(line)
		case strings.HasPrefix(line, "@@"):
			line = p.kind(line)
		case strings.HasPrefix(line, "+"):
			line = p.green(line)
		case strings.HasPrefix(line, "-"):
			line = p.red(line)
		}
		b.WriteString(line + end)
	}
	return b.String()
}
