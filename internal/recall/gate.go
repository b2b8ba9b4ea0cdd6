package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// An exchange is worth injecting if it is surely about the question. The measure is the
// expected number: how many passages of the project would contain all matched terms if
// these met by chance. The smaller it is, the surer is the exchange. The values are fitted
// on real sessions and on testdata/questions; see TestQuestions.
const (
	// rareNumber is the largest expected number. It is also the largest number of passages
	// with a subject in a project of youngProject passages, and grows with the root of its
	// size.
	rareNumber  = 8.0
	localShare  = 0.06 // largest share of the sessions with a subject that is not rare
	minCoverage = 0.58 // least share of the question's weight in the exchange
	// Without a rare or local subject the expected number is at most 1/commonNumber, and
	// the coverage at least commonCoverage.
	commonNumber   = 3.0
	commonCoverage = 0.85
	unknownFactor  = 0.9 // weight of a term in no passage, relative to one in a single passage
	// contextShare is the least share of an exchange's weight in one passage of the context
	// that makes the exchange superfluous.
	contextShare = 0.8
	// youngProject is the number of passages that a smaller project is treated as having:
	// in it, counts do not show yet which words are common.
	youngProject = 1000
	// Of a question's terms, the rarest are searched for. Common ones have long lists, and
	// the excerpt shows whether it contains them.
	maxSearched   = 6
	leastSearched = 0.25 // of the rarest term's weight
)

// weighed is a term with its weight: the logarithm of the share of the passages that have
// it, negated. The weights of several terms add up to that of all of them by chance.
type weighed struct {
	archive.Term
	weight   float64
	found    bool // in some passage
	subject  bool // rare, or local to few sessions
	optional bool // an answer may lack it
}

// rarity weighs a question's terms in a project, the rarest first and those in no passage
// last. A set of terms has one bit for each, as in archive.Evidence.
type rarity struct {
	weighed  []weighed
	terms    []archive.Term // of weighed
	searched int            // the number of terms that are searched for
	total    float64        // weight of the terms that are not optional
	size     float64        // logarithm of the number of passages
	known    uint64         // terms in the context
	inside   float64        // largest weight of a passage in the context
}

// newRarity weighs the terms of q by their counts in the project.
func newRarity(q question, counts archive.Counts) *rarity {
	n := float64(max(counts.Passages, youngProject))
	g := &rarity{size: math.Log(n)}
	for i, t := range q.terms {
		df := float64(counts.Terms[i].Passages)
		x := weighed{Term: t, found: df > 0, optional: q.decision && i == len(q.terms)-1}
		x.weight = t.Weight * math.Log((n+1)/(max(df, 1)+0.5))
		if !x.found {
			x.weight *= unknownFactor
		}
		rare := df <= rareNumber*math.Sqrt(n/youngProject)
		local := float64(counts.Terms[i].Sessions) <= localShare*float64(counts.Sessions)
		x.subject = x.found && !x.optional && t.Weight >= 1 && (rare || local)
		if !x.optional {
			g.total += x.weight
		}
		g.weighed = append(g.weighed, x)
	}
	slices.SortStableFunc(g.weighed, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) }) // the rarest first
	missing := archive.Select(g.weighed, func(x weighed) bool { return !x.found })
	g.weighed = append(archive.Select(g.weighed, func(x weighed) bool { return x.found }), missing...)
	for i, x := range g.weighed {
		g.terms = append(g.terms, x.Term)
		if x.found && i < maxSearched && x.weight >= leastSearched*g.weighed[0].weight {
			g.searched = i + 1
		}
	}
	return g
}

// set returns the terms for which fn is true.
func (g *rarity) set(fn func(x weighed) bool) (set uint64) {
	for i, x := range g.weighed {
		if fn(x) {
			set |= 1 << i
		}
	}
	return set
}

// weigh returns the weight of a set of terms.
func (g *rarity) weigh(matched uint64) (w float64) {
	for i, x := range g.weighed {
		if matched&(1<<i) != 0 {
			w += x.weight
		}
	}
	return w
}

// accepts reports whether a text with the matched terms is worth injecting.
func (g *rarity) accepts(matched uint64) bool {
	w := g.weigh(matched)
	if g.weigh(matched&(1<<g.searched-1))*contextShare <= g.inside {
		return false
	}
	if matched&g.subjects()&^g.known != 0 {
		return w >= g.size-math.Log(rareNumber) && w >= minCoverage*g.total
	}
	return w >= g.size+math.Log(commonNumber) && w >= commonCoverage*g.total
}

// subjects returns the terms that are rare or local.
func (g *rarity) subjects() uint64 { return g.set(func(x weighed) bool { return x.subject }) }

// match returns the terms in a text.
func (g *rarity) match(s string) uint64 {
	words := strings.Fields(terms.Index(s))
	return g.set(func(x weighed) bool { return containsTerm(words, x.Term) })
}

// containsTerm reports whether words, as indexed, contain a term in any form.
func containsTerm(words []string, t archive.Term) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return w == t.Text || t.Prefix && strings.HasPrefix(w, t.Text) || listed(t.Forms, w)
	})
}
