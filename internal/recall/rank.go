package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// Factors on the score of a hit.
const (
	agentFactor      = 0.8  // in a sub-agent's session, whose conclusion is in the main session
	sameStepFactor   = 0.5  // each further passage of a step, so that a long output does not fill the answer
	sameTurnFactor   = 0.94 // each further passage of a turn
	confidenceWeight = 0.2  // of full confidence, relative to the words of the best passage
)

// rank adds meaning and confidence to the scores of hits.
func (s *search) rank(ctx context.Context, hits []Hit, limit int) error {
	if err := setMeaning(ctx, s.embedder, s.req.Text, hits); err != nil {
		return err
	}
	if err := s.setModelMeaning(ctx, hits); err != nil {
		return err
	}
	addMeaning(hits)
	return s.addConfidence(ctx, hits, limit)
}

// addConfidence adds the confidence of each hit's place to its score: recent passages,
// and those that the model has used again, are wanted more often. Accesses are read
// only for sessions whose hits can reach the first limit places.
func (s *search) addConfidence(ctx context.Context, hits []Hit, limit int) error {
	if len(hits) == 0 {
		return nil
	}
	scores := make([]float64, len(hits))
	for i := range hits {
		scores[i] = hits[i].Score
	}
	slices.Sort(scores)
	least := scores[max(len(scores)-limit, 0)] - confidenceWeight
	accesses := map[string][]archive.Access{} // by session
	now := s.now()
	for i := range hits {
		h := &hits[i]
		var own []archive.Access
		if h.Score >= least {
			all, known := accesses[h.Session]
			if !known {
				var err error
				if all, err = s.store.Accesses(ctx, h.Session); err != nil {
					return fmt.Errorf("search: %w", err)
				}
				accesses[h.Session] = all
			}
			for _, a := range all {
				if a.Turn == h.Ref.Turn && (a.Step < 0 || a.Step == h.Ref.Step) {
					own = append(own, a)
				}
			}
		}
		h.Why.Sure = s.Confidence.At(h.Time, own, now)
		h.Score += confidenceWeight * (h.Why.Sure - s.Confidence.Minimum)
	}
	return nil
}

// fold keeps one of all hits with the same text, with the best score of them: one in
// a main session before one in a sub-agent's, and the newest of those.
func fold(hits []Hit) []Hit {
	at := make(map[uint64]int, len(hits))
	out := hits[:0:0]
	for _, h := range hits {
		if archive.IsAgentID(h.Session) {
			h.Score *= agentFactor
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
	sortByScore(out)
	return out
}

// preferred reports whether a is kept and not b.
func preferred(a, b Hit) bool {
	if x, y := archive.IsAgentID(a.Session), archive.IsAgentID(b.Session); x != y {
		return y
	}
	return a.Time.After(b.Time)
}

// fingerprint hashes the letters and digits of a text, ignoring case, white space and
// punctuation.
func fingerprint(text string) uint64 {
	d := xxhash.New()
	var buf [64]byte
	n, started, gap := 0, false, false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = started
			continue
		}
		if n >= len(buf)-utf8.UTFMax {
			_, _ = d.Write(buf[:n]) // never fails
			n = 0
		}
		if gap {
			buf[n] = ' '
			n++
		}
		n += utf8.EncodeRune(buf[n:], unicode.ToLower(r))
		started, gap = true, false
	}
	_, _ = d.Write(buf[:n])
	return d.Sum64()
}

// spread lowers the scores of further passages of a step, and a little those of a
// turn, and sorts the hits.
func spread(hits []Hit) []Hit {
	seen := make(map[archive.Ref]int, 2*len(hits))
	for i := range hits {
		step, turn := hits[i].Ref, hits[i].turn()
		for range seen[step] {
			hits[i].Score *= sameStepFactor
		}
		for range seen[turn] {
			hits[i].Score *= sameTurnFactor
		}
		seen[step]++
		seen[turn]++
	}
	sortByScore(hits)
	return hits
}

// wholeTurn differs from every step's number.
const wholeTurn = -2

// sortByScore sorts best first and, at equal scores, newest first.
func sortByScore(hits []Hit) {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.Time.Compare(a.Time))
	})
}
