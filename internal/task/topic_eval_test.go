package task_test

import (
	"bufio"
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/task"
	"strandline/internal/transcript/claude"
)

// labels holds the manual boundaries: the lines by set and session.
func labels(t *testing.T) map[string]map[string][]int {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "boundaries.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string]map[string][]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Split(s.Text(), "\t")
		if len(fields) != 4 || fields[0] == "set" {
			continue
		}
		line, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		if out[fields[0]] == nil {
			out[fields[0]] = map[string][]int{}
		}
		out[fields[0]][fields[1]] = append(out[fields[0]][fields[1]], line)
	}
	return out
}

// realPast loads the history of a transcript.
func realPast(t testing.TB, path string) (*memory, *task.History) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	r, err := claude.NewReader(archive.Session{ID: id, Client: "claude"}, archive.Cursor{Session: id}, nil)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := r.Read(context.Background(), b, func(context.Context, []uint64) (map[uint64]archive.Ref, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	m := &memory{
		session: batch.Session, turns: batch.Turns, steps: batch.Steps, calls: batch.Calls, passages: batch.Passages,
		tasks: batch.Tasks, compactions: batch.Compactions,
	}
	for i := range m.turns {
		m.turns[i].Dead = slices.Contains(batch.DeadTurns, m.turns[i].Index)
	}
	p := m.load(t, 0)
	return m, p
}

// score compares boundaries, as step numbers, with the labels: precision and
// recall within one turn or three steps, and WindowDiff.
type score struct{ found, right, labels, hit, windows, wrong int }

func (s *score) add(want, got []int, near func(a, b int) bool, steps int) {
	s.found += len(got)
	s.labels += len(want)
	for _, g := range got {
		if slices.ContainsFunc(want, func(w int) bool { return near(w, g) }) {
			s.right++
		}
	}
	for _, w := range want {
		if slices.ContainsFunc(got, func(g int) bool { return near(w, g) }) {
			s.hit++
		}
	}
	k := max(2, int(math.Round(float64(steps)/float64(len(want)+1)/2)))
	in := func(b []int, from, to int) (n int) {
		for _, x := range b {
			if x > from && x <= to {
				n++
			}
		}
		return n
	}
	for i := 0; i+k < steps; i++ {
		s.windows++
		if in(want, i, i+k) != in(got, i, i+k) {
			s.wrong++
		}
	}
}

func (s *score) figures() (p, r, f1, wd float64) {
	p, r = float64(s.right)/float64(max(s.found, 1)), float64(s.hit)/float64(max(s.labels, 1))
	return p, r, 2 * p * r / max(p+r, 1e-9), float64(s.wrong) / float64(max(s.windows, 1))
}

// TestEvalTopics measures the topics found in real sessions against the labels:
//
//	STRANDLINE_EVAL_DATA=FOLDER go test ./internal/task -run EvalTopics -v
func TestEvalTopics(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts; topics are not measured")
	}
	for set, sessions := range labels(t) {
		var s, prompts score
		for id, lines := range sessions {
			paths, err := filepath.Glob(filepath.Join(dir, "*", id+".jsonl"))
			if err != nil || len(paths) != 1 {
				t.Fatalf("session %s: %d transcripts, %v", id, len(paths), err)
			}
			_, p := realPast(t, paths[0])
			atLine := func(line int) int {
				return slices.IndexFunc(p.Steps, func(x archive.Step) bool { return x.LineFrom >= line })
			}
			var want, got, every []int
			for _, l := range lines {
				want = append(want, atLine(l))
			}
			for _, b := range p.Boundaries(0, len(p.Steps)) {
				got = append(got, b.Moment)
			}
			for i, x := range p.Steps {
				if i > 0 && x.Turn != p.Steps[i-1].Turn {
					every = append(every, i)
				}
			}
			near := func(a, b int) bool { return a == b || max(a, b)-min(a, b) <= 3 }
			s.add(want, got, near, len(p.Steps))
			prompts.add(want, every, near, len(p.Steps))
			if testing.Verbose() {
				t.Logf("%s %s want %v", set, id[:8], want)
				t.Logf("%s          got  %v", set, p.Boundaries(0, len(p.Steps)))
			}
		}
		pr, r, f1, wd := s.figures()
		t.Logf("%-4s %d labels, %d found: precision %.2f, recall %.2f, F1 %.2f, WindowDiff %.2f", set, s.labels, s.found, pr, r, f1, wd)
		pr, r, f1, wd = prompts.figures()
		t.Logf("%-4s every prompt, %d found: precision %.2f, recall %.2f, F1 %.2f, WindowDiff %.2f", set, prompts.found, pr, r, f1, wd)
	}
}

// TestEvalInner measures boundaries within a turn against task lists: a task that is
// started begins a topic.
func TestEvalInner(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts; topics are not measured")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var s score
	sessions := 0
	for _, path := range paths {
		_, p := realPast(t, path)
		var want, got []int
		for _, x := range p.List() {
			inner := x.Start > 0 && x.Start < len(p.Steps) && p.Steps[x.Start].Turn == p.Steps[x.Start-1].Turn
			if x.Kind != task.KindAgent && inner && x.End-x.Start > 2 && !slices.Contains(want, x.Start) {
				want = append(want, x.Start)
			}
		}
		if len(want) < 3 {
			continue
		}
		sessions++
		for _, b := range p.Boundaries(0, len(p.Steps)) {
			if !b.Prompt {
				got = append(got, b.Moment)
			}
		}
		s.add(want, got, func(a, b int) bool { return max(a, b)-min(a, b) <= 3 }, len(p.Steps))
	}
	pr, r, f1, wd := s.figures()
	t.Logf("%d sessions, %d task starts, %d found: precision %.2f, recall %.2f, F1 %.2f, WindowDiff %.2f", sessions, s.labels, s.found, pr, r, f1, wd)
}
