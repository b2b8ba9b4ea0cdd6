package compact

import (
	"context"
	"maps"
	"math"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/config"
)

// Learner supplies the learned weights of term shapes. Its zero value supplies
// none.
type Learner struct {
	How config.Learn
	// Tallies returns the tallies of earlier compactions by shape.
	Tallies func() map[string]archive.Tally
}

// Weights returns the value multiplier of each shape, for Request.Weights; nil if
// learning is off.
func (l Learner) Weights() map[string]float64 {
	if l.How != config.LearnNames {
		return nil
	}
	return Tallies(l.Tallies()).Weights()
}

// Tallies holds, for each shape of terms, the weight that the model expected to be
// needed and the weight that was needed.
type Tallies map[string]archive.Tally

// The parameters of Weights. Each shape is smoothed by smoothing expected terms
// with the mean rate, so that few compactions change little. The exponent weakens
// the result, because a sharper one concentrates a text on fewer shapes.
// docs/maintenance.md has the figures.
const (
	smoothing      = 30
	weightExponent = 0.5
	minWeight      = 0.2
	maxWeight      = 5
)

// Weights returns the value multiplier of each shape: how much more or less often
// it was needed than expected. Nil if nothing was learned.
func (t Tallies) Weights() map[string]float64 {
	var all archive.Tally
	for _, s := range slices.Sorted(maps.Keys(t)) { // a fixed order, so that sums are reproducible
		all.Expected += t[s].Expected
		all.Needed += t[s].Needed
	}
	if all.Expected <= 0 || all.Needed <= 0 {
		return nil
	}
	mean := all.Needed / all.Expected
	out := make(map[string]float64, len(t))
	for s, x := range t {
		rate := (x.Needed + smoothing*mean) / (x.Expected + smoothing)
		out[s] = min(max(math.Pow(rate/mean, weightExponent), minWeight), maxWeight)
	}
	return out
}

const (
	// learnBudget is the budget whose loaded window is learned from, in units.
	learnBudget = 9500
	// minSteps is the number of steps from which a session without compactions is
	// learned from.
	minSteps = 20
)

// SyntheticCompaction returns a compaction to learn from for a session that has none, after two
// fifths of its steps; false if the session is too short.
func SyntheticCompaction(ctx context.Context, src Source, session string) (archive.Compaction, bool, error) {
	steps, err := src.Steps(ctx, archive.Span{Session: session})
	if err != nil || len(steps) < minSteps {
		return archive.Compaction{}, false, err
	}
	at := steps[len(steps)*2/5]
	return archive.Compaction{Session: session, Line: at.LineFrom, SummaryLine: -1, Turn: at.Turn, Time: at.Time}, true, nil
}

// Learn returns the tallies of a compaction, nil if too little was needed after
// it. Of req it uses Log and Redact.
func Learn(ctx context.Context, src Measured, c archive.Compaction, req Request) (Tallies, error) {
	m := measurement{ctx: ctx, src: src, compaction: c}
	if err := m.findNext(); err != nil {
		return nil, err
	}
	req.Session, req.AtLine, req.Budget = c.Session, max(c.Line, 1), learnBudget
	p, err := load(ctx, src, req.Session, req.AtLine, req.Budget)
	if err != nil {
		return nil, err
	}
	if err := p.complete(ctx, req); err != nil {
		return nil, err
	}
	terms := newScoredView(p, Request{}).terms
	if err := m.findNeeded(terms); err != nil || len(m.needed) < minNeeded {
		return nil, err
	}
	return terms.compare(m.needed), nil
}

// compare tallies the expected and the needed weight of all terms, except those
// that the summary in the context names.
func (v *vocabulary) compare(needed map[string]float64) Tallies {
	out := Tallies{}
	for id, name := range v.names() {
		t := &v.terms[id]
		if t.inSummary {
			continue
		}
		rarity, x := v.rarity(t), out[shape(name)]
		x.Expected += v.needProbability(t) * rarity
		if needed[name] > 0 {
			x.Needed += rarity
		}
		out[shape(name)] = x
	}
	return out
}
