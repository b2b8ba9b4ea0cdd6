package index

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// pathWeight is the number of occurrences that a term of a passage's paths counts as.
const pathWeight = 2

// minSlots is the number of slots that an Encoder begins with, a power of two.
const minSlots = 1024

// Encoder encodes the rows of terms that a store indexes. Its zero value is ready to use. It
// reuses its buffers, so one Encoder should encode many passages. It is not safe for
// concurrent use.
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

// Nanos returns a time as it is stored, in nanoseconds. The zero time is 0.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// instant is a time that is read from its Nanos.
type instant time.Time

// asTime returns t as a destination of a Scan.
func asTime(t *time.Time) *instant { return (*instant)(t) }

// Scan implements sql.Scanner.
func (t *instant) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is not a time", v)
	}
	*t = instant{}
	if n != 0 {
		*t = instant(time.Unix(0, n).UTC())
	}
	return nil
}

// list is a list of strings that is read from the result of EncodeList.
type list []string

// Scan implements sql.Scanner.
func (l *list) Scan(v any) (err error) {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%T is not a list", v)
	}
	*l, err = DecodeList(s)
	return err
}

// EncodeList returns a list of strings as it is stored: JSON, or "" if it is empty.
func EncodeList(v []string) string {
	if len(v) == 0 {
		return ""
	}
	b, _ := json.Marshal(v) // strings always marshal
	return string(b)
}

// DecodeList decodes the result of EncodeList.
func DecodeList(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if strings.HasPrefix(s, `["`) && strings.HasSuffix(s, `"]`) && strings.IndexByte(s, '\\') < 0 {
		return strings.Split(s[2:len(s)-2], `","`), nil // without escapes, like nearly all lists
	}
	var v []string
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	return v, nil
}

// Checksum returns a checksum of a passage's indexed text and paths, and of its kind, which
// is part of the ID. paths is the encoded list.
func Checksum(p *archive.Passage, paths string) int64 {
	var h xxhash.Digest
	h.Reset()
	for _, part := range []string{string(p.Kind), paths, p.Text} {
		_, _ = h.WriteString(part) // never fails
		_, _ = h.WriteString("\x00")
	}
	return int64(h.Sum64())
}

// ID numbers a passage:
//
//	session number | sequence within the session | 1 if a sub-agent's | kind
//	           ...   26 bits                       1 bit                3 bits
//
// Full-text search returns such numbers only, so most filters can be applied without
// reading rows. A session's passages have adjacent IDs, and newer ones larger IDs.
type ID int64

// The bits of an ID, counted from the lowest.
const (
	KindBits     = 3
	kindMask     = "7" // of these bits, in a query
	agentBit     = 1 << KindBits
	SeqShift     = KindBits + 1
	SessionShift = SeqShift + 26
)

// IDShape returns the Shape of an ID.
func IDShape() Shape { return Shape{Session: SessionShift, Place: SeqShift} }

// NewID returns the ID of a passage: seq is its sequence number within its session,
// agent says whether the session is a sub-agent's.
func NewID(session, seq int64, agent bool, kind archive.PassageKind) ID {
	id := session<<SessionShift | seq<<SeqShift | KindCode(kind)
	if agent {
		id |= agentBit
	}
	return ID(id)
}

// Session returns the number of the passage's session.
func (d ID) Session() int64 { return int64(d) >> SessionShift }

// Seq returns the passage's sequence number within its session.
func (d ID) Seq() int64 { return int64(d) >> SeqShift & (1<<(SessionShift-SeqShift) - 1) }

// Agent reports whether the passage is a sub-agent's.
func (d ID) Agent() bool { return d&agentBit != 0 }

// KindCode returns the code of the passage's kind.
func (d ID) KindCode() int64 { return int64(d) & (1<<KindBits - 1) }

// prose reports whether the passage is a prompt or a reply.
func (d ID) prose() bool {
	kind := kinds[d.KindCode()]
	return kind == archive.KindPrompt || kind == archive.KindReply
}

// SessionRange returns the smallest and the largest ID that a session's passages can
// have.
func SessionRange(session int64) (lo, hi int64) {
	return session << SessionShift, (session+1)<<SessionShift - 1
}

// kinds lists the kinds by their codes, which stored IDs contain: it may only grow.
// Code 0 is for kinds unknown to this version.
var kinds = [1 << KindBits]archive.PassageKind{
	1: archive.KindPrompt, 2: archive.KindReply, 3: archive.KindCommand, 4: archive.KindEdit, 5: archive.KindOutput, 6: archive.KindSummary,
}

// KindCode returns the code of a kind, 0 if it is unknown.
func KindCode(k archive.PassageKind) int64 { return int64(max(0, slices.Index(kinds[:], k))) }

// BaseID returns a session ID without its generation. Hooks know no generations:
// their facts belong to the name.
func BaseID(id string) string {
	base, _, _ := strings.Cut(id, "@")
	return base
}

// ValidID reports whether id can name a session, a sub-agent's session or an older
// generation of either.
func ValidID(id string) bool {
	h, err := archive.ParseHandle(id)
	return err == nil && h.Turn < 0 && h.Session == id
}
