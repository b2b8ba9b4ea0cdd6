package claude

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

const (
	maxTurnTitle    = 200 // characters
	maxSessionTitle = 120 // characters
)

// prompt handles a row with a prompt of the user: it starts a turn, records the keys
// that identify the turn and, unless the row is a copy, adds the prompt's text.
func (r *Reader) prompt(row *row) {
	body := r.redact(row.text)
	origin := r.promptCopy(row)
	if origin == nil {
		r.rewind(row)
		r.state.compaction.copying = false
	}
	r.startTurn(row, body, origin)
	t := &r.state.turn.row
	r.claim(row.key, t.Index, -1)
	if origin == nil {
		r.claim(promptKey(row), t.Index, -1)
		r.claim(momentKey(row), t.Index, -1)
	}
	if row.root || len(row.parent) > 0 {
		r.claim(r.sessionKey(tagParent, hashOf(row.parent)), t.Index, -1)
	}
	r.dequeued(row.text)
	if origin == nil {
		r.putTexts(archive.KindPrompt, "", body, row)
	}
}

// startTurn ends the current turn and starts the next with the prompt body. The first
// turn begins at line 0. origin is the turn that the prompt copies, nil if it is new.
func (r *Reader) startTurn(row *row, body string, origin *archive.Ref) {
	st := &r.state
	from := 0
	if st.turn.open {
		from = row.line
		r.claim(r.sessionKey(tagTail, st.turn.tail), st.turn.row.Index, -1)
		r.emitTurn()
		// The calls of earlier turns get no result any more.
		st.pending = slices.DeleteFunc(st.pending, func(c callState) bool { return c.row.Turn < st.turn.row.Index })
	}
	r.openTurn(row, from, origin)
	t := &st.turn.row
	t.Title = title(body, maxTurnTitle)
	t.PromptID = name(row.promptID)
	r.promptTitle(body)
}

// ensureTurn opens turn 0 for rows before any prompt.
func (r *Reader) ensureTurn(row *row, origin *archive.Ref) {
	if r.state.turn.open {
		return
	}
	if origin != nil {
		origin = &archive.Ref{Session: origin.Session, Turn: origin.Turn, Step: -1}
	}
	r.openTurn(row, 0, origin)
}

// openTurn makes a turn that begins at line from the current one.
func (r *Reader) openTurn(row *row, from int, origin *archive.Ref) {
	st := &r.state
	st.turn = turnState{open: true, row: archive.Turn{
		Index: st.facts.Turns, Start: row.time, End: row.time,
		LineFrom: from, LineTo: row.line + 1, Copy: origin,
	}}
	st.facts.Turns++
}

// emitTurn adds the current turn to the batch.
func (r *Reader) emitTurn() {
	t := r.state.turn.row
	t.Session = r.base.ID
	r.out.Turns = append(r.out.Turns, t)
}

// comment adds text that the user typed with a tool result or a rejected call. It
// belongs to the current turn and does not start one.
func (r *Reader) comment(row *row, body string) {
	if r.isMain(row) {
		r.ensureTurn(row, nil)
		r.putTexts(archive.KindPrompt, "", r.redact(body), row)
	}
}

// notice adds the summary and the result of a background task's notification to the
// current turn. It ignores a notification without a result.
func (r *Reader) notice(row *row, body string) {
	result := between(body, "<result>", "</result>")
	if result == "" || r.state.compaction.copying {
		return
	}
	if about := between(body, "<summary>", "</summary>"); about != "" {
		result = about + "\n" + result
	}
	r.ensureTurn(row, nil)
	short, partial := excerpt(r.clean(result), archive.MaxPassage-64, false)
	r.putInTurn(archive.Passage{Kind: archive.KindOutput, Label: "Agent", Text: short, Partial: partial}, row.line, row.time)
}

// rewind marks the turns that a prompt abandons as dead (rewound). If the prompt's
// parent is also the parent of an earlier prompt, these are that prompt's turn and
// all later ones; if it is a row of an earlier turn, all turns after that one.
func (r *Reader) rewind(row *row) {
	t := &r.state.turn
	if !t.open || r.typedAhead(row) {
		return
	}
	parent := hashOf(row.parent)
	if parent == 0 && (!row.root || r.state.facts.Compacts > 0) {
		return
	}
	dead := t.row.Index + 1
	if ref := r.lookup(r.sessionKey(tagParent, parent), dead, -1); ref != nil {
		dead = ref.Turn
	} else if turn, ok := r.turnOf(parent); ok {
		dead = turn + 1
	}
	for ; dead <= t.row.Index; dead++ {
		r.out.DeadTurns = append(r.out.DeadTurns, dead)
	}
}

// turnOf returns the index of the turn with a row. It knows the last maxRecent rows
// and the last row of each turn; ok is false for others.
func (r *Reader) turnOf(uuid uint64) (turn int, ok bool) {
	if uuid == 0 {
		return 0, false
	}
	recent := r.state.recent[max(len(r.state.recent)-maxRecent, 0):]
	for i := len(recent) - 1; i >= 0; i-- {
		if recent[i].uuid == uuid {
			return recent[i].turn, true
		}
	}
	if ref := r.lookup(r.sessionKey(tagTail, uuid), r.state.turn.row.Index+1, -1); ref != nil {
		return ref.Turn, true
	}
	return 0, false
}

// contentHash returns the hash of a text without leading and trailing white space.
func contentHash(body string) uint64 { return xxhash.Sum64String(strings.TrimSpace(body)) }
