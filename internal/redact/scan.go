package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"strandline/internal/text"
)

// trigger is a literal that may precede or be part of a secret.
type trigger struct {
	lit  string
	fold bool // ignore case; lit is in lower case
	// match returns the secret at the literal, which begins at offset at. It sees
	// only the text around: its cost has a bound, and that of a scan is linear.
	match func(s string, at int) (finding, bool)
	// matches, if set, is called instead and returns several.
	matches func(s string, at int) []finding
	below   func(s string, at int) []finding // like matches, called if match finds nothing
	wide    bool                             // match sees more of the text
	encoded bool                             // the literal is part of base64
	pair    int                              // offset of the pair of bytes that is rarest in text; set by triggerIndex
}

// index finds triggers by the pair of adjacent bytes in each that is rarest in
// text.
type index struct {
	bucket  [1 << 16]uint16 // by pair; 0: no trigger
	buckets [][]trigger
}

// triggerIndex is built at first use, so that processes that redact nothing do not
// pay for it.
var triggerIndex = sync.OnceValue(func() *index {
	x := &index{buckets: make([][]trigger, 1, 128)}
	for _, t := range triggers() {
		best := -1
		for i := range len(t.lit) - 1 {
			if w := frequency(t.lit[i]) * frequency(t.lit[i+1]); best < 0 || w < best {
				best, t.pair = w, i
			}
		}
		for _, a := range cases(t.lit[t.pair], t.fold) {
			for _, b := range cases(t.lit[t.pair+1], t.fold) {
				slot := &x.bucket[uint16(a)<<8|uint16(b)]
				if *slot == 0 {
					*slot = uint16(len(x.buckets))
					x.buckets = append(x.buckets, nil)
				}
				x.buckets[*slot] = append(x.buckets[*slot], t)
			}
		}
	}
	return x
})

func cases(c byte, fold bool) []byte {
	if fold && text.IsLower(c) {
		return []byte{c, c - 0x20}
	}
	return []byte{c}
}

// frequency is roughly how often a byte occurs in code and prose, per thousand.
func frequency(c byte) int {
	switch {
	case text.IsLower(c):
		return [26]int{50, 12, 28, 30, 85, 16, 15, 25, 50, 2, 6, 34, 22, 48, 52, 22, 2, 50, 52, 66, 22, 8, 8, 3, 10, 2}[c-'a']
	case text.IsUpper(c):
		return 2
	case c == ' ':
		return 120
	}
	return 9
}

// scan returns the secrets in s.
func scan(s string) []finding {
	found := scanText(s)
	if v, ok := plainView(s); ok {
		found = append(found, v.original(scanText(v.text))...)
	}
	return merge(s, found)
}

// scanText returns the secrets in s as it is, unsorted.
func scanText(s string) []finding {
	x := triggerIndex()
	var found []finding
	decoded := 0 // base64 before this offset was decoded
	p := uint16(0)
	for i := 0; i < len(s); i++ {
		p = p<<8 | uint16(s[i])
		b := x.bucket[p]
		if b == 0 {
			continue
		}
		n := len(found)
		found = matchAt(s, i-1, x.buckets[b], found, &decoded)
		if len(found) == n {
			continue
		}
		// Skip the rest of a token, and of a long value, which may contain many
		// names: continue at its last byte.
		f := found[len(found)-1]
		if (!isGeneric(f.kind) || f.end-f.start >= maxBare) && f.end-1 > i {
			i = f.end - 1
			p = uint16(s[i])
		}
	}
	return found
}

// The bytes before and after a literal that a matcher sees.
const (
	windowBefore, windowAfter         = 1 << 10, 4 << 10
	wideWindowBefore, wideWindowAfter = 8 << 10, 32 << 10
)

// try calls the matcher of a literal at offset at, and continues a finding that
// ends with its window.
func (t *trigger) try(s string, at int, found []finding) []finding {
	lo, hi := max(0, at-windowBefore), min(len(s), at+windowAfter)
	if t.wide {
		lo, hi = max(0, at-wideWindowBefore), min(len(s), at+wideWindowAfter)
	}
	w := s[lo:hi]
	if t.matches != nil {
		for _, f := range t.matches(w, at-lo) {
			found = append(found, finding{f.kind, f.start + lo, f.end + lo})
		}
		return found
	}
	var f finding
	var ok bool
	if t.encoded {
		var plain string
		f, plain = encoded(w, at-lo)
		ok = len(scanText(plain)) > 0
	} else {
		f, ok = t.match(w, at-lo)
	}
	if !ok && t.below != nil {
		for _, f := range t.below(w, at-lo) {
			found = append(found, finding{f.kind, f.start + lo, f.end + lo})
		}
	}
	if !ok {
		return found
	}
	if f.end == len(w) && hi < len(s) {
		f.end += run(s[hi:], func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`", c) < 0 })
	}
	f = finding{f.kind, f.start + lo, f.end + lo}
	f.end += wrapped(s, f)
	return append(found, f)
}

// wrapped returns the length of the lines that continue a long token, each of which
// is as wide as the column at which an editor or a terminal broke it, but the last.
func wrapped(s string, f finding) int {
	const narrow = 40
	if f.kind != "jwt" && f.kind != kindToken || f.end == len(s) || s[f.end] != '\n' {
		return 0
	}
	width := f.end - strings.LastIndexByte(s[:f.end], '\n') - 1
	end := f.end
	for width >= narrow && end < len(s) && s[end] == '\n' {
		n := run(s[end+1:min(len(s), end+width+2)], isBearer)
		after := end + 1 + n
		if n == 0 || n > width || after < len(s) && s[after] > ' ' || wordLike(s[end+1:after]) {
			break
		}
		end = after
		if n < width {
			break
		}
	}
	return end - f.end
}

// matchAt tries the triggers whose pair is at offset i.
func matchAt(s string, i int, triggers []trigger, found []finding, decoded *int) []finding {
	for k := range triggers {
		t := &triggers[k]
		at := i - t.pair
		if at < 0 || at+len(t.lit) > len(s) {
			continue
		}
		if word := s[at : at+len(t.lit)]; word != t.lit && !(t.fold && strings.EqualFold(word, t.lit)) {
			continue
		}
		if t.encoded {
			if at < *decoded {
				continue
			}
			*decoded = at + run(s[at:min(len(s), at+maxEncoded)], isBase64)
		}
		found = t.try(s, at, found)
	}
	return found
}

// merge sorts findings, removes those that overlap a placeholder, and merges those
// that overlap each other into one with the more specific kind.
func merge(s string, found []finding) []finding {
	found = slices.DeleteFunc(found, func(f finding) bool { return touchesPlaceholder(s, f) })
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.start, b.start) })
	out := found[:0]
	for _, f := range found {
		if n := len(out); n > 0 && f.start < out[n-1].end {
			last := &out[n-1]
			last.end = max(last.end, f.end)
			if isGeneric(last.kind) && !isGeneric(f.kind) {
				last.kind = f.kind
			}
			continue
		}
		out = append(out, f)
	}
	return out
}

// touchesPlaceholder reports whether f overlaps a placeholder.
func touchesPlaceholder(s string, f finding) bool {
	from := max(0, f.start-len(opening)-maxKind-hashLen-2)
	for {
		at := strings.Index(s[from:f.end], opening[:1])
		if at < 0 {
			return false
		}
		from += at
		if placeholderEnd(s, from) > f.start {
			return true
		}
		from++
	}
}
