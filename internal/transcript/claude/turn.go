package claude

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

const (
	maxTurnTitle    = 200 // characters
	maxSessionTitle = 120
)

// prompt folds the user's words: a turn begins.
func (r *Reader) prompt(row *row) {
	text := r.redact(row.text)
	origin := r.promptCopy(row)
	if origin == nil {
		r.rewind(row)
		r.state.cut.copying = false
	}
	r.startTurn(row, text, origin)
	t := &r.state.turn.row
	r.own(row.key, t.Index, -1)
	if origin == nil {
		r.own(promptKey(row), t.Index, -1)
		r.own(momentKey(row), t.Index, -1)
	}
	if row.root || len(row.parent) > 0 {
		r.own(r.place(tagParent, hashOf(row.parent)), t.Index, -1)
	}
	r.dequeued(row.text)
	if origin == nil {
		r.putTexts(archive.KindPrompt, "", text, row)
	}
}

// startTurn ends the running turn and begins the next. The first turn reaches
// back to the first line unless something was said before it.
func (r *Reader) startTurn(row *row, text string, origin *archive.Ref) {
	st := &r.state
	from := row.line
	if st.turn.open {
		r.own(r.place(tagTail, st.turn.tail), st.turn.row.Index, -1)
		r.emitTurn()
		r.forgetCalls(st.turn.row.Index)
	} else {
		from = 0
	}
	r.openTurn(row, from, origin)
	t := &st.turn.row
	t.Title = title(text, maxTurnTitle)
	t.PromptID = name(row.promptID)
	if st.facts.title == "" {
		st.facts.title = title(text, maxSessionTitle)
	}
}

// ensureTurn opens turn 0 for what is said before any prompt.
func (r *Reader) ensureTurn(row *row, origin *archive.Ref) {
	if r.state.turn.open {
		return
	}
	if origin != nil {
		origin = &archive.Ref{Session: origin.Session, Turn: origin.Turn, Step: -1}
	}
	r.openTurn(row, 0, origin)
}

func (r *Reader) openTurn(row *row, from int, origin *archive.Ref) {
	st := &r.state
	st.turn = turnState{open: true, row: archive.Turn{
		Index: st.facts.turns, Start: row.time, End: row.time,
		LineFrom: from, LineTo: row.line + 1, Copy: origin,
	}}
	st.facts.turns++
}

// emitTurn puts the running turn into the batch as it stands.
func (r *Reader) emitTurn() {
	t := r.state.turn.row
	t.Session = r.base.ID
	r.out.Turns = append(r.out.Turns, t)
}

// putTexts adds a text that belongs to the turn as a whole, in as many passages
// as it takes.
func (r *Reader) putTexts(kind archive.PassageKind, label, text string, row *row) {
	t := &r.state.turn
	for _, piece := range split(text) {
		r.putPassage(archive.Passage{
			Turn: t.row.Index, Step: -1, Seq: t.seq, Kind: kind, Label: label, Text: piece,
			LineFrom: row.line, LineTo: row.line + 1, Time: row.time,
		})
		t.seq++
	}
}

// aside adds words of the user that begin no turn: typed beside a tool's result,
// or with its rejection.
func (r *Reader) aside(row *row, text string) {
	if !r.main(row) {
		return
	}
	r.ensureTurn(row, nil)
	r.putTexts(archive.KindPrompt, "", r.redact(text), row)
}

// sideText adds what a sub-agent was told inside its parent's transcript.
func (r *Reader) sideText(row *row) {
	r.ensureTurn(row, nil)
	r.putTexts(archive.KindOutput, labelSide, r.redact(row.text), row)
}

// notice adds the report of a background task, of which the result counts.
func (r *Reader) notice(row *row, text string) {
	if r.state.cut.copying {
		return
	}
	result := between(text, "<result>", "</result>")
	if result == "" {
		return
	}
	if about := between(text, "<summary>", "</summary>"); about != "" {
		result = about + "\n" + result
	}
	r.ensureTurn(row, nil)
	piece, cut := excerpt(r.clean(result), archive.MaxPassage-64, false)
	t := &r.state.turn
	r.putPassage(archive.Passage{
		Turn: t.row.Index, Step: -1, Seq: t.seq, Kind: archive.KindOutput, Label: "Agent", Text: piece,
		LineFrom: row.line, LineTo: row.line + 1, Time: row.time, Partial: cut,
	})
	t.seq++
}

// rewind finds the turns that a prompt leaves behind: it hangs where an earlier
// prompt hung, or on a row of an earlier turn.
func (r *Reader) rewind(row *row) {
	t := &r.state.turn
	if !t.open || r.typedAhead(row) {
		return
	}
	parent := hashOf(row.parent)
	if parent == 0 && (!row.root || r.state.facts.compacts > 0) {
		return
	}
	dead := -1
	if ref := r.lookup(r.place(tagParent, parent), t.row.Index+1, -1); ref != nil {
		dead = ref.Turn
	} else if turn, ok := r.turnOf(parent); ok {
		dead = turn + 1
	}
	if dead < 0 {
		return
	}
	for i := dead; i <= t.row.Index; i++ {
		r.out.DeadTurns = append(r.out.DeadTurns, i)
	}
}

// turnOf returns the turn in which a row stands, if that is still known.
func (r *Reader) turnOf(uuid uint64) (int, bool) {
	if uuid == 0 {
		return 0, false
	}
	recent := r.state.recent[max(len(r.state.recent)-maxRecent, 0):]
	for i := len(recent) - 1; i >= 0; i-- {
		if recent[i].uuid == uuid {
			return recent[i].turn, true
		}
	}
	if ref := r.lookup(r.place(tagTail, uuid), r.state.turn.row.Index+1, -1); ref != nil {
		return ref.Turn, true
	}
	return 0, false
}

// contentHash tells whether two texts are the same words.
func contentHash(text string) uint64 { return xxhash.Sum64String(strings.TrimSpace(text)) }
