package recall

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// agentShare is what a hit in a sub-agent's session counts beside one of the
// main session: the conclusion stands in the main one.
const agentShare = 0.8

// againShare is what each further passage of the same step counts, so that one
// long output does not fill the answer.
const againShare = 0.5

// againTurn is what each further passage of the same turn counts.
const againTurn = 0.94

// fold keeps one of all hits that say the same: that of a main session before a
// sub-agent's, and the newest of those. It has the best score of its copies.
func fold(hits []Hit) []Hit {
	at := make(map[uint64]int, len(hits))
	out := hits[:0:0]
	for _, h := range hits {
		if archive.IsAgentID(h.Session) {
			h.Score *= agentShare
		}
		key := fingerprint(h.Text)
		i, ok := at[key]
		if !ok {
			at[key] = len(out)
			out = append(out, h)
			continue
		}
		kept := &out[i]
		score, copies := max(kept.Score, h.Score), kept.Copies+1
		if preferred(h, *kept) {
			*kept = h
		}
		kept.Score, kept.Copies = score, copies
	}
	byScore(out)
	return out
}

// preferred reports whether a stands for the text rather than b.
func preferred(a, b Hit) bool {
	if x, y := archive.IsAgentID(a.Session), archive.IsAgentID(b.Session); x != y {
		return y
	}
	return a.Time.After(b.Time)
}

// fingerprint is equal for texts that differ only in case, white space and
// punctuation.
func fingerprint(text string) uint64 {
	d := xxhash.New()
	var buf [64]byte
	n, begun, gap := 0, false, false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = begun // a blank is due, if another word follows
			continue
		}
		if n >= len(buf)-utf8.UTFMax {
			_, _ = d.Write(buf[:n]) // a digest's Write never fails
			n = 0
		}
		if gap {
			buf[n] = ' '
			n++
		}
		n += utf8.EncodeRune(buf[n:], unicode.ToLower(r))
		begun, gap = true, false
	}
	_, _ = d.Write(buf[:n])
	return d.Sum64()
}

// spread moves the further passages of a step behind the first ones of others,
// and those of a turn a little.
func spread(hits []Hit) []Hit {
	seen := make(map[archive.Ref]int, 2*len(hits))
	for i := range hits {
		step, turn := hits[i].Ref, hits[i].turn()
		for range seen[step] {
			hits[i].Score *= againShare
		}
		for range seen[turn] {
			hits[i].Score *= againTurn
		}
		seen[step]++
		seen[turn]++
	}
	byScore(hits)
	return hits
}

// wholeTurn is no step's number.
const wholeTurn = -2

// byScore sorts best first and, among equals, newest first.
func byScore(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return b.Time.Compare(a.Time)
	})
}
