package compact

import (
	"context"
	"math"
	"slices"

	"strandline/internal/archive"
)

// Taught is what was learned from cuts, by shape of name.
type Taught map[string]archive.Tally

// Add adds what another cut taught.
func (t Taught) Add(other Taught) {
	for s, x := range other {
		sum := t[s]
		t[s] = archive.Tally{Expected: sum.Expected + x.Expected, Needed: sum.Needed + x.Needed}
	}
}

// What Weights makes of tallies. Of each shape, trust is added as if so much had
// been expected and come out like the mean, so that few cuts teach little; and the
// root is taken, because a model that tells chances well spreads a block thinner.
// docs/maintenance.md has the figures.
const (
	trust      = 30
	mildness   = 0.5
	leastShape = 0.2
	mostShape  = 5
)

// Weights returns by what factor a name of each shape is worth more, or less, than
// the model of need says; nothing where nothing was learned.
func (t Taught) Weights() map[string]float64 {
	var all archive.Tally
	for _, s := range t.shapes() {
		all.Expected += t[s].Expected
		all.Needed += t[s].Needed
	}
	if all.Expected <= 0 || all.Needed <= 0 {
		return nil
	}
	mean := all.Needed / all.Expected
	out := make(map[string]float64, len(t))
	for s, x := range t {
		rate := (x.Needed + trust*mean) / (x.Expected + trust)
		out[s] = min(max(math.Pow(rate/mean, mildness), leastShape), mostShape)
	}
	return out
}

// shapes are those that were seen, in order: sums come out the same each time.
func (t Taught) shapes() []string {
	out := make([]string, 0, len(t))
	for s := range t {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// taughtBudget is the room of a block whose window of a session is learned from.
const taughtBudget = 9500

// enoughSteps is how many responses a session has that a cut is made up of.
const enoughSteps = 20

// MadeUp returns a cut at two fifths of a session that was never compacted; false
// where it is too short to tell anything.
func MadeUp(ctx context.Context, src Source, session string) (archive.Compaction, bool, error) {
	steps, err := src.Steps(ctx, archive.Span{Session: session})
	if err != nil || len(steps) < enoughSteps {
		return archive.Compaction{}, false, err
	}
	at := steps[len(steps)*2/5]
	return archive.Compaction{Session: session, Line: at.LineFrom, SummaryLine: -1, Turn: at.Turn, Time: at.Time}, true, nil
}

// Teach returns what a cut through a session teaches: a compaction or, of a session
// that has none, one that MadeUp gives. It returns nil where too little was needed
// afterwards to tell. What is known at the cut is read as for a block: of req Log
// and Redact count.
func Teach(ctx context.Context, src Measured, cut archive.Compaction, req Request) (Taught, error) {
	m := measure{ctx: ctx, src: src, cut: cut}
	if err := m.bounds(); err != nil {
		return nil, err
	}
	req.Session, req.AtLine, req.Budget = cut.Session, max(cut.Line, 1), taughtBudget
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return nil, err
	}
	if err := p.fill(ctx, req); err != nil {
		return nil, err
	}
	voc := newCollector(p, Request{}).voc
	if err := m.need(voc); err != nil || len(m.needed) < enoughNeeded {
		return nil, err
	}
	return voc.compare(m.needed), nil
}

// compare tallies what was expected of all names against what was needed.
func (v *vocabulary) compare(needed map[string]float64) Taught {
	names := make([]string, len(v.terms))
	for s, id := range v.ids {
		names[id] = s
	}
	out := Taught{}
	for id := range v.terms {
		t := &v.terms[id]
		if t.known {
			continue
		}
		surprise := v.surprise(t)
		x := archive.Tally{Expected: v.chance(t) * surprise}
		if needed[names[id]] > 0 {
			x.Needed = surprise
		}
		sum := out[shape(names[id])]
		out[shape(names[id])] = archive.Tally{Expected: sum.Expected + x.Expected, Needed: sum.Needed + x.Needed}
	}
	return out
}
