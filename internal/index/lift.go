package index

import (
	"cmp"
	"math/bits"
	"slices"

	"strandline/internal/archive"
)

// A score also depends on the passage before, the turn and the session. The passage before
// counts if it is a prompt or a reply: files and output contain any word. Lift and Turn
// compute their parts from the lists, and Weigh adds up all parts.

// The weights of the parts of a score; the passage's own words have weight 1. They were
// fitted on commits of one project and on LoCoMo's conversations 1 to 5, and rounded;
// docs/recall.md lists the effect of each.
const (
	weighCovered = 0.4
	weighNear    = 0.7
	weighBefore  = 1.1
	weighAnswer  = 1.5
	weighSpeaker = 0.4
	weighType    = 0.5 // of the answer
	weighAsking  = -0.4
	weighTurn    = 0.5
	weighSession = 0.8
)

// The weights of the parts of a candidate's score, before its text is read.
const (
	liftBefore  = 0.8
	liftSession = 1.2
)

// The average sizes of a turn and a session in passages, as in usualSize.
const (
	usualTurn    = 20
	usualSession = 80
)

// strongCount is the number of occurrences that a passage with a strong term counts as.
const strongCount = 2

// Shape describes passage IDs: Session is the number of bits below the session's number,
// Place the number of bits below the sequence number. The places of consecutive passages
// differ by one.
type Shape struct{ Session, Place uint }

func (s Shape) session(id int64) int64 { return id >> s.Session }
func (s Shape) place(id int64) int64   { return id >> s.Place }

// Lift sets Words, Before and Session of candidates and adds them to their scores. The
// candidates must be in ascending order of their IDs, as Merge returns them.
func (s Shape) Lift(c []Candidate, lists []List, n int) {
	best := float32(0)
	for i := range c {
		best = max(best, c[i].Score)
	}
	if best == 0 {
		return
	}
	sessions := s.sessions(lists, n)
	most := float32(0)
	for i := range c {
		c[i].Words = c[i].Score / best
		c[i].Session = sessions[s.session(c[i].ID)]
		most = max(most, c[i].Session)
	}
	var worth [64]float32
	for i := range lists {
		worth[i%64] += float32(lists[i].weight(n)) * (strongImpact + weakImpact) / 2 / best
	}
	for i := range c {
		if i > 0 && s.place(c[i-1].ID)+1 == s.place(c[i].ID) && s.session(c[i-1].ID) == s.session(c[i].ID) && ID(c[i-1].ID).prose() {
			for more := c[i-1].terms &^ c[i].terms; more != 0; more &= more - 1 {
				c[i].Before += worth[bits.TrailingZeros64(more)]
			}
			c[i].Before = min(c[i].Before, 1)
		}
		if most > 0 {
			c[i].Session /= most
		}
		c[i].Score = c[i].Words + liftBefore*c[i].Before + liftSession*c[i].Session
	}
}

// Find returns those of the candidates that have one of the IDs, and a candidate of its
// session's share for each other ID. The candidates must be in ascending order of their IDs.
func (s Shape) Find(c []Candidate, ids []int64) []Candidate {
	return archive.Convert(ids, func(id int64) Candidate {
		at, ok := slices.BinarySearchFunc(c, id, func(x Candidate, id int64) int { return cmp.Compare(x.ID, id) })
		if ok {
			return c[at]
		}
		found := Candidate{ID: id}
		for _, x := range c[max(at-1, 0):min(at+1, len(c))] {
			if s.session(x.ID) == s.session(id) {
				found.Session = x.Session
			}
		}
		return found
	})
}

// weight returns the weight of the term among n passages.
func (l *List) weight(n int) float64 { return l.Term.Weight * idf(l.DF(), n) }

// sessions returns the BM25 score of every session that is in the lists. A passage counts
// as one occurrence of each of its terms, or strongCount of them.
func (s Shape) sessions(lists []List, n int) map[int64]float32 {
	size := map[int64]int64{}
	for i := range lists {
		for _, ids := range [][]int64{lists[i].Strong, lists[i].Weak} {
			s.runs(ids, func(session int64, run []int64) {
				size[session] = max(size[session], s.place(run[len(run)-1])-s.place(session<<s.Session)+1)
			})
		}
	}
	out := make(map[int64]float32, len(size))
	counts := make(map[int64]float64, len(size))
	for i := range lists {
		l := &lists[i]
		clear(counts)
		s.runs(l.Strong, func(session int64, run []int64) { counts[session] += strongCount * float64(len(run)) })
		s.runs(l.Weak, func(session int64, run []int64) { counts[session] += float64(len(run)) })
		weight := l.weight(n)
		for session, count := range counts {
			out[session] += float32(weight * count * (k1 + 1) / (count + k1*(1-b+b*float64(size[session])/usualSession)))
		}
	}
	return out
}

// runs calls fn with the IDs of each session, which are adjacent.
func (s Shape) runs(ids []int64, fn func(session int64, run []int64)) {
	for from := 0; from < len(ids); {
		session := s.session(ids[from])
		to := from + 1
		for to < len(ids) && s.session(ids[to]) == session {
			to++
		}
		fn(session, ids[from:to])
		from = to
	}
}

// Turn returns the BM25 score of the turn whose passages have IDs from first to last.
func (s Shape) Turn(lists []List, n int, first, last int64) (score float64) {
	size := float64(s.place(last)-s.place(first)) + 1
	for i := range lists {
		l := &lists[i]
		count := strongCount*within(l.Strong, first, last) + within(l.Weak, first, last)
		if count > 0 {
			score += l.weight(n) * count * (k1 + 1) / (count + k1*(1-b+b*size/usualTurn))
		}
	}
	return score
}

// within returns the number of IDs from first to last.
func within(ids []int64, first, last int64) float64 {
	from, _ := slices.BinarySearch(ids, first)
	to, _ := slices.BinarySearchFunc(ids[from:], last, func(id, last int64) int { return cmp.Or(cmp.Compare(id, last), -1) })
	return float64(to)
}

// kindPrior returns the part of a score that depends on the kind only: commands and output
// describe a topic less than prose does.
var kindPriors = map[archive.PassageKind]float64{archive.KindCommand: -0.3, archive.KindOutput: -0.1}

// Weigh computes the scores of hits from their evidence. The BM25 scores of passages, turns
// and sessions become shares of the best ones.
func Weigh(hits []*archive.Hit) {
	var best archive.Evidence
	for _, h := range hits {
		e := &h.Evidence
		best.Words, best.Turn, best.Session = max(best.Words, e.Words), max(best.Turn, e.Turn), max(best.Session, e.Session)
	}
	share := func(x *float64, best float64) {
		if best > 0 {
			*x /= best
		}
	}
	for _, h := range hits {
		e := &h.Evidence
		e.BM25 = e.Words
		share(&e.Words, best.Words)
		share(&e.Turn, best.Turn)
		share(&e.Session, best.Session)
		h.Score = e.Words + weighCovered*e.Covered + weighNear*e.Near + weighBefore*e.Before + weighTurn*e.Turn + weighSession*e.Session +
			weighAnswer*e.Answer + weighSpeaker*e.Speaker + weighType*e.AnswerType + weighAsking*e.Question
		h.Score = max(h.Score+kindPriors[h.Kind], leastScore)
	}
}

// leastScore is the minimal score of a hit.
const leastScore = 0.01
