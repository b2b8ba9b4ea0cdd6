package claude

import (
	"strandline/internal/archive"
	"strandline/internal/text"
)

// boundary folds a compact_boundary row, at which the context was compacted.
func (r *Reader) boundary(row *row) {
	if !r.isMain(row) {
		return
	}
	r.ensureTurn(row, nil)
	st := &r.state
	facts := &row.compact
	// A known identity in a later row is a copy, not more of a step.
	for i := range st.steps {
		r.emitStep(&st.steps[i])
	}
	st.steps = st.steps[:0]
	st.compaction = compactionState{
		row: archive.Compaction{
			Index: st.facts.Compacts, Line: row.line, Time: row.time, Trigger: text.Prefix(facts.trigger, maxName),
			PreTokens: facts.pre, PostTokens: facts.post, Duration: facts.duration,
			SummaryLine: -1, Kept: facts.kept, Turn: st.turn.row.Index,
		},
		boundary: hashOf(row.uuid), time: row.time, turn: st.turn.row.Index,
		open: true, copying: !facts.segment,
	}
	st.facts.Compacts++
	r.emitCompaction()
}

// emitCompaction adds the last compaction to the batch, or replaces it there.
func (r *Reader) emitCompaction() {
	c := r.state.compaction.row
	c.Session = r.base.ID
	if n := len(r.out.Compactions); n > 0 && r.out.Compactions[n-1].Index == c.Index {
		r.out.Compactions[n-1] = c
		return
	}
	r.out.Compactions = append(r.out.Compactions, c)
}

// summary folds the client's summary of the compacted conversation.
func (r *Reader) summary(row *row) {
	r.ensureTurn(row, nil)
	c := &r.state.compaction
	ours := c.open && r.scan.replacement(row, r.base.ID, r.Owns) != ""
	if c.open {
		c.open, c.copying = false, false
		c.row.SummaryLine = row.line
		c.row.Ours = ours
		r.emitCompaction()
	}
	turn := r.state.turn.row.Index
	if ours || r.lookup(row.key, turn, -1) != nil {
		return // it repeats earlier rows
	}
	r.claim(row.key, turn, -1)
	r.putTexts(archive.KindSummary, "", r.redact(row.text), row)
}

// replacement folds a user row if it is part of a replacement conversation, which
// a plugin wrote instead of a summary: the parent of its first row is the
// boundary, further rows have the same prompt id, and none has a provenance.
func (r *Reader) replacement(row *row) bool {
	c := &r.state.compaction
	if !c.open || !c.copying || row.provenance {
		return false
	}
	parent := hashOf(row.parent)
	first := parent != 0 && parent == c.boundary
	if !first && (c.promptID == "" || c.promptID != name(row.promptID)) || r.promptCopy(row) != nil {
		return false
	}
	if first {
		c.promptID = name(row.promptID)
		if r.scan.replacement(row, r.base.ID, r.Owns) != "" {
			c.row.Ours = true
			r.emitCompaction()
			return true // it repeats earlier rows
		}
	}
	r.putTexts(archive.KindSummary, "plugin", r.redact(row.text), row)
	return true
}
