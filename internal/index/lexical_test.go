package index_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index"
	"strandline/internal/index/terms"
)

func TestEncoder(t *testing.T) {
	filler := strings.Repeat(" filler", 400)
	e := new(index.Encoder)
	for _, test := range []struct {
		name string
		p    archive.Passage
		want string
	}{
		{"nothing", archive.Passage{}, ""},
		{"only symbols", archive.Passage{Text: "?! 🚀"}, ""},
		{"in a short text every term is strong", archive.Passage{Text: "one two"}, "one² two²"},
		{"each term once, at its first occurrence", archive.Passage{Text: "b a b"}, "b² a²"},
		{"in a long text rare ones are weak", archive.Passage{Text: "once" + filler}, "once filler²"},
		{"and frequent ones strong", archive.Passage{Text: strings.Repeat("often ", 9) + filler}, "often² filler²"},
		{"paths are searched like text", archive.Passage{Text: "x", Paths: []string{"a/store.go", "b.go"}}, "x² a² store.go² store² go² b.go²"},
	} {
		if have := string(e.Append(nil, &test.p)); have != test.want {
			t.Errorf("%s: have %q, want %q", test.name, have, test.want)
		}
	}
	if have := string(e.Append([]byte("before|"), &archive.Passage{Text: "x"})); have != "before|x²" {
		t.Errorf("append: %q", have)
	}
}

// The row holds exactly the terms of the text, for any number of terms.
func TestEncoderHoldsEveryTerm(t *testing.T) {
	e := new(index.Encoder)
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,3}`), 0, 3000).Draw(r, "words")
		row := strings.Fields(string(e.Append(nil, &archive.Passage{Text: strings.Join(words, " ")})))
		for i := range row {
			row[i] = strings.TrimSuffix(row[i], index.StrongMark)
		}
		var want []string
		seen := map[string]bool{}
		for w := range strings.FieldsSeq(terms.Index(strings.Join(words, " "))) {
			if !seen[w] {
				seen[w] = true
				want = append(want, w)
			}
		}
		if !slices.Equal(row, want) {
			r.Fatalf("have %q\nwant %q", row, want)
		}
	})
}

func TestMerge(t *testing.T) {
	list := func(weight float64, strong, weak []int64) index.List {
		return index.List{Term: archive.Term{Weight: weight}, Strong: strong, Weak: weak}
	}
	for _, test := range []struct {
		name  string
		lists []index.List
		want  []int64 // best first
	}{
		{"nothing", nil, nil},
		{"empty lists", []index.List{list(1, nil, nil), list(1, nil, nil)}, nil},
		{"strong before weak", []index.List{list(1, []int64{2}, []int64{1, 3})}, []int64{2, 3, 1}},
		{"both terms before one", []index.List{list(1, nil, []int64{1, 2}), list(1, nil, []int64{2, 3})}, []int64{2, 3, 1}},
		{"the rarer term counts more", []index.List{list(1, nil, []int64{1, 2, 3, 4, 5}), list(1, nil, []int64{9})}, []int64{9, 5, 4, 3, 2, 1}},
		{"a part counts less", []index.List{list(1, nil, []int64{1}), list(0.4, nil, []int64{2})}, []int64{1, 2}},
		{"three lists", []index.List{list(1, nil, []int64{1}), list(1, nil, []int64{1, 2}), list(1, []int64{1}, []int64{3})}, []int64{1, 3, 2}},
	} {
		candidates := index.Shape{}.Merge(test.lists, 100)
		if !slices.IsSortedFunc(candidates, func(x, y index.Candidate) int { return cmp.Compare(x.ID, y.ID) }) {
			t.Errorf("%s: not in the order of ids: %v", test.name, candidates)
		}
		index.Sort(candidates)
		var have []int64
		for _, c := range candidates {
			have = append(have, c.ID)
		}
		if !slices.Equal(have, test.want) {
			t.Errorf("%s: have %v, want %v", test.name, have, test.want)
		}
	}
}

// Top returns the same as sorting all candidates, and loses none.
func TestTop(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(r, "n")
		k := rapid.IntRange(1, 20).Draw(r, "k")
		c := make([]index.Candidate, n)
		for i := range c {
			c[i] = index.Candidate{ID: int64(i), Score: float32(rapid.IntRange(0, 5).Draw(r, "score"))}
		}
		rand.Shuffle(n, func(i, j int) { c[i], c[j] = c[j], c[i] })
		want := slices.Clone(c)
		index.Sort(want)
		top := index.Top(c, k)
		if !slices.Equal(top, want[:min(k, n)]) {
			r.Fatalf("have %v\nwant %v", top, want[:min(k, n)])
		}
		index.Sort(c)
		if !slices.Equal(c, want) {
			r.Fatalf("candidates were lost: %v", c)
		}
	})
}

func TestRanker(t *testing.T) {
	lists := []index.List{
		{Term: archive.Term{Text: "common", Weight: 1}, Weak: make([]int64, 500)},
		{Term: archive.Term{Text: "rare", Weight: 1}, Weak: make([]int64, 2)},
		{Term: archive.Term{Text: "pre", Prefix: true, Weight: 1}, Weak: make([]int64, 50)},
	}
	score := func(p archive.Passage) float64 { return index.NewRanker(lists, 1000, 0).Score(&p).Words }
	prompt := func(text string) archive.Passage { return archive.Passage{Kind: archive.KindPrompt, Text: text} }
	better := func(name string, x, y archive.Passage) {
		t.Helper()
		if a, b := score(x), score(y); a <= b {
			t.Errorf("%s: %v is not above %v", name, a, b)
		}
	}
	filler := strings.Repeat(" filler", 100)
	better("the rarer term", prompt("rare"), prompt("common"))
	better("more terms", prompt("rare common"), prompt("rare word"))
	better("more often", prompt("rare rare"+filler), prompt("rare"+filler))
	better("the shorter text", prompt("rare"), prompt("rare"+filler))
	better("words over output", prompt("rare"), archive.Passage{Kind: archive.KindOutput, Text: "rare"})
	better("a path counts like words", archive.Passage{Text: "x", Paths: []string{"rare.go"}}, prompt("x common"))
	better("prefix", prompt("prefix"), prompt("apre"))
	if s := score(prompt("nothing")); s != 0 {
		t.Errorf("score %v without a term", s)
	}
	lists[1].Term.Must = true
	if s := score(prompt("common")); s >= 0 {
		t.Errorf("score %v without a required term", s)
	}
}
