package claude

import (
	"strandline/internal/archive"
)

// boundary folds a compact_boundary: the context was cut here.
func (r *Reader) boundary(row *row) {
	if !r.main(row) {
		return
	}
	r.ensureTurn(row, nil)
	st := &r.state
	facts := row.compact
	if facts == nil {
		facts = new(compactFacts)
	}
	// What comes now with a known identity is a copy, not the rest of a step.
	for i := range st.steps {
		r.emitStep(&st.steps[i])
	}
	st.steps = st.steps[:0]
	st.cut = cutState{
		row: archive.Compaction{
			Index: st.facts.compacts, Line: row.line, Time: row.time, Trigger: clipBytes(facts.trigger, maxName),
			PreTokens: facts.pre, PostTokens: facts.post, Duration: facts.duration,
			SummaryLine: -1, Kept: facts.kept, Turn: st.turn.row.Index,
		},
		boundary: hashOf(row.uuid), time: row.time,
		turn: st.turn.row.Index,
		open: true, copying: !facts.segment,
	}
	st.facts.compacts++
	r.emitCompaction()
}

// emitCompaction puts the last compaction into the batch, in place of an earlier
// form of it.
func (r *Reader) emitCompaction() {
	c := r.state.cut.row
	c.Session = r.base.ID
	if n := len(r.out.Compactions); n > 0 && r.out.Compactions[n-1].Index == c.Index {
		r.out.Compactions[n-1] = c
		return
	}
	r.out.Compactions = append(r.out.Compactions, c)
}

// summary folds the client's account of what was cut.
func (r *Reader) summary(row *row) {
	r.ensureTurn(row, nil)
	cut := &r.state.cut
	if cut.open {
		cut.open, cut.copying = false, false
		cut.row.SummaryLine = row.line
		cut.row.Ours = row.standsFor
		r.emitCompaction()
	}
	if row.standsFor {
		return // what it tells stands in front of the cut, and the rest is the client's frame
	}
	if r.lookup(row.key, r.state.turn.row.Index, -1) != nil {
		return
	}
	r.own(row.key, r.state.turn.row.Index, -1)
	r.putTexts(archive.KindSummary, "", r.redact(row.text), row)
}

// replacement reports whether a user row is part of a conversation that a plugin
// wrote in place of a summary, and folds it: it hangs on the boundary itself,
// further ones share its prompt id, and none says where it was typed.
func (r *Reader) replacement(row *row) bool {
	cut := &r.state.cut
	if !cut.open || !cut.copying || row.provenance {
		return false
	}
	parent := hashOf(row.parent)
	first := parent != 0 && parent == cut.boundary
	if !first && (cut.promptID == "" || cut.promptID != name(row.promptID)) {
		return false
	}
	if r.promptCopy(row) != nil {
		return false
	}
	if first {
		cut.promptID = name(row.promptID)
	}
	r.putTexts(archive.KindSummary, "plugin", r.redact(row.text), row)
	return true
}

// markOurs notes that a user row behind the boundary carries Strandline's mark.
func (r *Reader) markOurs(row *row) {
	cut := &r.state.cut
	if !cut.open || !cut.copying || row.provenance || cut.row.Ours {
		return
	}
	cut.row.Ours = true
	cut.promptID = name(row.promptID)
	r.emitCompaction()
}
