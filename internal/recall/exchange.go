package recall

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// exchange is a turn that may answer a question, as far as a search found its passages.
type exchange struct {
	prompt, answer *archive.Hit // the best passage of each; one may be nil
	matched        uint64       // terms in both
	weight         float64      // of these terms, times factors
}

// time returns when the exchange took place.
func (x *exchange) time() time.Time { return cmp.Or(x.answer, x.prompt).Time }

// exchanges groups the hits outside the context by their turns, best first, of equal ones
// the newest. Hits in the context make their terms known.
func (g *rarity) exchanges(hits []archive.Hit, r PromptRequest, seen inContext) []*exchange {
	same := withoutSpace(r.Prompt)
	byTurn := map[archive.Ref]*exchange{}
	var list []*exchange
	for i := range hits {
		h := &hits[i]
		archived, known := h.Label == archive.LabelArchived, seen.contains(h.Passage)
		if known && !archived && (h.Kind != archive.KindPrompt || withoutSpace(h.Text) != same) { // not the prompt itself
			g.known |= h.Evidence.Matched
			g.inside = max(g.inside, g.weigh(h.Evidence.Matched))
		}
		if known || archived {
			continue
		}
		turn := archive.Ref{Session: h.Session, Turn: h.Turn}
		x := byTurn[turn]
		if x == nil {
			x = &exchange{}
			byTurn[turn], list = x, append(list, x)
		}
		side := &x.answer
		if h.Kind == archive.KindPrompt {
			side = &x.prompt
		}
		if *side == nil || g.better(h, *side) {
			*side = h
		}
	}
	g.sort(list)
	return list
}

// better reports whether a answers better than b.
func (g *rarity) better(a, b *archive.Hit) bool {
	x, y := g.weigh(a.Evidence.Matched)*factor(a), g.weigh(b.Evidence.Matched)*factor(b)
	if x < y*concludeFactor && y < x*concludeFactor && concludes(a) != concludes(b) {
		return concludes(a)
	}
	return x > y
}

// sort sets the weights of exchanges and sorts them.
func (g *rarity) sort(list []*exchange) {
	most := 0.0
	for _, x := range list {
		best := 0.0
		for _, h := range []*archive.Hit{x.prompt, x.answer} {
			if h != nil {
				x.matched |= h.Evidence.Matched
				best = max(best, factor(h))
			}
		}
		if x.answer == nil {
			best = 1 // its replies are not read yet
		}
		x.weight = best * g.weigh(x.matched)
		most = max(most, x.weight)
	}
	for _, x := range list {
		if x.weight*concludeFactor >= most && (concludes(x.prompt) || concludes(x.answer)) {
			x.weight *= concludeFactor
		}
	}
	slices.SortFunc(list, func(a, b *exchange) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), b.time().Compare(a.time()))
	})
}

// Factors on the weight of an exchange's terms.
const (
	concludeFactor = 1.15 // it states a decision, a reason or a result
	valueFactor    = 1.25 // it contains the type of value that is asked for
	askingFactor   = 0.8  // it is a question
	thinkingFactor = 0.75 // it is the model's reasoning, which often only repeats the question
	toolFactor     = 0.8  // it is a command, an output, or a summary of a whole session
)

// factor returns by how much a passage is a better or worse answer than its terms show.
func factor(h *archive.Hit) float64 {
	f := 1.0
	if h.Evidence.Question > 0 {
		f *= askingFactor
	}
	if h.Evidence.AnswerType > 0 {
		f *= valueFactor
	}
	switch {
	case h.Kind == archive.KindCommand || h.Kind == archive.KindOutput || h.Kind == archive.KindSummary:
		f *= toolFactor
	case h.Label == archive.LabelThinking:
		f *= thinkingFactor
	}
	return f
}

// maxConclusion is the size in bytes of the part of a passage that is checked.
const maxConclusion = 1500

// concludes reports whether a passage states a decision, a reason or a result.
func concludes(h *archive.Hit) bool {
	return h != nil && h.Evidence.Question == 0 && containsPart(strings.ToLower(text.Prefix(h.Text, maxConclusion)), concludeParts, "|")
}
