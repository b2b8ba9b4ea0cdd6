package claude

import (
	"cmp"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

const (
	maxCommand     = 4000 // characters
	maxDescription = 200
)

// toolUse folds the request of a tool call.
func (r *Reader) toolUse(s *stepState, row *row, p *part) {
	id := string(p.id)
	if len(id) > maxID {
		id = ""
	}
	if id != "" {
		h := hashOf(p.id)
		if r.findCall(p.id) >= 0 || slices.Contains(s.tools, h) {
			return // the same block on another line
		}
		if len(s.tools) < maxTools {
			s.tools = append(s.tools, h)
		}
	}
	c := callState{
		row: archive.Call{
			Turn: s.row.Turn, Step: s.row.Index, Seq: s.calls, ToolID: id, Name: text.Prefix(r.redact(string(p.name)), maxName),
			Kind: kindOf(string(p.name)), LineUse: row.line, LineResult: -1,
		},
		// The client writes a synthetic response where a plugin's conversation repeats a call.
		time: row.time, sidechain: s.row.Sidechain, copied: s.row.Copy != nil || s.row.APIError, batchCall: -1, batchPassage: -1,
	}
	s.calls++
	if !c.copied {
		r.newCall(s, row, &c, r.scan.readInput(p.raw))
	}
	if id != "" {
		r.state.pending = append(r.state.pending, c)
		r.limitCalls()
	}
}

// newCall fills in a call that is not a copy and emits its rows.
func (r *Reader) newCall(s *stepState, row *row, c *callState, in input) {
	r.state.facts.Calls++
	c.seq = s.seq
	s.seq++
	if path := in.path(); path != "" {
		c.row.Files = []string{text.Prefix(r.redact(path), maxPath)}
	}
	switch c.row.Kind {
	case archive.CallCommand:
		command := r.scan.commandOf(in)
		if len(in.members) == 0 {
			command = stringOf(in.raw)
		}
		c.row.Command = truncateChars(r.clean(command), maxCommand)
		c.request = oneLine(r.clean(in.text("description")), maxDescription)
		c.batchPassage = r.putPassage(commandPassage(c, "", false))
	case archive.CallEdit:
		s.seq++ // reserved for the result of a failed edit
		c.request = strings.Join(c.row.Files, " ")
		body, partial := r.editText(c, in)
		r.putPassage(callPassage(c, archive.KindEdit, body, partial))
	case archive.CallTask:
		r.taskUse(s, row, c, in)
		c.request = r.describe(c.row.Kind, in)
	default:
		c.request = r.describe(c.row.Kind, in)
		if c.row.Name == "ExitPlanMode" {
			r.reply(s, row, labelPlan, in.text("plan"))
			if r.isMain(row) {
				r.setTitle(titlePlan, planHeading(r.redact(in.text("plan"))))
			}
		}
	}
	r.putFiles(c, row)
	c.batchCall = r.putCall(c)
}

// putFiles adds the files of a call that reads, edits or searches files.
func (r *Reader) putFiles(c *callState, row *row) {
	if !slices.Contains([]archive.CallKind{archive.CallRead, archive.CallEdit, archive.CallSearch}, c.row.Kind) {
		return
	}
	for _, path := range c.row.Files {
		r.out.Files = append(r.out.Files, archive.FileTouch{
			Session: r.base.ID, Turn: c.row.Turn, Step: c.row.Step, Seq: c.row.Seq,
			Path: path, Kind: c.row.Kind, Line: row.line, Time: row.time,
		})
	}
}

// putCall adds a call to the batch, or replaces it there, and returns its index.
func (r *Reader) putCall(c *callState) int {
	row := c.row
	row.Session = r.base.ID
	if c.batchCall >= 0 {
		r.out.Calls[c.batchCall] = row
		return c.batchCall
	}
	r.out.Calls = append(r.out.Calls, row)
	return len(r.out.Calls) - 1
}

// findCall returns the index of a call without a result, or -1.
func (r *Reader) findCall(id []byte) int {
	return slices.IndexFunc(r.state.pending, func(c callState) bool { return c.row.ToolID == string(id) })
}

// limitCalls drops the oldest calls beyond the limits.
func (r *Reader) limitCalls() {
	p := r.state.pending
	size, keep := 0, 0
	for ; keep < min(len(p), maxPending); keep++ {
		c := &p[len(p)-1-keep]
		size += len(c.row.Command) + len(c.request) + len(c.task.Subject) + len(strings.Join(c.row.Files, "")) + 64
		if size > maxPendingBytes && keep > 0 {
			break
		}
	}
	r.state.pending = keepLast(p, keep)
}

// editText returns the old and new text of an edit, and whether it is truncated.
func (r *Reader) editText(c *callState, in input) (string, bool) {
	const maxEdit = archive.MaxPassage / 3
	partial := false
	side := func(heading, body string, n int) string {
		if body = r.clean(body); body == "" {
			return ""
		}
		short := text.Prefix(body, n)
		if len(short) < len(body) {
			partial = true
			short += "…"
		}
		return heading + "\n" + short + "\n"
	}
	change := func(in input, n int) string {
		return side("--- old", in.oldText(), n/3) +
			side("+++ new", cmp.Or(in.newText(), in.content()), n*2/3)
	}
	var b strings.Builder
	b.WriteString(strings.Join(append([]string{c.row.Name}, c.row.Files...), " ") + "\n")
	left := archive.MaxPassage - b.Len() - 64
	if left < maxEdit { // an extremely long path
		return text.Prefix(b.String(), archive.MaxPassage), true
	}
	edits := in.value("edits")
	if len(edits) == 0 {
		b.WriteString(change(in, left))
	}
	for _, raw := range r.scan.elements(edits) {
		if left := archive.MaxPassage - 64 - b.Len(); left > 200 {
			b.WriteString(change(r.scan.readInput(raw), min(left, maxEdit)))
		} else {
			partial = true
		}
	}
	return strings.TrimRight(b.String(), "\n"), partial
}
