package compact

import (
	"math"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// vocabulary holds the terms of a session's past and the value of each.
type vocabulary struct {
	ids   map[string]int32
	terms []term
	value []float64 // by ID, set by score
	now   int32     // ordinal of the end of the past
	logs  []float64 // cached logarithms of integers, 0 where not computed
}

// term counts the places that hold a term. Places have ordinals, from the oldest
// in the past.
type term struct {
	seen, used     int32 // places that hold it; those written by the user or the model
	last, lastUsed int32 // ordinals of the newest of each
	countedSeen    int32 // ordinal counted last, plus one
	countedUsed    int32
	focus          float64 // added to a factor of 1 because the current work names it
	inSummary      bool    // the summary in the context names it
}

// id returns the ID of a term, adding it if it is new.
func (v *vocabulary) id(s string) int32 {
	id, ok := v.ids[s]
	if !ok {
		id = int32(len(v.terms))
		v.ids[s] = id
		v.terms = append(v.terms, term{})
	}
	return id
}

// learn counts the terms of a text at an ordinal; used reports that the user or
// the model wrote it, rather than a tool.
func (v *vocabulary) learn(s string, ordinal int, used bool) {
	text.Terms(s, func(term string) { v.count(v.id(term), int32(ordinal), used) })
}

// count counts a term at an ordinal, once for each.
func (v *vocabulary) count(id, ordinal int32, used bool) {
	t := &v.terms[id]
	if used {
		if t.countedUsed != ordinal+1 {
			t.countedUsed, t.lastUsed = ordinal+1, ordinal
			t.used++
			t.seen++
		}
	} else if t.countedSeen != ordinal+1 {
		t.countedSeen = ordinal + 1
		t.seen++
	}
	t.last = max(t.last, ordinal)
}

// known calls fn with each known term of a text.
func (v *vocabulary) known(s string, fn func(t *term)) {
	text.Terms(s, func(term string) {
		if id, ok := v.ids[term]; ok {
			fn(&v.terms[id])
		}
	})
}

// setFocus raises the value of the terms of a text that describes the current
// work.
func (v *vocabulary) setFocus(s string, focus float64) {
	v.known(s, func(t *term) { t.focus = max(t.focus, focus) })
}

// The logistic model of the probability that a term is needed again. The
// coefficients were fitted on sessions without a compaction, at simulated ones, and
// rounded; the selection is stable around them.
const (
	needBase     = 0.5
	needSeen     = 0.45 // per ln(places seen)
	needRecent   = -0.53
	needUsed     = 0.57
	needUses     = 0.75 // per ln(1 + places used)
	needUsedLast = -0.13
	// summaryFactor reduces the value of a term that the client's summary names.
	// Some is left, because a summary keeps names better than their context.
	summaryFactor = 0.3
)

// score sets the value of each term: the probability that it is needed, times its
// rarity, times the weight of its shape (1 if it has none).
func (v *vocabulary) score(weights map[string]float64) {
	v.value = make([]float64, len(v.terms))
	for i := range v.terms {
		t := &v.terms[i]
		w := (1 + t.focus) * v.rarity(t) * v.needProbability(t)
		if t.inSummary {
			w *= summaryFactor
		}
		v.value[i] = w
	}
	if len(weights) == 0 {
		return
	}
	for s, id := range v.ids {
		if w, ok := weights[shape(s)]; ok {
			v.value[id] *= w
		}
	}
}

func (v *vocabulary) rarity(t *term) float64 { return math.Log(1 + 2*float64(v.now+1)/float64(t.seen)) }

func (v *vocabulary) needProbability(t *term) float64 {
	z := needBase + needSeen*v.log(t.seen) + needRecent*v.log(v.age(t.last))
	if t.used > 0 {
		z += needUsed + needUses*v.log(1+t.used) + needUsedLast*v.log(v.age(t.lastUsed))
	} else {
		z += needUsedLast * (v.log(2*(v.now+1)) + 1)
	}
	return 1 / (1 + math.Exp(-z))
}

// age returns the number of messages since an ordinal, at least one.
func (v *vocabulary) age(ordinal int32) int32 { return 2*(v.now-ordinal) + 1 }

// log returns the natural logarithm of n. There are few different n and thousands
// of terms, so it caches the results.
func (v *vocabulary) log(n int32) float64 {
	if int(n) >= len(v.logs) {
		v.logs = append(v.logs, make([]float64, max(int(n)+1, int(2*v.now)+2)-len(v.logs))...)
	}
	if v.logs[n] == 0 {
		v.logs[n] = math.Log(float64(n))
	}
	return v.logs[n]
}

// unique appends the IDs of the known terms of a text to buf, ascending and each
// once, and returns the number of its ordinary words.
func (v *vocabulary) unique(s string, buf []int32) ([]int32, int) {
	from := len(buf)
	buf, words := v.find(s, buf)
	found := buf[from:]
	slices.Sort(found)
	return buf[:from+len(slices.Compact(found))], words
}

// find is unique without sorting and removing duplicates.
func (v *vocabulary) find(s string, buf []int32) ([]int32, int) {
	words := text.Terms(s, func(term string) {
		if id, ok := v.ids[term]; ok {
			buf = append(buf, id)
		}
	})
	return buf, words
}

// termIndex holds the terms of some texts and the vocabulary that numbers them. The
// vocabulary has no counts yet.
type termIndex struct {
	voc  *vocabulary
	ids  []int32
	ends []int // for each text, the end of its IDs
}

// parallelBytes is the size of text from which two goroutines scan it.
const parallelBytes = 256 << 10

func textsOf(passages []archive.Passage) []string {
	texts := make([]string, len(passages))
	for i := range passages {
		texts[i] = passages[i].Text
	}
	return texts
}

// indexTerms scans texts for terms, large ones in two halves at the same time.
func indexTerms(texts []string) *termIndex {
	total := 0
	for _, t := range texts {
		total += len(t)
	}
	if total < parallelBytes {
		return indexSerially(texts)
	}
	half, size := 0, 0
	for ; size < total/2; half++ {
		size += len(texts[half])
	}
	rest := make(chan *termIndex)
	go func() { rest <- indexSerially(texts[half:]) }()
	x := indexSerially(texts[:half])
	x.appendIndex(<-rest)
	return x
}

// appendIndex appends the index of the texts that follow. Terms get the IDs that
// one scan of all texts would have given them.
func (x *termIndex) appendIndex(next *termIndex) {
	ids := len(x.ids)
	names := next.voc.names()
	id := make([]int32, len(names))
	for i, s := range names {
		id[i] = x.voc.id(s)
	}
	for _, i := range next.ids {
		x.ids = append(x.ids, id[i])
	}
	for _, end := range next.ends {
		x.ends = append(x.ends, ids+end)
	}
}

// names returns the terms by ID.
func (v *vocabulary) names() []string {
	names := make([]string, len(v.ids))
	for s, id := range v.ids {
		names[id] = s
	}
	return names
}

// Typical bytes of text per term and per new term, to size slices and maps.
const (
	bytesPerTerm    = 40
	bytesPerNewTerm = 64
)

func indexSerially(texts []string) *termIndex {
	total := 0
	for _, t := range texts {
		total += len(t)
	}
	x := &termIndex{
		voc: &vocabulary{ids: make(map[string]int32, total/bytesPerNewTerm), terms: make([]term, 0, total/bytesPerNewTerm)},
		ids: make([]int32, 0, total/bytesPerTerm), ends: make([]int, 0, len(texts)),
	}
	add := func(s string) { x.ids = append(x.ids, x.voc.id(s)) }
	for _, t := range texts {
		text.Terms(t, add)
		x.ends = append(x.ends, len(x.ids))
	}
	return x
}

// text returns the terms of a text.
func (x *termIndex) text(text int) []int32 {
	from := 0
	if text > 0 {
		from = x.ends[text-1]
	}
	return x.ids[from:x.ends[text]]
}
