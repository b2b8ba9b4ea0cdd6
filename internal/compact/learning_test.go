package compact_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/bench/foresight"
	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// moment is a point of a real session at which it is compacted, and what is known
// of the session after it.
type moment struct {
	at, over time.Time // of the point, and when the terms needed after it are known
	project  string
	m        *memory
	cut      foresight.Cut
	real     bool // a compaction of the client
	teaches  bool // synthetic points of a session overlap: only the first counts
	times    map[archive.Ref]time.Time
	lines    [][]byte // of the transcript
	shapes   compact.Tallies
}

// request returns the request of the hook at that point.
func (x *moment) request(budget int) compact.Request {
	return compact.Request{Session: x.m.session.ID, AtLine: x.cut.Line, Budget: budget, Log: x.log}
}

// log returns messages that the index truncates.
func (x *moment) log(_ context.Context, _ string, from, to int, most int64) ([]transcript.Message, error) {
	if to == 0 {
		to = len(x.lines)
	}
	raw := bytes.Join(x.lines[from:to], nil)
	if cut := int64(len(raw)) - most; cut > 0 {
		raw = raw[cut:]
		raw = raw[bytes.IndexByte(raw, '\n')+1:]
	}
	return claude.Conversation(raw, nil), nil
}

// moments returns the points of all transcripts below a folder in the order of
// time.
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
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := slices.Collect(bytes.Lines(data))
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
				real: !made, teaches: !made || i == 0, times: times, lines: lines,
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

// taught is what one point taught: the terms that the restored context held, by
// whether they were needed, and the places of those terms.
type taught struct {
	from     *moment
	good, in []string // restored and needed; restored and not needed
	accesses []archive.Access
	shapes   compact.Tallies // of the compactions that maintenance learns from
}

// rule makes a lesson for a point from earlier ones.
type rule struct {
	name string
	make func(x *moment, past []taught) compact.Lesson
}

func rules() []rule {
	all := []rule{
		{"weights of shapes", weightsOfShapes},
		{"needed terms times 1.5: an oracle", oracle},
	}
	for _, lambda := range []float64{0.25, 0.5, 1, 2} {
		all = append(all, rule{fmt.Sprintf("specifics of use before in the project, up to +%.2f", lambda), termsOfUse(lambda, 0)})
	}
	for _, mu := range []float64{0.1, 0.3, 1} {
		all = append(all, rule{fmt.Sprintf("… up to +0.50, less %.1f for each time shown in vain", mu), termsOfUse(0.5, mu)})
	}
	return all
}

// oracle raises the terms that will be needed. It bounds the gain of any rule.
func oracle(x *moment, _ []taught) compact.Lesson {
	l := compact.Lesson{Terms: map[string]float64{}}
	for s := range x.cut.Needed {
		l.Terms[s] = 1.5
	}
	return l
}

// weightsOfShapes returns the weights that maintenance has learned by then, from
// all projects.
func weightsOfShapes(_ *moment, past []taught) compact.Lesson {
	sum := compact.Tallies{}
	for _, p := range past {
		sum.Add(p.shapes)
	}
	return compact.Lesson{Weights: sum.Weights()}
}

// termsOfUse raises terms that were restored and needed at earlier points of the
// project, and lowers those that were not needed.
func termsOfUse(lambda, mu float64) func(*moment, []taught) compact.Lesson {
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
		l := compact.Lesson{Terms: map[string]float64{}}
		for s, n := range times {
			l.Terms[s] = 1 + max(-0.6, min(lambda, lambda*n/3))
		}
		return l
	}
}

// replayBudgets are the sizes of the restored context. A single size is noise: one
// line can change its share by a twentieth.
func replayBudgets() []int { return []int{5000, 7000, 9500, 13_000, 18_000} }

const lessonBudget = 9500 // of the restored context that the rules learn from

// gains are differences of shares, by session.
type gains map[string][]float64

// replay visits the points in the order of time and returns the share with a rule
// minus the share without, averaged over all sizes, for each point that has
// earlier ones.
func replay(t *testing.T, r *foresight.Ruler, all []moment, off [][]float64, ru rule) (diffs, compactions gains) {
	t.Helper()
	diffs, compactions = gains{}, gains{}
	var waiting []taught
	for i := range all {
		x := &all[i]
		var past []taught
		for _, w := range waiting {
			if !w.from.over.After(x.at) {
				past = append(past, w)
			}
		}
		lesson := ru.make(x, past)
		d := 0.0
		for k, budget := range replayBudgets() {
			b, err := compact.RestoreWith(t.Context(), x.m, x.request(budget), lesson)
			if err != nil {
				t.Fatal(err)
			}
			d += (x.cut.Share(r, b.Text) - off[i][k]) / float64(len(replayBudgets()))
			if x.teaches && budget == lessonBudget {
				waiting = append(waiting, outcomeOf(x, r, b))
			}
		}
		if len(past) == 0 {
			continue
		}
		diffs[x.cut.Session] = append(diffs[x.cut.Session], d)
		if x.real {
			compactions[x.cut.Session] = append(compactions[x.cut.Session], d)
		}
	}
	return diffs, compactions
}

// outcomeOf returns what the restored context of a point taught.
func outcomeOf(x *moment, r *foresight.Ruler, b compact.Output) taught {
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
	if x.shapes != nil {
		w.shapes = x.shapes
	}
	return w
}

// shapesOf returns the tallies that maintenance learns from a point.
func shapesOf(t *testing.T, x *moment) compact.Tallies {
	t.Helper()
	var cut archive.Compaction
	if x.real {
		at := slices.IndexFunc(x.m.compactions, func(c archive.Compaction) bool { return c.Line == x.cut.Line })
		if at < 0 {
			t.Fatalf("%s: no compaction at line %d", x.cut.Session, x.cut.Line)
		}
		cut = x.m.compactions[at]
	} else {
		var ok bool
		var err error
		if cut, ok, err = compact.SyntheticCompaction(t.Context(), x.m, x.m.session.ID); err != nil || !ok {
			return nil
		}
	}
	got, err := compact.Learn(t.Context(), x.m, cut, compact.Request{Log: x.log})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestLearningReplay prints the table of docs/maintenance.md. It asserts nothing:
// the intervals show whether a rule helps.
func TestLearningReplay(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts; learning is not replayed")
	}
	r := foresight.NewRuler()
	all := moments(t, dir, r)
	off := make([][]float64, len(all))
	sums := make([]float64, len(replayBudgets()))
	for i := range all {
		x := &all[i]
		for k, budget := range replayBudgets() {
			b, err := compact.RestoreWith(t.Context(), x.m, x.request(budget), compact.Lesson{})
			if err != nil {
				t.Fatal(err)
			}
			off[i] = append(off[i], x.cut.Share(r, b.Text))
			sums[k] += off[i][k] / float64(len(all))
		}
		if x.teaches {
			x.shapes = shapesOf(t, x)
		}
	}
	t.Logf("%d cuts, mean share without learning %.3f at %d characters", len(all), sums, replayBudgets())
	for _, ru := range rules() {
		diffs, compactions := replay(t, r, all, off, ru)
		t.Logf("%-66s %v; compactions %v", ru.name, diffs, compactions)
	}
}

// String returns the mean difference with its 95 % interval by a bootstrap over
// sessions, because points of one session are not independent.
func (g gains) String() string {
	sessions := slices.Sorted(maps.Keys(g))
	draw := func(pick func() string) float64 {
		sum, n := 0.0, 0
		for range sessions {
			for _, d := range g[pick()] {
				sum, n = sum+d, n+1
			}
		}
		return sum / float64(max(n, 1))
	}
	next := 0
	mean := draw(func() string { next++; return sessions[next-1] })
	const draws = 4000
	rng := rand.New(rand.NewPCG(1, 2))
	means := make([]float64, draws)
	for i := range means {
		means[i] = draw(func() string { return sessions[rng.IntN(len(sessions))] })
	}
	slices.Sort(means)
	n := 0
	for _, ds := range g {
		n += len(ds)
	}
	return fmt.Sprintf("%d %+.4f [%+.4f, %+.4f]", n, mean, means[draws/40], means[draws-draws/40])
}
