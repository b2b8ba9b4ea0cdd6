package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// trigger is a literal that may announce a secret.
type trigger struct {
	lit  string
	fold bool // match any case; lit is lower case then
	// match looks at the literal that begins at offset at and returns the
	// secret, if there is one.
	match func(s string, at int) (Finding, bool)
}

// index finds triggers by one pair of neighbouring bytes of each, the pair that
// is rarest in text.
type index struct {
	bucket  [1 << 16]uint8 // by pair; 0: no trigger
	buckets [][]entry
}

type entry struct {
	trigger
	off int // offset of the pair in the literal
}

// triggerIndex is built at first use: a process that redacts nothing pays
// nothing for it.
var triggerIndex = sync.OnceValue(func() *index {
	x := &index{buckets: make([][]entry, 1, 128)}
	for _, t := range triggers() {
		x.add(t)
	}
	return x
})

func (x *index) add(t trigger) {
	e := entry{trigger: t}
	best := -1
	for i := range len(t.lit) - 1 {
		if w := weight(t.lit[i]) * weight(t.lit[i+1]); best < 0 || w < best {
			best, e.off = w, i
		}
	}
	for _, a := range cases(t.lit[e.off], t.fold) {
		for _, b := range cases(t.lit[e.off+1], t.fold) {
			slot := &x.bucket[pairOf(a, b)]
			if *slot == 0 {
				*slot = uint8(len(x.buckets))
				x.buckets = append(x.buckets, nil)
			}
			x.buckets[*slot] = append(x.buckets[*slot], e)
		}
	}
}

func pairOf(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

func cases(c byte, fold bool) []byte {
	if fold && isLower(c) {
		return []byte{c, c - 0x20}
	}
	return []byte{c}
}

// weight is how common a byte is in code and prose, roughly, per thousand.
func weight(c byte) int {
	switch {
	case isLower(c):
		return [26]int{50, 12, 28, 30, 85, 16, 15, 25, 50, 2, 6, 34, 22, 48, 52, 22, 2, 50, 52, 66, 22, 8, 8, 3, 10, 2}[c-'a']
	case isUpper(c):
		return 2
	case c == ' ':
		return 120
	}
	return 9
}

// scan finds every secret in s in one pass.
func scan(s string) []Finding {
	x := triggerIndex()
	var found []Finding
	if len(s) < 2 {
		return nil
	}
	p := uint16(s[0])
	for i := 1; i < len(s); i++ {
		p = p<<8 | uint16(s[i])
		b := x.bucket[p]
		if b == 0 {
			continue
		}
		n := len(found)
		found = probe(s, i-1, x.buckets[b], found)
		if len(found) == n {
			continue
		}
		// In a token there is nothing more to see, and a long value is not to be
		// looked through for every name in it: go on at the last byte.
		f := found[len(found)-1]
		if (!vague(f.Kind) || f.End-f.Start >= maxBare) && f.End-1 > i {
			i = f.End - 1
			p = uint16(s[i])
		}
	}
	return settle(s, found)
}

// probe tries the triggers whose pair stands at offset i.
func probe(s string, i int, entries []entry, found []Finding) []Finding {
	for k := range entries {
		e := &entries[k]
		at := i - e.off
		if at < 0 || at+len(e.lit) > len(s) {
			continue
		}
		if word := s[at : at+len(e.lit)]; word != e.lit && !(e.fold && equalFold(word, e.lit)) {
			continue
		}
		if f, ok := e.match(s, at); ok {
			found = append(found, f)
		}
	}
	return found
}

// equalFold compares with a lower-case literal of the same length.
func equalFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if isUpper(c) {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// settle orders findings, drops what touches a placeholder, and makes one of
// those that overlap: the widest span, under the more telling kind.
func settle(s string, found []Finding) []Finding {
	if len(found) == 0 {
		return nil
	}
	found = slices.DeleteFunc(found, func(f Finding) bool { return touchesPlaceholder(s, f) })
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Start, b.Start) })
	out := found[:0]
	for _, f := range found {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			last := &out[n-1]
			last.End = max(last.End, f.End)
			if vague(last.Kind) && !vague(f.Kind) {
				last.Kind = f.Kind
			}
			continue
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// touchesPlaceholder reports whether f lies over or in a placeholder.
func touchesPlaceholder(s string, f Finding) bool {
	from := max(0, f.Start-len(opening)-maxKind-hashLen-2)
	for {
		at := strings.Index(s[from:f.End], opening[:1])
		if at < 0 {
			return false
		}
		from += at
		if placeholderEnd(s, from) > f.Start {
			return true
		}
		from++
	}
}
