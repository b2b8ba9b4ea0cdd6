package compact_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/confidence"
	"strandline/internal/foresight"
)

// moment is a cut through a real session, with what is known of it afterwards.
type moment struct {
	at, over time.Time // of the cut, and when what was needed after it is known
	project  string
	m        *memory
	cut      foresight.Cut
	real     bool // a compaction of the client
	teaches  bool // made-up cuts of one session overlap: the first one tells all
	times    map[archive.Ref]time.Time
}

// moments lists all cuts of the transcripts below a folder in the order of time.
func moments(t *testing.T, dir string, r *foresight.Ruler) []moment {
	t.Helper()
	var all []moment
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" || strings.Contains(path, "subagents") {
			return err
		}
		s, err := foresight.Read(path, r)
		if err != nil {
			return err
		}
		cuts, made := s.Cuts(), false
		if len(cuts) == 0 {
			cuts, made = s.MadeUp(), true
		}
		if len(cuts) == 0 {
			return nil
		}
		m := readTranscript(t, path)
		times := map[archive.Ref]time.Time{}
		for _, x := range m.turns {
			times[archive.Ref{Turn: x.Index, Step: -1}] = x.Start
		}
		for _, x := range m.steps {
			times[archive.Ref{Turn: x.Turn, Step: x.Index}] = x.Time
		}
		for i, c := range cuts {
			at := m.session.First
			for _, x := range m.steps {
				if x.LineFrom < c.Line && x.Time.After(at) {
					at = x.Time
				}
			}
			if !made && i > 0 {
				all[len(all)-1].over = at
			}
			all = append(all, moment{
				at: at, over: m.session.Last, project: filepath.Base(filepath.Dir(path)), m: m, cut: c,
				real: !made, teaches: !made || i == 0, times: times,
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b moment) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.cut.Session, b.cut.Session), a.cut.Line-b.cut.Line)
	})
	return all
}

// taught is what one cut taught: the specifics that its block gave back, told
// apart by whether they were needed, and the places that held them.
type taught struct {
	from     *moment
	good, in []string // needed; shown in vain
	accesses []archive.Access
}

// rule makes a lesson for a moment of what earlier ones taught.
type rule struct {
	name string
	make func(x *moment, past []taught) compact.Lesson
}

func rules() []rule {
	all := []rule{{"confidence of places, the documented formula", placesByConfidence}}
	for _, lambda := range []float64{0.25, 0.5, 1, 2} {
		all = append(all, rule{fmt.Sprintf("specifics of use before in the project, up to +%.2f", lambda), specificsOfUse(lambda, 0)})
	}
	for _, mu := range []float64{0.1, 0.3, 1} {
		all = append(all, rule{fmt.Sprintf("… up to +0.50, less %.1f for each time shown in vain", mu), specificsOfUse(0.5, mu)})
	}
	return all
}

// placesByConfidence weighs what stands at a place with the place's confidence.
func placesByConfidence(x *moment, past []taught) compact.Lesson {
	of := map[archive.Ref][]archive.Access{}
	for _, p := range past {
		if p.from.cut.Session == x.cut.Session {
			for _, a := range p.accesses {
				of[a.Ref] = append(of[a.Ref], a)
			}
		}
	}
	return compact.Lesson{Place: func(h archive.Handle) float64 {
		ref := archive.Ref{Turn: h.Turn, Step: h.Step}
		return confidence.Default().At(x.times[ref], of[ref], x.at)
	}}
}

// specificsOfUse raises specifics that were given back and needed at earlier cuts
// in the project, and lowers those that were shown in vain.
func specificsOfUse(lambda, mu float64) func(*moment, []taught) compact.Lesson {
	return func(x *moment, past []taught) compact.Lesson {
		times := map[string]float64{}
		for _, p := range past {
			if p.from.project != x.project {
				continue
			}
			for _, s := range p.good {
				times[s]++
			}
			for _, s := range p.in {
				times[s] -= mu
			}
		}
		l := compact.Lesson{Specific: map[string]float64{}}
		for s, n := range times {
			l.Specific[s] = 1 + max(-0.6, min(lambda, lambda*n/3))
		}
		return l
	}
}

const replayBudget = 9500

// replay goes through the moments in time and returns the share with a rule less
// that without, for each moment that there was something to learn from.
func replay(t *testing.T, r *foresight.Ruler, all []moment, off []float64, ru rule) (diffs, compactions []float64) {
	t.Helper()
	var waiting []taught
	for i := range all {
		x := &all[i]
		var past []taught
		for _, w := range waiting {
			if !w.from.over.After(x.at) {
				past = append(past, w)
			}
		}
		req := compact.Request{Session: x.m.session.ID, AtLine: x.cut.Line, Budget: replayBudget}
		b, err := compact.RestoreTaught(t.Context(), x.m, req, ru.make(x, past))
		if err != nil {
			t.Fatal(err)
		}
		if len(past) > 0 {
			d := x.cut.Share(r, b.Text) - off[i]
			diffs = append(diffs, d)
			if x.real {
				compactions = append(compactions, d)
			}
		}
		if x.teaches {
			waiting = append(waiting, outcomeOf(x, r, b))
		}
	}
	return diffs, compactions
}

// outcomeOf is what the block of a moment taught.
func outcomeOf(x *moment, r *foresight.Ruler, b compact.Block) taught {
	w := taught{from: x}
	needed := map[string]bool{}
	for s := range r.Conveyed(b.Text) {
		if x.cut.Needed[s] > 0 {
			w.good, needed[s] = append(w.good, s), true
		} else {
			w.in = append(w.in, s)
		}
	}
	held := map[archive.Ref]map[string]bool{}
	for _, p := range x.m.passages {
		ref := archive.Ref{Turn: p.Turn, Step: p.Step}
		if held[ref] == nil {
			held[ref] = map[string]bool{}
		}
		r.Specifics(p.Text, held[ref])
	}
	for _, ref := range archive.RefsOf(x.m.session.ID, b.Handles) {
		ref.Session = ""
		w.accesses = append(w.accesses, archive.Access{Ref: ref, Time: x.at, How: archive.AccessRestored})
		for s := range held[ref] {
			if needed[s] {
				w.accesses = append(w.accesses, archive.Access{Ref: ref, Time: x.over, How: archive.AccessUsed})
				break
			}
		}
	}
	return w
}

// TestLearningReplay prints docs/lifecycle.md's table. Nothing here decides
// whether a rule is good enough: that is read off the intervals.
func TestLearningReplay(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts; learning is not replayed")
	}
	r := foresight.NewRuler()
	all := moments(t, dir, r)
	off := make([]float64, len(all))
	for i := range all {
		x := &all[i]
		req := compact.Request{Session: x.m.session.ID, AtLine: x.cut.Line, Budget: replayBudget}
		b, err := compact.RestoreTaught(t.Context(), x.m, req, compact.Lesson{})
		if err != nil {
			t.Fatal(err)
		}
		if plain := restore(t, x.m, req); !slices.Equal(plain.Handles, b.Handles) {
			t.Fatalf("%s at %d: the block without a lesson is another one", x.cut.Session, x.cut.Line)
		}
		off[i] = x.cut.Share(r, b.Text)
	}
	t.Logf("%d cuts, mean share without learning %.4f", len(all), mean(off))
	for _, ru := range rules() {
		diffs, compactions := replay(t, r, all, off, ru)
		lo, hi := interval(diffs)
		rlo, rhi := interval(compactions)
		t.Logf("%-70s %d cuts %+.4f [%+.4f, %+.4f]; %d compactions %+.4f [%+.4f, %+.4f]", ru.name, len(diffs), mean(diffs), lo, hi, len(compactions), mean(compactions), rlo, rhi)
	}
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(max(1, len(xs)))
}

// interval is the 95 % interval of a mean by a bootstrap over paired differences.
func interval(xs []float64) (lo, hi float64) {
	if len(xs) == 0 {
		return 0, 0
	}
	const draws = 4000
	rng := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, draws)
	for i := range means {
		sum := 0.0
		for range xs {
			sum += xs[rng.IntN(len(xs))]
		}
		means[i] = sum / float64(len(xs))
	}
	slices.Sort(means)
	return means[draws/40], means[draws-draws/40]
}
