package claude

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"strandline/internal/archive"
)

// toolResult folds the answer of a tool, which may come many lines after the
// request, in another read.
func (r *Reader) toolResult(row *row, p *part, facts *resultFacts) {
	i := r.findCall(p.id)
	if i < 0 {
		r.orphan(row, p)
		return
	}
	c := r.state.pending[i]
	r.state.pending = append(r.state.pending[:i], r.state.pending[i+1:]...)
	r.reach(c.row.Turn, c.row.Step, row.line)
	if c.copied {
		return
	}
	raw := r.scan.outputText(p.raw)
	text := r.clean(bareError(raw))
	c.row.LineResult = row.line
	c.row.Failed = p.isError
	c.row.Duration = facts.duration
	if p.isError {
		said, refused := rejection(text)
		switch {
		case refused:
			why, _, _ := strings.Cut(said, "\n")
			c.row.Error = clipRunes(strings.TrimSuffix(archive.ErrorRefused+": "+why, ": "), maxError)
		case hasAnyPrefix(text, "Sibling tool call errored", "Cancelled: parallel tool call"):
			c.row.Error = archive.ErrorDropped
		default:
			c.row.Error = errorLine(text)
		}
		if said != "" && !c.side {
			r.aside(row, said)
		}
	}
	switch c.row.Kind {
	case archive.CallCommand:
		r.commandResult(&c, row, text, facts)
	case archive.CallTask:
		r.taskResult(&c, row, text, facts)
	case archive.CallEdit:
		if p.isError {
			c.seq++
			r.output(&c, row, text, facts)
		}
	default:
		if !isRecall(c.row.Name) || hasOwn(raw) && text != "" {
			r.output(&c, row, text, facts)
		}
	}
	r.putCall(&c)
}

// rejection reports whether the user refused a tool, and what was written with
// that. The client hands it to the model inside a text of its own.
func rejection(text string) (said string, refused bool) {
	if !strings.HasPrefix(text, "The user doesn't want ") {
		return "", false
	}
	_, said, _ = strings.Cut(text, "the user said:\n")
	return strings.TrimSpace(said), true
}

// orphan keeps the answer of a request that was never seen, or forgotten.
func (r *Reader) orphan(row *row, p *part) {
	if r.state.cut.copying || len(r.state.steps) == 0 {
		return
	}
	s := &r.state.steps[len(r.state.steps)-1]
	if s.row.Copy != nil {
		return
	}
	text := r.clean(r.scan.outputText(p.raw))
	if text == "" {
		return
	}
	text, partial := excerpt(text, excerptWhole, true)
	r.putPassage(archive.Passage{
		Turn: s.row.Turn, Step: s.row.Index, Seq: s.seq, Kind: archive.KindOutput, Text: text,
		LineFrom: row.line, LineTo: row.line + 1, Time: row.time, Partial: partial,
	})
	s.seq++
	s.dirty = true
}

// passage returns a passage of a call that covers its request.
func (r *Reader) passage(c *callState, kind archive.PassageKind, text string, partial bool) archive.Passage {
	label := c.row.Name
	if c.side {
		label = labelSide
	}
	return archive.Passage{
		Turn: c.row.Turn, Step: c.row.Step, Seq: c.seq, Kind: kind, Label: label, Text: text,
		Paths: c.row.Files, LineFrom: c.row.LineUse, LineTo: c.row.LineUse + 1, Time: c.time, Partial: partial,
	}
}

// until extends a passage to the line of the result, if that is in the same turn.
func (r *Reader) until(p archive.Passage, line int) archive.Passage {
	if p.Turn == r.state.turn.row.Index {
		p.LineTo = line + 1
	}
	return p
}

// commandResult completes the passage of a shell command with its outcome.
func (r *Reader) commandResult(c *callState, row *row, text string, facts *resultFacts) {
	outcome := ""
	code, known := exitCode(text)
	switch {
	case known:
		_, text, _ = strings.Cut(text, "\n")
	case facts.hasExit:
		code, known = facts.exit, true
	case !c.row.Failed && !facts.interrupted && !facts.background && !facts.nonzero:
		known = true
	}
	switch {
	case known:
		c.row.Exit = &code
		outcome = "[exit " + strconv.Itoa(code) + "]"
	case facts.interrupted:
		outcome = "[interrupted]"
	case facts.background:
		outcome = "[in background]"
	case c.row.Failed:
		outcome = "[failed]"
	}
	if text != "" {
		outcome += "\n" + text
	}
	p := r.until(r.commandPassage(c, outcome, true), row.line)
	if c.batchPassage >= 0 {
		p.Session = r.base.ID
		r.out.Passages[c.batchPassage] = p
		return
	}
	r.putPassage(p)
}

// commandPassage writes a command the way a terminal shows it. The command has
// up to two thirds of the room, its output an excerpt in the rest.
func (r *Reader) commandPassage(c *callState, outcome string, done bool) archive.Passage {
	const room = archive.MaxPassage * 2 / 3
	head, partial := "$ "+c.row.Command, utf8.RuneCountInString(c.row.Command) >= maxCommand
	if done && len(head) > room && len(outcome) > archive.MaxPassage-room {
		head, partial = clipBytes(head, room)+"…", true
	}
	head = clipBytes(head, archive.MaxPassage-maxDescription*4-64)
	if c.brief != "" {
		head += "\n# " + c.brief
	}
	if outcome != "" {
		left := max(archive.MaxPassage-len(head)-16, 0)
		short, cut := excerpt(outcome, min(excerptWhole, left), true)
		if len(short) > left {
			short, cut = clipBytes(short, left), true
		}
		head, partial = head+"\n"+short, partial || cut
	}
	return r.passage(c, archive.KindCommand, head, partial)
}

// output adds what another tool answered: what it was asked, and an excerpt.
func (r *Reader) output(c *callState, row *row, text string, facts *resultFacts) {
	whole, errors := excerptWhole, true
	switch c.row.Kind {
	case archive.CallAgent:
		if facts.background { // its result comes as a notice, or by its id
			text = launchedAs(text)
		}
		whole = archive.MaxPassage - maxInputSummary - 128
		errors = false
	case archive.CallRead:
		text = stripNumbers(text)
		errors = len(c.row.Files) > 0 && strings.HasSuffix(c.row.Files[0], ".log")
	case archive.CallSearch, archive.CallWeb, archive.CallEdit:
		errors = false
	}
	short, partial := excerpt(text, whole, errors)
	head := strings.TrimSpace(c.row.Name + " " + c.brief)
	if head == "" && short == "" {
		return
	}
	if short != "" {
		head += "\n" + short
	}
	p := r.passage(c, archive.KindOutput, clipBytes(head, archive.MaxPassage), partial || len(head) > archive.MaxPassage)
	r.putPassage(r.until(p, row.line))
}

// launchedAs is what is kept of the words that a sub-agent runs in the background.
func launchedAs(text string) string {
	_, id, ok := strings.Cut(text, "agentId: ")
	if !ok {
		return ""
	}
	if at := strings.IndexAny(id, " \n("); at >= 0 {
		id = id[:at]
	}
	return "[in background] agentId: " + clipBytes(id, maxID)
}

// stripNumbers removes the line numbers that the client puts before the lines of
// a file it read: spaces, digits and an arrow or a tab.
func stripNumbers(text string) string {
	if _, ok := numberedLine(text); !ok {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		if n, ok := numberedLine(line); ok {
			line = line[n:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// numberedLine returns the length of the line number that line begins with.
func numberedLine(line string) (int, bool) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	from := i
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	if i == from {
		return 0, false
	}
	for _, mark := range []string{"→", "\t"} {
		if strings.HasPrefix(line[i:], mark) {
			return i + len(mark), true
		}
	}
	return 0, false
}
