package compact

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// Account is an outcome with the terms behind its shares. Each needed term is in one
// of the lists, the one with the most weight first.
type Account struct {
	Outcome
	Kept     []Term // in the summary or the replacement conversation
	Restored []Term // not there, but in the restored context
	Lost     []Term // in neither
	// Summary is the client's summary or the replacement conversation, Context the
	// restored context. Both are empty if the outcome has no shares.
	Summary, Context string
}

// Term is a term that the session knew before a compaction and used afterwards.
type Term struct {
	Text   string
	Weight float64
	Known  *archive.Ref // the last place before the compaction; nil if it is not loaded
	Used   archive.Ref  // the first place after it
}

// Explain is Measure with the terms behind the shares.
func Explain(ctx context.Context, src Measured, c archive.Compaction, budget int, rebuild Rebuild) (Account, error) {
	m, err := measure(ctx, src, c, budget, rebuild)
	if err != nil {
		return Account{}, err
	}
	out := Account{Outcome: m.out}
	if !m.out.HasShares {
		return out, nil
	}
	known := m.lastKnown()
	for _, s := range m.order {
		t := Term{Text: s, Weight: m.needed[s], Used: m.used[s]}
		if at, ok := known[s]; ok {
			t.Known = &at
		}
		switch {
		case m.kept[s]:
			out.Kept = append(out.Kept, t)
		case m.restored[s]:
			out.Restored = append(out.Restored, t)
		default:
			out.Lost = append(out.Lost, t)
		}
	}
	for _, list := range [][]Term{out.Kept, out.Restored, out.Lost} {
		slices.SortStableFunc(list, func(a, b Term) int { return cmp.Compare(b.Weight, a.Weight) })
	}
	out.Summary, out.Context = m.replaced, m.context
	return out, nil
}

// lastKnown returns the last place before the compaction that holds each needed term.
func (m *measurement) lastKnown() map[string]archive.Ref {
	out := map[string]archive.Ref{}
	look := func(turn, step int, body string) {
		text.Terms(body, func(s string) {
			at, seen := out[s]
			if m.needed[s] > 0 && (!seen || turn > at.Turn || turn == at.Turn && step > at.Step) {
				out[s] = m.past.ref(turn, step)
			}
		})
	}
	for _, list := range [][]archive.Passage{m.past.prompts, m.past.passages} {
		for _, x := range list {
			look(x.Turn, x.Step, x.Text)
		}
	}
	for _, x := range m.past.calls {
		look(x.Turn, x.Step, callText(x))
	}
	return out
}
