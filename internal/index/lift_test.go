package index_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// In these tests an ID has 4 bits for the kind, then 10 bits for the place, then the
// session.
func shape() index.Shape { return index.Shape{Session: 14, Place: 4} }

func id(session, place int64) int64 { return session<<14 | place<<4 | 1 }

func ids(session int64, places ...int64) (out []int64) {
	for _, p := range places {
		out = append(out, id(session, p))
	}
	return out
}

func lifted(lists []index.List, n int) map[int64]index.Candidate {
	c := shape().Merge(lists, n)
	shape().Lift(c, lists, n)
	out := map[int64]index.Candidate{}
	for _, x := range c {
		out[x.ID] = x
	}
	return out
}

func word(text string, weak ...int64) index.List {
	return index.List{Term: archive.Term{Text: text, Weight: 1}, Weak: weak}
}

func TestLiftByThePassageBefore(t *testing.T) {
	// The answer (place 6) holds one word, the question before it the other. Another
	// passage with the first word is far from any question.
	c := lifted([]index.List{word("deadlock", ids(1, 5, 20)...), word("scheduler", ids(1, 6, 30)...)}, 100)
	answer, alone := c[id(1, 6)], c[id(1, 30)]
	if answer.Before <= 0 || alone.Before != 0 {
		t.Errorf("before: %v after the question, %v elsewhere", answer.Before, alone.Before)
	}
	if answer.Score <= alone.Score {
		t.Errorf("score: %v after the question, %v elsewhere", answer.Score, alone.Score)
	}
	// Output contains any word, so it says nothing about the passage after it.
	output := id(1, 5) - 1 + index.KindCode(archive.KindOutput)
	c = lifted([]index.List{word("deadlock", output), word("scheduler", id(1, 6))}, 100)
	if b := c[id(1, 6)].Before; b != 0 {
		t.Errorf("before: %v after output", b)
	}
	// A word that both passages hold does not count.
	c = lifted([]index.List{word("deadlock", ids(1, 5, 6)...)}, 100)
	if b := c[id(1, 6)].Before; b != 0 {
		t.Errorf("before: %v for the same word", b)
	}
	// The last passage of a session is not before the first of the next.
	c = lifted([]index.List{word("deadlock", id(1, 1023)), word("scheduler", id(2, 0))}, 100)
	if b := c[id(2, 0)].Before; b != 0 {
		t.Errorf("before: %v from another session", b)
	}
}

func TestLiftBySession(t *testing.T) {
	about := ids(1, 3, 5, 7, 9)
	passing := ids(2, 400)
	c := lifted([]index.List{word("deadlock", append(about, passing...)...)}, 1000)
	if a, b := c[about[0]], c[passing[0]]; a.Session != 1 || b.Session >= a.Session || a.Score <= b.Score {
		t.Errorf("a session about it: %+v, one that names it: %+v", a, b)
	}
	// Four passages count less in a session of a thousand.
	long := ids(2, 3, 5, 7, 1000)
	c = lifted([]index.List{word("deadlock", append(about, long...)...)}, 1000)
	if a, b := c[about[0]], c[long[0]]; a.Session <= b.Session {
		t.Errorf("short session %v, long session %v", a.Session, b.Session)
	}
}

// Merge returns every passage of any lists once, in order, with the sum of its terms'
// impacts, across windows, sessions and gaps.
func TestMergeAddsUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var lists []index.List
		alone := map[int64]float64{}
		for i := range rapid.IntRange(0, 5).Draw(r, "lists") {
			var l index.List
			l.Term.Weight = float64(i + 1)
			for _, x := range []*[]int64{&l.Strong, &l.Weak} {
				at := int64(0)
				for range rapid.IntRange(0, 30).Draw(r, "ids") {
					at += 5 * rapid.SampledFrom([]int64{1, 2, 100, 819, 5000}).Draw(r, "gap")
					*x = append(*x, at<<4|1)
				}
			}
			l.Weak = index.Without(l.Weak, l.Strong)
			one := shape().Merge([]index.List{l}, 1000)
			for _, c := range one {
				alone[c.ID] += float64(c.Score)
			}
			lists = append(lists, l)
		}
		have := shape().Merge(lists, 1000)
		for i, c := range have {
			if i > 0 && have[i-1].ID >= c.ID {
				r.Fatalf("%d after %d", c.ID, have[i-1].ID)
			}
			if math.Abs(alone[c.ID]-float64(c.Score)) > 1e-3 {
				r.Fatalf("passage %d: %v, by its lists alone %v", c.ID, c.Score, alone[c.ID])
			}
		}
		if len(have) != len(alone) {
			r.Fatalf("%d passages, the lists hold %d", len(have), len(alone))
		}
	})
}

func TestTurn(t *testing.T) {
	lists := []index.List{word("deadlock", ids(1, 3, 4, 30)...), {Term: archive.Term{Text: "scheduler", Weight: 1}, Strong: ids(1, 4)}}
	of := func(first, last int64) float64 { return shape().Turn(lists, 100, id(1, first), id(1, last)) }
	if both, one, none := of(2, 6), of(29, 31), of(10, 20); !(both > one && one > 0 && none == 0) {
		t.Errorf("turn with both words %v, with one %v, with none %v", both, one, none)
	}
	if short, long := of(30, 30), of(30, 300); short <= long {
		t.Errorf("short turn %v, long turn %v", short, long)
	}
	if edge := of(4, 30); edge <= 0 {
		t.Error("the first and last passage of a turn do not count")
	}
}

func TestWeigh(t *testing.T) {
	hit := func(kind archive.PassageKind, e archive.Evidence) *archive.Hit {
		return &archive.Hit{Passage: archive.Passage{Kind: kind}, Evidence: e}
	}
	best := hit(archive.KindReply, archive.Evidence{Words: 12, Covered: 1, Near: 1, Turn: 4, Session: 0.5})
	half := hit(archive.KindReply, archive.Evidence{Words: 6, Covered: 1, Near: 1, Turn: 4, Session: 0.5})
	command := hit(archive.KindCommand, archive.Evidence{Words: 6, Covered: 1, Near: 1, Turn: 4, Session: 0.5})
	least := hit(archive.KindCommand, archive.Evidence{Words: 0.001})
	index.Weigh([]*archive.Hit{best, half, command, least})
	if best.Evidence.Words != 1 || half.Evidence.Words != 0.5 || best.Evidence.Session != 1 {
		t.Errorf("shares: %+v, %+v", best.Evidence, half.Evidence)
	}
	if !(best.Score > half.Score && half.Score > command.Score && command.Score > least.Score && least.Score > 0) {
		t.Errorf("scores %v, %v, %v, %v", best.Score, half.Score, command.Score, least.Score)
	}
	index.Weigh(nil)
}

func TestWithout(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		set := func(name string) []int64 {
			s := rapid.SliceOfDistinct(rapid.Int64Range(0, 30), func(x int64) int64 { return x }).Draw(r, name)
			slices.Sort(s)
			return s
		}
		x, y := set("x"), set("y")
		var want []int64
		for _, v := range x {
			if !slices.Contains(y, v) {
				want = append(want, v)
			}
		}
		if have := index.Without(slices.Clone(x), y); !slices.Equal(have, want) {
			r.Fatalf("%v without %v: %v", x, y, have)
		}
	})
}

func TestUnion(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string) []int64 {
			ids := rapid.SliceOfDistinct(rapid.Int64Range(0, 50), rapid.ID[int64]).Draw(r, label)
			slices.Sort(ids)
			return ids
		}
		x, y := draw("x"), draw("y")
		want := slices.Concat(x, y)
		slices.Sort(want)
		if have := index.Union(x, y); !slices.Equal(have, slices.Compact(want)) {
			r.Fatalf("%v and %v: %v", x, y, have)
		}
	})
}

func TestRankerReadsFormsAndNeighbours(t *testing.T) {
	lists := []index.List{
		{Term: archive.Term{Text: "fix", Weight: 1, Forms: "fixed fixing"}, Weak: make([]int64, 5)},
		{Term: archive.Term{Text: "race", Weight: 1}, Weak: make([]int64, 5)},
	}
	read := func(text string) archive.Evidence {
		return index.NewRanker(lists, 1000, 0).Score(&archive.Passage{Kind: archive.KindReply, Text: text})
	}
	if same, other := read("fix it"), read("fixed it"); same.Words != other.Words || same.Words <= 0 {
		t.Errorf("words: %v for the word, %v for a form", same.Words, other.Words)
	}
	for text, want := range map[string]float64{
		"fixed the race": 1, "the race is fixed": 0, "fixing it. Then we looked at another race": 0, "fix": 0,
	} {
		if e := read(text); e.Near != want {
			t.Errorf("%s: near %v, want %v", text, e.Near, want)
		}
	}
	if e := read("fix"); math.Abs(e.Covered-0.5) > 1e-9 {
		t.Errorf("covered %v with one of two words", e.Covered)
	}
}
