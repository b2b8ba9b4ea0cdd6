package claude

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// maxError is the maximum length of a call's error in characters.
const maxError = 500

// toolResult folds the result of a tool call. It may follow the request after many
// lines, in another read.
func (r *Reader) toolResult(row *row, p *part, facts resultFacts) {
	i := r.findCall(p.id)
	if i < 0 {
		r.orphanResult(row, p)
		return
	}
	c := r.state.pending[i]
	r.state.pending = append(r.state.pending[:i], r.state.pending[i+1:]...)
	r.extendStep(c.row.Turn, c.row.Step, row.line)
	if c.copied {
		return
	}
	body := r.clean(trimErrorTags(r.scan.outputText(p.raw)))
	c.row.LineResult = row.line
	c.row.Failed = p.isError
	c.row.Duration = facts.duration
	if p.isError {
		r.failedResult(&c, row, body)
	}
	switch c.row.Kind {
	case archive.CallCommand:
		r.commandResult(&c, row, body, facts)
	case archive.CallTask:
		r.taskResult(&c, row, body, facts)
	case archive.CallEdit:
		if p.isError {
			c.seq++
			r.output(&c, row, body, facts)
		}
	default:
		if !isRecall(c.row.Name) {
			r.output(&c, row, body, facts)
		}
	}
	r.putCall(&c)
}

// failedResult sets the error of a call, and adds the user's comment on a rejected
// call.
func (r *Reader) failedResult(c *callState, row *row, body string) {
	comment, rejected := rejection(body)
	switch {
	case rejected:
		why, _, _ := strings.Cut(comment, "\n")
		c.row.Error = truncateChars(strings.TrimSuffix(archive.ErrorRefused+": "+why, ": "), maxError)
	case text.HasAnyPrefix(body, "Sibling tool call errored", "Cancelled: parallel tool call"):
		c.row.Error = archive.ErrorDropped
	default:
		c.row.Error = errorLine(body)
	}
	if comment != "" && !c.sidechain {
		r.comment(row, comment)
	}
}

// rejection reports whether the user rejected a call, and returns the user's
// comment.
func rejection(body string) (comment string, rejected bool) {
	if !text.HasAnyPrefix(body, "The user doesn't want ", "The user rejected this tool call", "[Operation Cancelled] Reason: User") {
		return "", false
	}
	_, comment, _ = strings.Cut(body, "the user said:\n")
	return strings.TrimSpace(comment), true
}

// orphanResult keeps the result of a call that is unknown or was dropped.
func (r *Reader) orphanResult(row *row, p *part) {
	if r.state.compaction.copying || len(r.state.steps) == 0 {
		return
	}
	s := &r.state.steps[len(r.state.steps)-1]
	if s.row.Copy != nil {
		return
	}
	if body := r.clean(r.scan.outputText(p.raw)); body != "" {
		short, partial := excerpt(body, excerptWhole, true)
		r.putInStep(s, archive.Passage{Kind: archive.KindOutput, Text: short, Partial: partial}, row)
		s.dirty = true
	}
}

// callPassage returns a passage of a call's request.
func callPassage(c *callState, kind archive.PassageKind, body string, partial bool) archive.Passage {
	label := c.row.Name
	if c.sidechain {
		label = labelSidechain
	}
	return archive.Passage{
		Turn: c.row.Turn, Step: c.row.Step, Seq: c.seq, Kind: kind, Label: label, Text: body,
		Paths: c.row.Files, LineFrom: c.row.LineUse, LineTo: c.row.LineUse + 1, Time: c.time, Partial: partial,
	}
}

// extendPassage extends a passage to the line of the result, if it is in the
// current turn.
func (r *Reader) extendPassage(p archive.Passage, line int) archive.Passage {
	if p.Turn == r.state.turn.row.Index {
		p.LineTo = line + 1
	}
	return p
}

// commandResult completes the passage of a shell command with its outcome.
func (r *Reader) commandResult(c *callState, row *row, body string, facts resultFacts) {
	outcome := ""
	code, known := exitCode(body)
	switch {
	case known:
		_, body, _ = strings.Cut(body, "\n")
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
	if body != "" {
		outcome += "\n" + body
	}
	p := r.extendPassage(commandPassage(c, outcome, true), row.line)
	if c.batchPassage >= 0 {
		p.Session = r.base.ID
		r.out.Passages[c.batchPassage] = p
		return
	}
	r.putPassage(p)
}

// commandPassage formats a command as in a terminal. The command gets up to two
// thirds of the passage, the rest is an excerpt of its output.
func commandPassage(c *callState, outcome string, done bool) archive.Passage {
	const limit = archive.MaxPassage * 2 / 3
	head, partial := "$ "+c.row.Command, utf8.RuneCountInString(c.row.Command) >= maxCommand
	if done && len(head) > limit && len(outcome) > archive.MaxPassage-limit {
		head, partial = text.Prefix(head, limit)+"…", true
	}
	head = text.Prefix(head, archive.MaxPassage-maxDescription*4-64)
	if c.request != "" {
		head += "\n# " + c.request
	}
	if outcome != "" {
		left := max(archive.MaxPassage-len(head)-16, 0)
		short, cut := excerpt(outcome, min(excerptWhole, left), true)
		if len(short) > left {
			short, cut = text.Prefix(short, left), true
		}
		head, partial = head+"\n"+short, partial || cut
	}
	return callPassage(c, archive.KindCommand, head, partial)
}

// output adds the result of another tool: its request and an excerpt.
func (r *Reader) output(c *callState, row *row, body string, facts resultFacts) {
	whole, errors := excerptWhole, true
	switch c.row.Kind {
	case archive.CallAgent:
		if facts.background { // the result follows as a notice, or under the agent's id
			body = backgroundAgent(body)
		}
		whole = archive.MaxPassage - maxInputSummary - 128
		errors = false
	case archive.CallRead:
		body = stripLineNumbers(body)
		errors = len(c.row.Files) > 0 && strings.HasSuffix(c.row.Files[0], ".log")
	case archive.CallSearch, archive.CallWeb, archive.CallEdit:
		errors = false
	}
	short, partial := excerpt(body, whole, errors)
	head := strings.TrimSpace(c.row.Name + " " + c.request)
	if head == "" && short == "" {
		return
	}
	if short != "" {
		head += "\n" + short
	}
	p := callPassage(c, archive.KindOutput, text.Prefix(head, archive.MaxPassage), partial || len(head) > archive.MaxPassage)
	r.putPassage(r.extendPassage(p, row.line))
}

// backgroundAgent returns a note with the id in the report that a sub-agent was
// started in the background.
func backgroundAgent(body string) string {
	_, id, ok := strings.Cut(body, "agentId: ")
	if !ok {
		return ""
	}
	if at := strings.IndexAny(id, " \n("); at >= 0 {
		id = id[:at]
	}
	return "[in background] agentId: " + text.Prefix(id, maxID)
}
