package compact

import (
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
)

// injection returns what the journal tells of this compaction. The client runs
// the hook that restores shortly before or behind the boundary, so a fact
// belongs to the compaction that it is nearest to in time.
func (m *measure) injection() (*archive.Injection, error) {
	event := "SessionStart/compact"
	if m.cut.Ours {
		event = "session.compact/"
	}
	facts, err := m.src.Injected(m.ctx, m.cut.Session)
	if err != nil {
		return nil, err
	}
	var found *archive.Injection
	for i := range facts {
		if strings.HasPrefix(facts[i].Event, event) && m.nearest(facts[i].Time) {
			found = &facts[i]
		}
	}
	return found, nil
}

// nearest reports whether no other compaction is nearer to a time.
func (m *measure) nearest(at time.Time) bool {
	mine := m.cut.Time.Sub(at).Abs()
	return !slices.ContainsFunc(m.all, func(c archive.Compaction) bool {
		return c.Index != m.cut.Index && c.Time.Sub(at).Abs() < mine
	})
}

// share is the part of what was needed that is among the specifics of a text.
func (m *measure) share(said map[string]bool) float64 {
	var sum, total float64
	for _, s := range m.order {
		w := m.needed[s]
		total += w
		if said[s] {
			sum += w
		}
	}
	if total == 0 {
		return 0
	}
	return sum / total
}

// What makes a line of specifics more than a list of words: words beside them,
// or that it names one thing, as long as there are few such lines.
const (
	toldWords = 3
	bareNames = 2
	bareLines = 60
)

// conveyed returns the specifics that a text conveys.
func conveyed(text string) map[string]bool {
	out := map[string]bool{}
	bare := 0
	var names []string
	for l := range strings.SplitSeq(text, "\n") {
		names = names[:0]
		words := scanSpecifics(l, func(s string) {
			if !slices.Contains(names, s) {
				names = append(names, s)
			}
		})
		switch {
		case words >= toldWords:
		case len(names) > 0 && len(names) <= bareNames && bare < bareLines:
			bare++
		default:
			continue
		}
		for _, s := range names {
			out[s] = true
		}
	}
	return out
}
