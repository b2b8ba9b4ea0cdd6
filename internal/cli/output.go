package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/capture"
	"strandline/internal/text"
)

// output is the standard output of a command. It keeps the first write error, which
// Main reports, so that commands need not check each write.
type output struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// query makes a command that runs a use case and prints its result: with show, or
// as JSON with --json.
func query[T any](a *commands, cmd *cobra.Command, run func(ctx context.Context, args []string) (T, error), show func(T) error) {
	a.jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		result, err := run(cmd.Context(), args)
		return printResult(a, result, err, show)
	}
}

// printResult prints the result of a use case: with show, or as JSON. It prints no
// result with an error, except a silentError, and returns that.
func printResult[T any](a *commands, result T, err error, show func(T) error) error {
	if err != nil && !errors.As(err, new(silentError)) {
		return err
	}
	if a.json {
		return cmp.Or(a.printJSON(result), err)
	}
	return cmp.Or(show(result), err)
}

// linked returns a run function for a command that needs Frontends. A program that does
// not link them runs the command in its companion.
func (a *commands) linked(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if a.env.Frontends == nil {
			return a.env.Companion(cmd.Context())
		}
		return run(cmd.Context(), args)
	}
}

// action makes a command that runs a use case and prints the line that it returns.
func (a *commands) action(cmd *cobra.Command, run func(ctx context.Context, args []string) (string, error)) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		line, err := run(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.println(line)
	}
}

// printTable prints a list as a table. row returns the texts of an element's columns. The
// text empty, if it is not "", is printed for an empty list.
func printTable[T any](a *commands, empty string, t *table, list []T, row func(T) []string) error {
	if len(list) == 0 && empty != "" {
		return a.println(empty)
	}
	for _, x := range list {
		t.row(row(x)...)
	}
	return t.write(a.out, a.width())
}

// printJSON writes v as indented JSON. Control characters in its strings are escaped.
func (a *commands) printJSON(v any) error {
	data, err := encodeJSON(v, "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, data)
	return err
}

func encodeJSON(v any, indent string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode the result: %w", err)
	}
	return text.EscapeJSON(b.String()), nil
}

// println prints a line.
func (a *commands) println(line string) error {
	_, err := fmt.Fprintln(a.out, line)
	return err
}

// size formats a number of bytes.
func size(n int64) string { return text.Size(n) }

// tokens formats a number of tokens.
func tokens[N int | int64](n N) string { return text.TokenCount(int64(n)) }

// percent formats a share from 0 to 1.
func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// count formats a number with its noun.
func count(n int, noun string) string { return text.Count(n, noun) }

// oneLine returns a text on one line without control characters.
func oneLine(s string) string { return text.OneLine(text.Visible(s)) }

// stamp formats a time in the zone of the clock.
func (a *commands) stamp(t time.Time) string { return a.format(t, "2006-01-02 15:04") }

func (a *commands) format(t time.Time, layout string) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(a.app.Now().Location()).Format(layout)
}

// ago formats a time of the last 14 days as an age.
func (a *commands) ago(t time.Time) string {
	const day = 24 * time.Hour
	switch d := a.app.Now().Sub(t); {
	case t.IsZero(), d < 0:
		return a.stamp(t)
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 14*day:
		return count(int(d/day), "day") + " ago"
	}
	return a.format(t, time.DateOnly)
}

// painter colors text for a terminal. Its zero value returns text unchanged.
type painter struct{ on bool }

// paint returns a painter for standard output. NO_COLOR (https://no-color.org)
// switches it off.
func (a *commands) paint() painter {
	return painter{on: a.columns(a.env.Stdout) > 0 && a.app.Getenv("NO_COLOR") == "" && a.app.Getenv("TERM") != "dumb"}
}

// The painter's colors, as parameters of the SGR escape sequence.
const (
	colorOff    = "0"
	colorBold   = "1"
	colorDim    = "2"
	colorRed    = "31"
	colorGreen  = "32"
	colorYellow = "33"
	colorKind   = "36"
	colorMatch  = "1;33"
)

// isOwnColor reports whether SGR parameters are the painter's.
func isOwnColor(params string) bool {
	return slices.Contains([]string{colorOff, colorBold, colorDim, colorRed, colorGreen, colorYellow, colorKind, colorMatch}, params)
}

func colorSequence(params string) string { return "\x1b[" + params + "m" }

func (p painter) color(params, s string) string {
	if !p.on || s == "" {
		return s
	}
	return colorSequence(params) + s + colorSequence(colorOff)
}

func (p painter) bold(s string) string   { return p.color(colorBold, s) }
func (p painter) dim(s string) string    { return p.color(colorDim, s) }
func (p painter) red(s string) string    { return p.color(colorRed, s) }
func (p painter) green(s string) string  { return p.color(colorGreen, s) }
func (p painter) yellow(s string) string { return p.color(colorYellow, s) }
func (p painter) kind(s string) string   { return p.color(colorKind, s) }
func plain(s string) string              { return s }

// columns returns the width of a terminal; 0 if the stream is not one.
func (a *commands) columns(stream io.Writer) int {
	if n, ok := a.env.Terminal(stream); ok {
		return n
	}
	return 0
}

// width returns the width of output lines. It is wide if the output is not a
// terminal, so that scripts get whole texts.
func (a *commands) width() int { return cmp.Or(a.columns(a.env.Stdout), 400) }

// hang prints a text after a head of indent cells. On a terminal of the given number
// of columns (0: not a terminal) the text wraps with that indent; style colors each
// line.
func hang(w io.Writer, columns int, head string, indent int, s string, style func(string) string) {
	lines := []string{s}
	if columns > 2*indent {
		lines = flow(phrases(s), columns-indent)
	}
	for _, line := range lines {
		fmt.Fprintf(w, "%s%s\n", head, style(line))
		head = strings.Repeat(" ", indent)
	}
}

// wrap breaks a text into lines of at most n cells, between words where possible.
func wrap(s string, n int) []string {
	lines := flow(strings.Fields(s), n)
	for i := range lines {
		lines[i] = text.TruncateCells(lines[i], n)
	}
	return lines
}

// flow puts words into lines of at most n cells. A longer word, such as a path, is
// not broken.
func flow(words []string, n int) []string {
	lines := []string{""}
	for _, word := range words {
		line := &lines[len(lines)-1]
		switch {
		case *line == "":
			*line = word
		case text.Cells(*line)+1+text.Cells(word) <= n:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// phrases splits a text into words. A command in backquotes is one word.
func phrases(s string) []string {
	var list []string
	quoted := false
	for word := range strings.FieldsSeq(s) {
		if quoted {
			list[len(list)-1] += " " + word
		} else {
			list = append(list, word)
		}
		if strings.Count(word, "`")%2 == 1 {
			quoted = !quoted
		}
	}
	if quoted { // an unpaired backquote
		return strings.Fields(s)
	}
	return list
}

// wrapCells breaks a text into at most lines rows of n cells, at a space if the row
// stays at least half full. The last row is truncated.
func wrapCells(s string, n, lines int) []string {
	var out []string
	for len(out) < lines-1 && text.Cells(s) > n && n > 1 {
		end := text.PrefixCells(s, n)
		if space := strings.LastIndexByte(s[:end], ' '); space > end/2 && s[end] != ' ' {
			end = space
		}
		out = append(out, strings.TrimRight(s[:end], " "))
		s = strings.TrimLeft(s[end:], " ")
	}
	return append(out, text.TruncateCells(s, n))
}

// truncateStart shortens a text to at most n cells and keeps its end.
func truncateStart(s string, n int) string {
	if text.Cells(s) <= n {
		return s
	}
	for i := range s {
		if text.Cells(s[i:]) <= n-1 {
			return "…" + s[i:]
		}
	}
	return text.TruncateCells("…", n)
}

// truncateMiddle shortens a text to at most n cells and keeps its start and, of a path
// without spaces at its end, the end.
func truncateMiddle(s string, n int) string {
	slash := strings.LastIndexByte(s, '/')
	if text.Cells(s) <= n || slash < 0 || strings.Contains(s[slash:], " ") {
		return text.TruncateCells(s, n)
	}
	start := text.TruncateCells(s, n/3)
	return start + strings.TrimPrefix(truncateStart(s, n-text.Cells(start)+1), "…")
}

// pad fills a text with spaces up to n cells, on the left if right is set.
func pad(s string, n int, right bool) string {
	spaces := strings.Repeat(" ", max(n-text.Cells(s), 0))
	if right {
		return spaces + s
	}
	return s + spaces
}

// progress draws a bar on stderr if that is a terminal. Not safe for concurrent use.
type progress struct {
	app   *commands
	label string
	live  bool
	width int
	start time.Time
	drawn time.Time // zero: never
	cells int       // width of the current line
}

func (a *commands) newProgress(label string) *progress {
	width, live := a.env.Terminal(a.env.Stderr)
	return &progress{app: a, label: label, live: live && !a.json, width: width, start: a.app.Now()}
}

// redraw is the minimum time between two draws.
const redraw = 80 * time.Millisecond

func (p *progress) capture(s capture.Progress) {
	p.draw(s.Bytes, s.TotalBytes, fmt.Sprintf("%d/%d files", s.Done, s.Jobs), s.Done == s.Jobs)
}

func (p *progress) draw(done, total int64, what string, last bool) {
	now := p.app.app.Now()
	if !p.live || (now.Sub(p.drawn) < redraw && !last) {
		return
	}
	p.drawn = now
	share := 1.0
	if total > 0 {
		share = float64(done) / float64(total)
	}
	rate := ""
	if d := now.Sub(p.start).Seconds(); d > 0.2 {
		rate = fmt.Sprintf("  %s/s", size(int64(float64(done)/d)))
		if left := time.Duration((d/max(share, 0.001) - d) * float64(time.Second)); left > 2*time.Second {
			rate += "  " + left.Round(time.Second).String() + " left"
		}
	}
	figures := fmt.Sprintf("%3.0f%%  %s  %s%s", share*100, what, size(done), rate)
	length := min(max(p.width-len(p.label)-text.Cells(figures)-len(" [] ")-1, 8), 24)
	line := fmt.Sprintf("%s [%s] %s", p.label, bar(int(share*float64(length)), length), figures)
	line = text.TruncateCells(line, max(p.width-1, 20))
	fmt.Fprintf(p.app.env.Stderr, "\r%s", pad(line, p.cells, false))
	p.cells = text.Cells(line)
}

// end finishes the line of the bar, if one was drawn.
func (p *progress) end() {
	if p.cells > 0 {
		fmt.Fprintln(p.app.env.Stderr)
	}
}
