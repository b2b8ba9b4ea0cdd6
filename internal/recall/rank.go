package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
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
	if err := s.setStoredMeaning(ctx, hits); err != nil {
		return err
	}
	if err := setMeaning(ctx, s.embedder, subject(s.req.Text), hits); err != nil {
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
	scores := archive.Convert(hits, func(h Hit) float64 { return h.Score })
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
			own = archive.Select(all, func(a archive.Access) bool {
				return a.Turn == h.Ref.Turn && (a.Step < 0 || a.Step == h.Ref.Step)
			})
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
		score, handles := max(kept.Score, h.Score), kept.CopyHandles
		if preferred(h, *kept) {
			h, *kept = *kept, h
		}
		kept.Score, kept.CopyHandles = score, append(handles, h.Handle)
		kept.Copies = len(kept.CopyHandles)
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
	var buf [512]byte
	hash := xxhash.New()
	n, inWord := 0, false
	for _, r := range text {
		word := true
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			buf[n] = byte(r)
			n++
		case 'A' <= r && r <= 'Z':
			buf[n] = byte(r) + 'a' - 'A'
			n++
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			n += utf8.EncodeRune(buf[n:], unicode.ToLower(r))
		default:
			if word = false; inWord {
				buf[n] = ' '
				n++
			}
		}
		if inWord = word; n > len(buf)-utf8.UTFMax {
			_, _ = hash.Write(buf[:n])
			n = 0
		}
	}
	if inWord {
		buf[n] = ' '
		n++
	}
	_, _ = hash.Write(buf[:n])
	return hash.Sum64()
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

// Confidence computes how likely a place of the archive still matters: it decays with
// time and grows when the place is given to the model. The value is computed from
// facts and stored nowhere, so that a rebuilt index gives the same one. It is a prior
// of the ranking and one of two conditions for leaving the hot tier, never a filter.
type Confidence struct {
	PerHour float64 // loss per hour, down to Minimum
	Minimum float64
	Shown   float64 // gain when the place is restored or recalled, up to FullConfidence
	Used    float64 // gain when restored content is used afterwards
}

// FullConfidence is the confidence of a new place, and the maximum.
const FullConfidence = 1.0

// DefaultConfidence returns the parameters of earlier systems, with twice the gain for
// content that was used. The decay to the minimum takes 180 hours.
func DefaultConfidence() Confidence { return ConfidenceWithDecay(0.005) }

// ConfidenceWithDecay returns the default parameters with another loss per hour.
func ConfidenceWithDecay(perHour float64) Confidence {
	return Confidence{PerHour: perHour, Minimum: 0.1, Shown: 0.03, Used: 0.06}
}

// At returns the confidence at the time now of a place created at another. accesses are
// the place's, in any order. An access before created counts as if at created, one after
// now is ignored. Time that runs backwards does not change the confidence.
func (c Confidence) At(created time.Time, accesses []archive.Access, now time.Time) float64 {
	value, last := FullConfidence, created
	// The result does not depend on the order of the facts.
	sorted := slices.SortedFunc(slices.Values(accesses), func(a, b archive.Access) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.How, b.How))
	})
	for _, a := range sorted {
		if a.Time.After(now) {
			break
		}
		value = c.decay(value, last, a.Time)
		if a.Time.After(last) {
			last = a.Time
		}
		gain := c.Shown
		if a.How == archive.AccessUsed {
			gain = c.Used
		}
		value = min(value+gain, FullConfidence)
	}
	return c.decay(value, last, now)
}

// TimeTo returns how long the confidence of a new place takes to decay to a value, and
// false if it never does.
func (c Confidence) TimeTo(value float64) (time.Duration, bool) {
	if value >= FullConfidence {
		return 0, true
	}
	if c.PerHour <= 0 || value < c.Minimum {
		return 0, false
	}
	return time.Duration((FullConfidence - value) / c.PerHour * float64(time.Hour)), true
}

// decay returns the rest of a value after the time between two moments.
func (c Confidence) decay(value float64, from, to time.Time) float64 {
	hours := max(to.Sub(from).Hours(), 0)
	return max(value-c.PerHour*hours, min(value, c.Minimum))
}
