package claude

import (
	"cmp"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// The maximum lengths of names, in bytes. They are far above those in use; they
// limit the state that a hostile file can cause.
const (
	maxName = 200
	maxID   = 200
	maxPath = 1024
)

// name returns a short text such as an id or a version.
func name(b []byte) string { return text.Prefix(string(b), maxName) }

// fold adds one row to the state and emits the changes.
func (r *Reader) fold(row *row) {
	r.updateFacts(row)
	switch row.kind {
	case typeUser:
		r.user(row)
	case typeAssistant:
		r.assistant(row)
	case typeSystem:
		switch row.subtype {
		case subtypeBoundary:
			r.boundary(row)
		case forgottenTurn, forgottenStep:
			r.forgotten(row)
		}
	case typeAttachment:
		r.attachment(row)
	case typeQueue:
		r.queueOperation(row)
	case typeTitle, typeAutoTitle, typeSummary:
		r.clientTitle(row)
	}
	r.extendTurn(row)
}

// isMain reports whether a row is part of the session's own conversation. In a
// sub-agent's transcript every row is marked as a side chain.
func (r *Reader) isMain(row *row) bool {
	return !row.sidechain || r.base.Relation == archive.RelationAgent
}

// updateFacts reads the facts that any row may hold.
func (r *Reader) updateFacts(row *row) {
	f := &r.state.facts
	if f.Cwd == "" {
		f.Cwd = text.Prefix(r.redact(string(row.cwd)), maxPath)
	}
	if len(row.branch) > 0 && f.GitBranch != string(row.branch) {
		f.GitBranch = text.Prefix(r.redact(string(row.branch)), maxName)
	}
	if len(row.version) > 0 && f.Version != string(row.version) {
		f.Version = name(row.version)
	}
	f.First = cmp.Or(f.First, row.time)
	if row.time.After(f.Last) {
		f.Last = row.time
	}
	if row.kind == typeCost {
		f.Usage.Input = max(f.Usage.Input, row.usage.Input)
		f.Usage.Output = max(f.Usage.Output, row.usage.Output)
		f.Usage.CacheRead = max(f.Usage.CacheRead, row.usage.CacheRead)
		f.Usage.CacheWrite = max(f.Usage.CacheWrite, row.usage.CacheWrite)
	}
	if !row.hasCost {
		return
	}
	switch row.kind {
	case typeCost:
		row.cost.Turns = f.Cost.Turns
		f.Cost = row.cost
	case typeResult: // of print mode: running totals, but the turns since the last result
		f.Cost.USD = max(f.Cost.USD, row.cost.USD)
		f.Cost.APITime = max(f.Cost.APITime, row.cost.APITime)
		f.Cost.Duration = max(f.Cost.Duration, row.cost.Duration)
		f.Cost.Turns += row.cost.Turns
	}
}

// extendTurn extends the current turn to the row and remembers the row's turn.
func (r *Reader) extendTurn(row *row) {
	t := &r.state.turn
	if !t.open {
		return
	}
	t.row.LineTo = row.line + 1
	if row.time.After(t.row.End) {
		t.row.End = row.time
	}
	if len(row.uuid) == 0 || !r.isMain(row) {
		return
	}
	t.tail = hashOf(row.uuid)
	recent := append(r.state.recent, recentRow{t.tail, t.row.Index})
	if len(recent) >= 2*maxRecent {
		recent = keepLast(recent, maxRecent)
	}
	r.state.recent = recent
}

// user folds a row of type user: a prompt, tool results, or text of the client.
func (r *Reader) user(row *row) {
	switch row.class {
	case classSummary:
		r.summary(row)
	case classPrompt:
		switch {
		case !r.isMain(row): // a sub-agent's prompt in its parent's transcript
			r.ensureTurn(row, nil)
			r.putTexts(archive.KindOutput, labelSidechain, r.redact(row.text), row)
		case r.replacement(row):
		default:
			r.prompt(row)
		}
	case classComment:
		r.comment(row, row.text)
	case classEcho:
		r.state.echo = echoState{hashOf(row.uuid), text.Prefix(r.redact(row.text), archive.MaxPassage)}
	case classNotice:
		r.notice(row, row.text)
	default:
		r.expansion(row)
	}
	facts := row.result
	if row.results > 1 { // they are about one of the results, it is unknown which
		facts = resultFacts{}
	}
	for _, p := range r.scan.partsOf(row) {
		if p.kind == partToolResult {
			r.toolResult(row, &p, facts)
		}
	}
}

// expansion folds the instructions that a slash command expands to. The echo of
// the command, which is the row before, becomes the prompt.
func (r *Reader) expansion(row *row) {
	echo := r.state.echo
	if !row.meta || echo.text == "" || !r.isMain(row) || hashOf(row.parent) != echo.uuid || row.text == "" || isSynthetic(row.text) {
		return
	}
	r.state.echo = echoState{}
	row.text = echo.text
	r.prompt(row)
}

// putPassage adds a passage to the batch and returns its index there.
func (r *Reader) putPassage(p archive.Passage) int {
	p.Session = r.base.ID
	r.out.Passages = append(r.out.Passages, p)
	return len(r.out.Passages) - 1
}

// putInTurn adds a passage of one line to the current turn, outside its steps.
func (r *Reader) putInTurn(p archive.Passage, line int, at time.Time) {
	t := &r.state.turn
	p.Turn, p.Step, p.Seq = t.row.Index, -1, t.seq
	p.LineFrom, p.LineTo, p.Time = line, line+1, at
	t.seq++
	r.putPassage(p)
}

// putInStep adds a passage of one row to a step.
func (r *Reader) putInStep(s *stepState, p archive.Passage, row *row) {
	p.Turn, p.Step, p.Seq = s.row.Turn, s.row.Index, s.seq
	p.LineFrom, p.LineTo, p.Time = row.line, row.line+1, row.time
	s.seq++
	r.putPassage(p)
}

// putTexts adds a text to the current turn, as one or more passages.
func (r *Reader) putTexts(kind archive.PassageKind, label, body string, row *row) {
	for _, piece := range split(body) {
		r.putInTurn(archive.Passage{Kind: kind, Label: label, Text: piece}, row.line, row.time)
	}
}
