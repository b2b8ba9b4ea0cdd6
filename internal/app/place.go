package app

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript/claude"
)

// PlaceRow is one line of a turn's outline: a text, or a tool call with its outcome.
type PlaceRow struct {
	Handle  string // of the step; of the turn outside a step
	Line    int    // of the transcript
	Time    time.Time
	What    string // the tool's name, or the kind of the text
	Text    string // on one line
	Verdict string // "ok", "exit 1", "failed", "refused", "not run", "no result", or ""
	Error   string // the decisive line of a failure
	Added   int
	Removed int
	Kind    archive.CallKind // "" for a text
}

// Result returns the verdict, or the size of a successful edit.
func (r PlaceRow) Result() string {
	if r.Verdict == "" && r.Added+r.Removed > 0 {
		return fmt.Sprintf("+%d -%d", r.Added, r.Removed)
	}
	return r.Verdict
}

// Rows returns the outline of a place: its prompts, replies and tool calls in their
// order. A call includes its result. Thinking is left out, except in a step of nothing
// else.
func (p Place) Rows() []PlaceRow {
	calls := map[string]*Call{}
	for i := range p.Calls {
		calls[p.Calls[i].ToolID] = &p.Calls[i]
	}
	var rows []PlaceRow
	said := map[string]bool{} // steps with a row
	for _, b := range p.Blocks {
		if !b.Conversation() && b.Kind != claude.BlockToolUse {
			continue
		}
		row := PlaceRow{Handle: p.stepAt(b.Line), Line: b.Line, Time: b.Time, What: cmp.Or(b.Name, b.Kind), Text: text.OneLine(strings.TrimLeft(b.Text, "\n #*"))}
		switch call := calls[b.ToolID]; {
		case b.Kind == claude.BlockToolResult && calls[b.ToolID] != nil, b.Kind == claude.BlockThinking:
			continue
		case b.Kind == claude.BlockToolUse && call != nil:
			row.call(*call, b, p.Session.Cwd)
		case b.Error:
			row.Verdict = "failed"
		}
		said[row.Handle] = true
		rows = append(rows, row)
	}
	for _, b := range p.Blocks { // steps of thinking only
		if at := p.stepAt(b.Line); b.Kind == claude.BlockThinking && b.Conversation() && !said[at] {
			said[at] = true
			rows = append(rows, PlaceRow{Handle: at, Line: b.Line, Time: b.Time, What: b.Kind, Text: text.OneLine(b.Text)})
		}
	}
	slices.SortStableFunc(rows, func(x, y PlaceRow) int { return x.Line - y.Line })
	return rows
}

// stepAt returns the handle of the step that holds a line, else the place's.
func (p Place) stepAt(line int) string {
	for _, s := range slices.Backward(p.Steps) {
		if s.LineFrom <= line && line < s.LineTo {
			return archive.Ref{Session: s.Session, Turn: s.Turn, Step: s.Index}.Handle()
		}
	}
	return p.Handle
}

// call describes a tool call and its outcome.
func (r *PlaceRow) call(c Call, b Block, cwd string) {
	r.Handle, r.Kind, r.Verdict, r.Error = c.Handle, c.Kind, Verdict(c.Call), c.Error
	switch {
	case c.Command != "":
		r.Text = archive.CommandText(c.Command)
	case len(c.Files) > 0 && c.Kind != archive.CallSearch:
		r.Text = relative(cwd, c.Files[0])
	case b.Name == "TodoWrite":
		r.Text = ""
	case len(cwd) > 1:
		r.Text = strings.ReplaceAll(r.Text, strings.TrimRight(cwd, "/")+"/", "")
	}
	if c.Kind == archive.CallEdit && !c.Failed {
		r.Added, r.Removed = b.Added, b.Removed
	}
}

// Verdict describes the outcome of a call: "ok" for a command that succeeded, "" for
// another call that did.
func Verdict(c archive.Call) string {
	switch {
	case c.NotRun() && c.Error == archive.ErrorDropped:
		return "not run"
	case c.NotRun():
		return "refused"
	case c.Exit != nil && *c.Exit != 0:
		return fmt.Sprintf("exit %d", *c.Exit)
	case c.Failed:
		return "failed"
	case c.LineResult < 0:
		return "no result"
	case c.Exit != nil:
		return "ok"
	}
	return ""
}

// relative returns a path relative to a folder that contains it, any other path whole.
func relative(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimRight(dir, "/")+"/"); ok && dir != "" {
		return rest
	}
	return filepath.ToSlash(path)
}
