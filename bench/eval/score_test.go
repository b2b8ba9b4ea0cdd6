package eval

import (
	"math"
	"slices"
	"testing"
)

func TestScore(t *testing.T) {
	var s score
	s.add([]int{0, 4, 7}, 4) // three of four right answers within ten places
	s.add([]int{6}, 1)
	s.add(nil, 1)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	near("MRR", s.mrr(), (1+1.0/7)/3)
	near("Hit@1", s.mean(s.hit[0]), 1.0/3)
	near("Hit@10", s.mean(s.hit[2]), 2.0/3)
	near("R@1", s.mean(s.recall[0]), 0.25/3)
	near("R@5", s.mean(s.recall[1]), 0.5/3)
	near("R@10", s.mean(s.recall[2]), 1.75/3)
	near("no questions", (&score{}).mrr(), 0)
}

// A place is taken by an answer, however many passages say it.
func TestRanks(t *testing.T) {
	gold := map[string]bool{"b": true, "d": true}
	got := ranks([]string{"a", "a", "b", "b", "c", "a", "d"}, gold)
	if want := []int{1, 3}; !slices.Equal(got, want) {
		t.Errorf("ranks = %v, want %v", got, want)
	}
	if got := ranks([]string{"a"}, gold); len(got) != 0 {
		t.Errorf("ranks = %v, want none", got)
	}
}
