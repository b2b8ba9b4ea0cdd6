package embed

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// planes is in how many bits a query's component is weighed: its weight is one of
// 2^planes, 0 among them. A vector's distance is the sum of the weights of those
// components whose sign is not the query's, counted plane by plane in whole words.
const planes = 3

// ask is a query as signs and weights.
type ask struct {
	signs  []uint64
	planes [planes][]uint64 // plane b holds the weights' bits of value 2^b
	most   int              // the largest distance there can be
}

// weightStep is the difference between two weights, in deviations of the query's
// components: about that of the uniform quantiser with the least square error on a
// normal distribution.
const weightStep = 0.35

func newAsk(q []float32) ask {
	a := ask{signs: signs(nil, len(q), func(i int) bool { return q[i] > 0 })}
	var squares float64
	for _, x := range q {
		squares += float64(x) * float64(x)
	}
	step := weightStep * math.Sqrt(squares/float64(len(q)))
	weights := make([]int, len(q))
	for i, x := range q {
		if step > 0 {
			weights[i] = min(1<<planes-1, int(math.Round(math.Abs(float64(x))/step)))
		}
		a.most += weights[i]
	}
	for b := range planes {
		a.planes[b] = signs(nil, len(q), func(i int) bool { return weights[i]>>b&1 == 1 })
	}
	return a
}

// scan gives the signs of rows to p.
func (a *ask) scan(words []byte, p *pick) {
	if len(a.signs) == 2 && canCount() {
		a.scanTwo(words, p)
	} else {
		a.scanAny(words, p)
	}
}

// scanAny is scan for vectors of any length.
func (a *ask) scanAny(words []byte, p *pick) {
	le := binary.LittleEndian
	for row := 0; len(words) > 0; row++ {
		d := 0
		for i, w := range a.signs {
			differs := w ^ le.Uint64(words[8*i:])
			d += bits.OnesCount64(differs&a.planes[0][i]) + bits.OnesCount64(differs&a.planes[1][i])<<1 + bits.OnesCount64(differs&a.planes[2][i])<<2
		}
		if d <= p.limit {
			p.take(row, d)
		}
		words = words[8*len(a.signs):]
	}
}

// scanTwo is scanAny for vectors of two words, as the built-in table's are.
func (a *ask) scanTwo(words []byte, p *pick) {
	q := [8]uint64{a.signs[0], a.signs[1]}
	for b, plane := range a.planes {
		q[2+2*b], q[3+2*b] = plane[0], plane[1]
	}
	for row, rows := 0, len(words)/16; row < rows; row++ {
		n, d := within(&words[16*row], rows-row, &q, p.limit)
		if row += n; row < rows {
			p.take(row, d)
		}
	}
}

// pick keeps the vectors of the least distances among those that go by, at least
// want of them, if so many are allowed.
type pick struct {
	want  int
	keep  func(int64) bool
	limit int   // what lies farther is none of them
	count int   // of those within the limit
	at    []int // how many of them have each distance
	rows  []picked

	// Whose rows are given now: of which block, from which row on, and, with
	// keep, their passages.
	block, first uint32
	passages     []byte
}

// picked is a vector that was within the limit when it went by.
type picked struct {
	block, row, distance uint32
}

func newPick(want, most int, keep func(int64) bool) pick {
	// With rows in no order one in n is taken when n went by: about a dozen times
	// what is wanted among a million.
	return pick{want: want, keep: keep, limit: most, at: make([]int, most+1), rows: make([]picked, 0, 8*want)}
}

// take takes a row within the limit, if it is allowed, and lowers the limit as far
// as enough remain.
func (p *pick) take(row, distance int) {
	if p.keep != nil && !p.keep(passageAt(p.passages, row)) {
		return
	}
	p.rows = append(p.rows, picked{p.block, p.first + uint32(row), uint32(distance)})
	p.at[distance]++
	p.count++
	for p.count-p.at[p.limit] >= p.want {
		p.count -= p.at[p.limit]
		p.limit--
	}
}

// limitOf returns the distance within which want of all that were picked lie.
func limitOf(picks []pick, want int) int {
	limit := 0
	for ; limit < len(picks[0].at)-1; limit++ {
		for i := range picks {
			if limit <= picks[i].limit {
				want -= picks[i].at[limit]
			}
		}
		if want <= 0 {
			break
		}
	}
	return limit
}
