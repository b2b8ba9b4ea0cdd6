package claude

import (
	"slices"
	"strings"

	"strandline/internal/archive"
)

const (
	maxCommand     = 4000 // characters
	maxDescription = 200
)

// toolUse folds the request of a tool: the call is known from now on, its
// passage too where the request itself says something.
func (r *Reader) toolUse(s *stepState, row *row, p *part) {
	id := string(p.id)
	if len(id) > maxID {
		id = ""
	}
	if id != "" {
		h := hashOf(p.id)
		if r.findCall(p.id) >= 0 || slices.Contains(s.tools, h) {
			return // the same block on two lines
		}
		if len(s.tools) < maxTools {
			s.tools = append(s.tools, h)
		}
	}
	// The client makes up a response where a plugin's compaction tells one again.
	c := callState{
		row: archive.Call{
			Turn: s.row.Turn, Step: s.row.Index, Seq: s.calls, ToolID: id, Name: name(p.name),
			Kind: kindOf(string(p.name)), LineUse: row.line, LineResult: -1,
		},
		time: row.time, side: s.row.Sidechain, copied: s.row.Copy != nil || s.row.APIError, batchCall: -1, batchPassage: -1,
	}
	s.calls++
	if !c.copied {
		r.newCall(s, row, &c, r.scan.readInput(p.raw))
	}
	if id != "" {
		r.state.pending = append(r.state.pending, c)
		r.boundCalls()
	}
}

// newCall fills in a call that is no copy and emits its rows.
func (r *Reader) newCall(s *stepState, row *row, c *callState, in input) {
	r.state.facts.calls++
	c.seq = s.seq
	s.seq++
	for _, f := range in.files() {
		c.row.Files = append(c.row.Files, clipBytes(r.redact(f), maxPath))
	}
	switch c.row.Kind {
	case archive.CallCommand:
		command := in.text("command", "script")
		if len(in.members) == 0 {
			command = unquote(in.raw)
		}
		c.row.Command = clipRunes(r.clean(command), maxCommand)
		c.brief = oneLine(r.clean(in.text("description")), maxDescription)
		c.batchPassage = r.putPassage(r.commandPassage(c, "", false))
	case archive.CallEdit:
		s.seq++ // kept for the result, should it fail
		c.brief = strings.Join(c.row.Files, " ")
		text, partial := r.editText(c, in)
		r.putPassage(r.passage(c, archive.KindEdit, text, partial))
	case archive.CallTask:
		r.taskUse(s, row, c, in)
		c.brief = r.describe(c.row.Kind, in)
	default:
		c.brief = r.describe(c.row.Kind, in)
		if c.row.Name == "ExitPlanMode" {
			r.reply(s, row, labelPlan, in.text("plan"))
		}
	}
	r.touch(c, row)
	c.batchCall = r.putCall(c)
}

// touch records the files of a call that works on files.
func (r *Reader) touch(c *callState, row *row) {
	switch c.row.Kind {
	case archive.CallRead, archive.CallEdit, archive.CallSearch:
	default:
		return
	}
	for _, path := range c.row.Files {
		r.out.Files = append(r.out.Files, archive.FileTouch{
			Session: r.base.ID, Turn: c.row.Turn, Step: c.row.Step, Seq: c.row.Seq,
			Path: path, Kind: c.row.Kind, Line: row.line, Time: row.time,
		})
	}
}

// putCall emits a call, in place of its earlier form in this batch.
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

// findCall returns the index of a call that waits for its result, or -1.
func (r *Reader) findCall(id []byte) int {
	for i := len(r.state.pending) - 1; i >= 0; i-- {
		if r.state.pending[i].row.ToolID == string(id) {
			return i
		}
	}
	return -1
}

// boundCalls forgets the oldest calls when too many wait.
func (r *Reader) boundCalls() {
	p := r.state.pending
	size, from := 0, len(p)
	for from > 0 && len(p)-from < maxPending {
		c := &p[from-1]
		size += len(c.row.Command) + len(c.brief) + len(c.task.Subject) + 64
		for _, f := range c.row.Files {
			size += len(f)
		}
		if size > maxPendingBytes && from < len(p) {
			break
		}
		from--
	}
	if from > 0 {
		r.state.pending = append(p[:0], p[from:]...)
	}
}

// forgetCalls forgets the calls of turns before turn; nothing answers them now.
func (r *Reader) forgetCalls(turn int) {
	kept := r.state.pending[:0]
	for _, c := range r.state.pending {
		if c.row.Turn >= turn {
			kept = append(kept, c)
		}
	}
	r.state.pending = kept
}

// editText says what an edit changes.
func (r *Reader) editText(c *callState, in input) (string, bool) {
	const half = archive.MaxPassage / 3
	partial := false
	part := func(mark, text string, n int) string {
		if text = r.clean(text); text == "" {
			return ""
		}
		short := clipBytes(text, n)
		if len(short) < len(text) {
			partial = true
			short += "…"
		}
		return mark + "\n" + short + "\n"
	}
	change := func(in input, n int) string {
		return part("--- old", in.text("old_string", "old_source"), n/3) +
			part("+++ new", in.text("new_string", "new_source", "content"), n*2/3)
	}
	var b strings.Builder
	b.WriteString(c.row.Name)
	for _, f := range c.row.Files {
		b.WriteString(" " + f)
	}
	b.WriteByte('\n')
	room := archive.MaxPassage - b.Len() - 64
	if room < half { // a path of absurd length
		return clipBytes(b.String(), archive.MaxPassage), true
	}
	edits := in.value("edits")
	if len(edits) == 0 {
		b.WriteString(change(in, room))
		return strings.TrimRight(b.String(), "\n"), partial
	}
	r.scan.list(edits, func(raw []byte) {
		if left := archive.MaxPassage - 64 - b.Len(); left > 200 {
			b.WriteString(change(r.scan.readInput(raw), min(left, half)))
		} else {
			partial = true
		}
	})
	return strings.TrimRight(b.String(), "\n"), partial
}
