package claude

import (
	"encoding/binary"
	"math"
	"time"
)

// codec writes and reads the fold's state. One function per type goes through
// its fields for both directions, so that they can not drift apart.
type codec struct {
	buf     []byte
	reading bool
	bad     bool // the bytes read are not what was written
	version int  // of the state
}

func (c *codec) fail() {
	c.bad = true
	c.buf = nil
}

func (c *codec) int64(p *int64) {
	if !c.reading {
		c.buf = binary.AppendVarint(c.buf, *p)
		return
	}
	v, n := binary.Varint(c.buf)
	if n <= 0 {
		c.fail()
		return
	}
	*p, c.buf = v, c.buf[n:]
}

func (c *codec) ints(ps ...*int) {
	for _, p := range ps {
		v := int64(*p)
		c.int64(&v)
		*p = int(v)
	}
}

func (c *codec) hash(p *uint64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *p)
		return
	}
	if len(c.buf) < 8 {
		c.fail()
		return
	}
	*p, c.buf = binary.LittleEndian.Uint64(c.buf), c.buf[8:]
}

func (c *codec) float(p *float64) {
	v := math.Float64bits(*p)
	c.hash(&v)
	*p = math.Float64frombits(v)
}

func (c *codec) bools(ps ...*bool) {
	for _, p := range ps {
		v := 0
		if *p {
			v = 1
		}
		c.ints(&v)
		*p = v == 1
	}
}

func (c *codec) strings(ps ...*string) {
	for _, p := range ps {
		n := len(*p)
		if n = c.length(n); !c.reading {
			c.buf = append(c.buf, *p...)
			continue
		}
		*p, c.buf = string(c.buf[:n]), c.buf[n:]
	}
}

// length writes or reads a count; one that the rest of the bytes can not hold is
// an error and gives 0.
func (c *codec) length(n int) int {
	c.ints(&n)
	if c.reading && (n < 0 || n > len(c.buf)) {
		c.fail()
		return 0
	}
	return n
}

func (c *codec) duration(p *time.Duration) {
	v := int64(*p)
	c.int64(&v)
	*p = time.Duration(v)
}

func (c *codec) times(ps ...*time.Time) {
	for _, p := range ps {
		v := int64(math.MinInt64)
		if !p.IsZero() {
			v = p.UnixNano()
		}
		c.int64(&v)
		if c.reading {
			*p = time.Time{}
			if v != math.MinInt64 {
				*p = time.Unix(0, v).UTC()
			}
		}
	}
}

// list goes through the elements of a slice.
func list[T any](c *codec, p *[]T, each func(*codec, *T)) {
	n := c.length(len(*p))
	if c.reading {
		*p = nil
		for range n {
			if c.bad {
				return
			}
			var v T
			each(c, &v)
			*p = append(*p, v)
		}
		return
	}
	for i := range *p {
		each(c, &(*p)[i])
	}
}
