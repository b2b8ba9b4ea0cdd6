package claude

import (
	"encoding/binary"
	"math"
	"time"

	"strandline/internal/archive"
)

// codec writes and reads the state of the fold. One function per type visits its
// fields in both directions, so that writing and reading agree.
type codec struct {
	buf     []byte
	reading bool
	bad     bool // the bytes are invalid
	version int  // of the state
}

func (c *codec) fail() {
	c.bad = true
	c.buf = nil
}

// integers visits signed numbers.
func integers[T ~int | ~int64](c *codec, ps ...*T) {
	for _, p := range ps {
		if !c.reading {
			c.buf = binary.AppendVarint(c.buf, int64(*p))
			continue
		}
		v, n := binary.Varint(c.buf)
		if n <= 0 {
			c.fail()
			return
		}
		*p, c.buf = T(v), c.buf[n:]
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

func (c *codec) bools(ps ...*bool) {
	for _, p := range ps {
		v := 0
		if *p {
			v = 1
		}
		integers(c, &v)
		*p = v == 1
	}
}

func (c *codec) strings(ps ...*string) {
	for _, p := range ps {
		n := c.length(len(*p))
		if !c.reading {
			c.buf = append(c.buf, *p...)
			continue
		}
		*p, c.buf = string(c.buf[:n]), c.buf[n:]
	}
}

// length visits a count. A count larger than the remaining bytes is invalid and
// read as 0.
func (c *codec) length(n int) int {
	integers(c, &n)
	if c.reading && (n < 0 || n > len(c.buf)) {
		c.fail()
		return 0
	}
	return n
}

func (c *codec) times(ps ...*time.Time) {
	const zero = math.MinInt64
	for _, p := range ps {
		v := int64(zero)
		if !p.IsZero() {
			v = p.UnixNano()
		}
		if integers(c, &v); v != zero {
			*p = time.Unix(0, v).UTC()
		}
	}
}

// list visits the elements of a slice.
func list[T any](c *codec, p *[]T, each func(*codec, *T)) {
	n := c.length(len(*p))
	for i := 0; i < n && !c.bad; i++ {
		if c.reading {
			*p = append(*p, *new(T))
		}
		each(c, &(*p)[i])
	}
}

// The functions below visit the rows in a state. The session of a row is set when
// the row is emitted.

func (c *codec) usage(u *archive.Usage) {
	integers(c, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite)
}

func (c *codec) ref(p **archive.Ref) {
	has := *p != nil
	if c.bools(&has); !has {
		return
	}
	if c.reading {
		*p = new(archive.Ref)
	}
	c.strings(&(*p).Session)
	integers(c, &(*p).Turn, &(*p).Step)
}

func (c *codec) facts(f *archive.Session) {
	c.strings(&f.Cwd, &f.GitBranch, &f.Version, &f.Model, &f.Title)
	c.times(&f.First, &f.Last)
	integers(c, &f.Turns, &f.Steps, &f.Calls, &f.Compacts)
	c.usage(&f.Usage)
	usd := math.Float64bits(f.Cost.USD)
	c.hash(&usd)
	f.Cost.USD = math.Float64frombits(usd)
	integers(c, &f.Cost.APITime, &f.Cost.Duration)
	integers(c, &f.Cost.Turns, &f.Cost.LinesAdded, &f.Cost.LinesGone)
}

func (c *codec) turn(t *turnState) {
	r := &t.row
	c.bools(&t.open)
	integers(c, &r.Index, &r.LineFrom, &r.LineTo, &r.Steps)
	c.strings(&r.Title, &r.PromptID)
	c.times(&r.Start, &r.End)
	c.ref(&r.Copy)
	integers(c, &t.seq)
	c.hash(&t.tail)
}

func (c *codec) step(s *stepState) {
	r := &s.row
	c.hash(&s.key)
	integers(c, &r.Turn, &r.Index, &r.LineFrom, &r.LineTo, &s.seq, &s.calls)
	c.strings(&r.MessageID, &r.Model, &r.Stop)
	c.times(&r.Time)
	c.usage(&r.Usage)
	c.bools(&r.APIError, &r.Sidechain)
	c.ref(&r.Copy)
	list(c, &s.tools, (*codec).hash)
}

func (c *codec) call(s *callState) {
	r := &s.row
	integers(c, &r.Turn, &r.Step, &r.Seq, &r.LineUse, &s.seq)
	kind := string(r.Kind)
	c.strings(&r.ToolID, &r.Name, &kind, &r.Command, &s.request)
	r.Kind = archive.CallKind(kind)
	list(c, &r.Files, func(c *codec, p *string) { c.strings(p) })
	c.times(&s.time)
	c.strings(&s.task.TaskID, &s.task.Subject, &s.task.Status)
	c.bools(&s.sidechain, &s.copied)
	r.LineResult = -1
	s.batchCall, s.batchPassage = -1, -1
}

func (c *codec) compaction(s *compactionState) {
	r := &s.row
	integers(c, &r.Index, &r.Line, &r.SummaryLine, &r.Kept, &r.Turn)
	c.strings(&r.Trigger)
	c.times(&r.Time)
	integers(c, &r.PreTokens, &r.PostTokens)
	integers(c, &r.Duration)
	c.bools(&r.Ours)
	c.hash(&s.boundary)
	c.strings(&s.promptID)
	c.times(&s.time)
	integers(c, &s.turn)
	c.bools(&s.open, &s.copying)
}

func (c *codec) recent(r *recentRow) {
	c.hash(&r.uuid)
	integers(c, &r.turn)
}

func (c *codec) queued(q *queued) {
	c.strings(&q.text)
	c.hash(&q.hash)
	integers(c, &q.line)
	c.times(&q.time)
}

func (c *codec) todo(t *todo) {
	c.hash(&t.id)
	c.strings(&t.status)
	if c.version > 1 {
		c.strings(&t.name)
	}
}
