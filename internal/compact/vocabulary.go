package compact

import (
	"math"
	"slices"
)

// vocabulary knows the specifics of a session's past and how likely each is to
// be needed again.
type vocabulary struct {
	ids   map[string]int32
	terms []term
	worth []float64 // set by settle
	now   int32     // the moment of the cut
	logs  []float64 // of the whole numbers, 0 where not asked for yet
}

// term is what the past says about one specific. A moment is a step or a
// prompt, counted from the oldest one in view.
type term struct {
	seen, used     int32 // moments at which it stood anywhere; in the words or acts of user and model
	last, lastUsed int32
	markSeen       int32 // moment counted last, plus one
	markUsed       int32
	asked          float64 // how much more it is worth because the work in hand names it
	known          bool    // the summary in the context names it
}

// newVocabulary returns an empty one with room for some specifics.
func newVocabulary(moments, size int) *vocabulary {
	return &vocabulary{ids: make(map[string]int32, size), terms: make([]term, 0, size), now: int32(moments)}
}

// id returns the number of a specific, which it gives out at first sight.
func (v *vocabulary) id(s string) int32 {
	id, ok := v.ids[s]
	if !ok {
		id = int32(len(v.terms))
		v.ids[s] = id
		v.terms = append(v.terms, term{})
	}
	return id
}

// learn counts the specifics of text at a moment; used says that the user or
// the model wrote it, rather than a tool.
func (v *vocabulary) learn(text string, moment int, used bool) {
	scanSpecifics(text, func(s string) { v.count(v.id(s), int32(moment), used) })
}

// count counts a specific at a moment.
func (v *vocabulary) count(id, moment int32, used bool) {
	t := &v.terms[id]
	if used {
		if t.markUsed != moment+1 {
			t.markUsed, t.lastUsed = moment+1, moment
			t.used++
			t.seen++
		}
	} else if t.markSeen != moment+1 {
		t.markSeen = moment + 1
		t.seen++
	}
	t.last = max(t.last, moment)
}

// ask raises the specifics of text, which says what the work in hand is.
func (v *vocabulary) ask(text string, weight float64) {
	scanSpecifics(text, func(s string) {
		if id, ok := v.ids[s]; ok {
			v.terms[id].asked = max(v.terms[id].asked, weight)
		}
	})
}

// know marks the specifics that the context holds already.
func (v *vocabulary) know(text string) {
	scanSpecifics(text, func(s string) {
		if id, ok := v.ids[s]; ok {
			v.terms[id].known = true
		}
	})
}

// The chance that a specific is needed after a cut, as a logistic model of how
// often and how recently it was seen and used. The coefficients come from a fit
// on cuts through sessions that hold no compaction, rounded; what is chosen
// hardly changes around them.
const (
	needBase     = 0.5
	needSeen     = 0.45 // per ln(moments seen)
	needRecent   = -0.53
	needUsed     = 0.57
	needUses     = 0.75 // per ln(1 + moments used)
	needUsedLast = -0.13
	// knownShare is what is left of a specific's worth when the client's summary
	// names it: names are kept better than what goes with them.
	knownShare = 0.3
)

// settle computes what each specific is worth: the chance that it is needed
// times the surprise of it, which is small for what stands everywhere, and the
// weight that was learned for its shape, 1 where there is none.
func (v *vocabulary) settle(weights map[string]float64) {
	v.worth = make([]float64, len(v.terms))
	for i := range v.terms {
		t := &v.terms[i]
		w := (1 + t.asked) * v.surprise(t) * v.chance(t)
		if t.known {
			w *= knownShare
		}
		v.worth[i] = w
	}
	if len(weights) == 0 {
		return
	}
	for s, id := range v.ids {
		if w, ok := weights[shape(s)]; ok {
			v.worth[id] *= w
		}
	}
}

// surprise is small for what stands everywhere.
func (v *vocabulary) surprise(t *term) float64 {
	return math.Log(1 + 2*float64(v.now+1)/float64(t.seen))
}

// chance is how likely a specific is needed after the cut.
func (v *vocabulary) chance(t *term) float64 {
	z := needBase + needSeen*v.log(t.seen) + needRecent*v.log(v.age(t.last))
	if t.used > 0 {
		z += needUsed + needUses*v.log(1+t.used) + needUsedLast*v.log(v.age(t.lastUsed))
	} else {
		z += needUsedLast * (v.log(2*(v.now+1)) + 1)
	}
	return 1 / (1 + math.Exp(-z))
}

// age is how many messages ago a moment was, at least one.
func (v *vocabulary) age(moment int32) int32 { return 2*(v.now-moment) + 1 }

// log returns the logarithm of a number of moments. They are few, and a session
// has thousands of specifics.
func (v *vocabulary) log(n int32) float64 {
	if int(n) >= len(v.logs) {
		v.logs = append(v.logs, make([]float64, max(int(n)+1, int(2*v.now)+2)-len(v.logs))...)
	}
	if v.logs[n] == 0 {
		v.logs[n] = math.Log(float64(n))
	}
	return v.logs[n]
}

// keys returns the known specifics of text, each once in ascending order, and
// the count of its ordinary words.
func (v *vocabulary) keys(text string, buf []int32) ([]int32, int) {
	from := len(buf)
	buf, words := v.find(text, buf)
	found := buf[from:]
	slices.Sort(found)
	return buf[:from+len(slices.Compact(found))], words
}

// find appends the known specifics of text as they come, and returns the count
// of its ordinary words.
func (v *vocabulary) find(text string, buf []int32) ([]int32, int) {
	words := scanSpecifics(text, func(s string) {
		if id, ok := v.ids[s]; ok {
			buf = append(buf, id)
		}
	})
	return buf, words
}
