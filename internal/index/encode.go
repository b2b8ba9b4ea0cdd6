package index

import (
	"hash/maphash"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// pathWeight is the number of occurrences that a term of a passage's paths counts as.
const pathWeight = 2

// minSlots is the number of slots that an Encoder begins with, a power of two.
const minSlots = 1024

// Encoder encodes the rows of terms that a store indexes. Its zero value is ready to
// use. It reuses its buffers, so one Encoder should encode many passages. It is not safe for concurrent use.
type Encoder struct {
	seed  maphash.Seed
	words []byte   // the terms of the text, then those of the paths
	slots []slot   // open addressing, a power of two
	order []uint32 // slots in the order of first occurrence
}

type slot struct {
	from, to uint32 // the term is words[from:to]
	count    uint32 // 0: free
}

// Append appends the row of a passage's terms to dst: each term once, in the order of
// first occurrence, with StrongMark if its impact is high, separated by spaces.
func (e *Encoder) Append(dst []byte, p *archive.Passage) []byte {
	e.words = terms.AppendTo(e.words[:0], p.Text)
	body := len(e.words)
	for _, path := range p.Paths {
		e.words = terms.AppendTo(e.words, path)
	}
	size := e.count(body)
	for i, at := range e.order {
		s := &e.slots[at]
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, e.words[s.from:s.to]...)
		if impact(float64(s.count), size) >= strongFrom {
			dst = append(dst, StrongMark...)
		}
		*s = slot{}
	}
	e.order = e.order[:0]
	return dst
}

// count counts the terms and returns the passage's size in terms.
func (e *Encoder) count(body int) (size float64) {
	n := uint32(len(e.words))
	for from := uint32(0); from < n; {
		to := from
		for to < n && e.words[to] != ' ' {
			to++
		}
		if to > from {
			weight := uint32(1)
			if int(from) >= body {
				weight = pathWeight
			} else {
				size++
			}
			e.add(from, to, weight)
		}
		from = to + 1
	}
	return size
}

func (e *Encoder) add(from, to, weight uint32) {
	if 2*len(e.order) >= len(e.slots) {
		e.grow()
	}
	i := e.find(from, to)
	s := &e.slots[i]
	if s.count == 0 {
		s.from, s.to = from, to
		e.order = append(e.order, i)
	}
	s.count += weight
}

// find returns the slot of a term, or the free slot for it.
func (e *Encoder) find(from, to uint32) uint32 {
	word := e.words[from:to]
	mask := uint32(len(e.slots) - 1)
	i := uint32(maphash.Bytes(e.seed, word)) & mask
	for {
		s := &e.slots[i]
		if s.count == 0 || string(e.words[s.from:s.to]) == string(word) {
			return i
		}
		i = (i + 1) & mask
	}
}

func (e *Encoder) grow() {
	old, order := e.slots, e.order
	if old == nil {
		e.seed = maphash.MakeSeed()
	}
	e.slots = make([]slot, max(minSlots, 2*len(old)))
	e.order = make([]uint32, 0, 2*len(order))
	for _, i := range order {
		j := e.find(old[i].from, old[i].to)
		e.slots[j] = old[i]
		e.order = append(e.order, j)
	}
}
