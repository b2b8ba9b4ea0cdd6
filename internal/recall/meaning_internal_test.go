package recall

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

// axes embeds a text by the two words that it knows.
type axes struct {
	texts int
	err   error
}

func (a *axes) Embed(_ context.Context, texts []string) ([][]float32, error) {
	a.texts += len(texts)
	if len(texts) > embed.MaxBatch {
		return nil, errors.New("too many at once")
	}
	out := make([][]float32, len(texts))
	for i, s := range texts {
		v := []float32{0, 0}
		if strings.Contains(s, "east") {
			v[0] = 1
		}
		if strings.Contains(s, "north") {
			v[1] = 1
		}
		if embed.Normalise(v) {
			out[i] = v
		}
	}
	return out, a.err
}

func TestSetMeaning(t *testing.T) {
	long := strings.Repeat("words that say nothing. ", 28) + "east"
	hits := []Hit{{Text: "north", Score: 1}, {Text: "east and north", Score: 1}, {Text: "neither", Score: 1}, {Text: long, Score: 1}}
	for i := range hits {
		hits[i].Ref.Turn, hits[i].Why.Covered = i, 1
	}
	if err := setMeaning(t.Context(), &axes{}, "to the east", hits); err != nil {
		t.Fatal(err)
	}
	addMeaning(hits)
	for i, want := range []float64{0, math.Sqrt(0.5), 0, 1} {
		h := hits[i]
		if math.Abs(h.Why.Meaning-want) > 1e-6 || math.Abs(h.Score-(1+(meaningWeight+turnMeaningWeight)*want)) > 1e-6 {
			t.Errorf("hit %d: cosine %v and score %v, want cosine %v", i, h.Why.Meaning, h.Score, want)
		}
	}
}

// The meaning of a hit's turn and of the next passage counts for the hit as well.
func TestMeaningAround(t *testing.T) {
	hits := []Hit{
		{id: 1, Ref: archive.Ref{Turn: 1}, Why: ScoreParts{Evidence: archive.Evidence{Covered: 1}}},
		{id: 2, Ref: archive.Ref{Turn: 1, Step: 1}, Why: ScoreParts{Meaning: 0.5, Evidence: archive.Evidence{Follows: 1}}},
		{id: 3, Ref: archive.Ref{Turn: 2}, Why: ScoreParts{Meaning: 0.25}},
		{Ref: archive.Ref{Session: "another", Turn: 1}},
	}
	addMeaning(hits)
	for i, want := range []float64{(turnMeaningWeight + nextMeaningWeight) / 2, (meaningWeight + turnMeaningWeight) / 2, (meaningWeight + turnMeaningWeight) / 4, 0} {
		if got := hits[i].Score; math.Abs(got-want) > 1e-9 {
			t.Errorf("hit %d: %v, want %v", i, got, want)
		}
	}
}

// Meaning counts more for a query whose words are in no single passage.
func TestMeaningOfAParaphrase(t *testing.T) {
	score := func(covered float64) float64 {
		hits := []Hit{{id: 1, Why: ScoreParts{Meaning: 0.5, Evidence: archive.Evidence{Covered: covered}}}}
		addMeaning(hits)
		return hits[0].Score
	}
	if all, half, none := score(1), score(0.5), score(0); half != all*(1+uncoveredWeight/2) || none != all*(1+uncoveredWeight) {
		t.Errorf("scores %v, %v and %v for all, half and none of the words", all, half, none)
	}
}

// A passage that only its meaning found is a hit next to those with words, unless it is far
// in meaning or another hit has all words.
func TestWithoutUnsure(t *testing.T) {
	words := func(covered float64) Hit {
		return Hit{id: 1, Why: ScoreParts{Meaning: 0.1, Evidence: archive.Evidence{BM25: 3, Covered: covered}}}
	}
	near, far := Hit{id: 2, Why: ScoreParts{Meaning: 0.5}}, Hit{id: 3, Why: ScoreParts{Meaning: 0.2}}
	for _, c := range []struct {
		name string
		hits []Hit
		want []int64
	}{
		{"near", []Hit{near, words(0.5)}, []int64{2, 1}},
		{"far", []Hit{words(0.5), far}, []int64{1}},
		{"all words in another", []Hit{near, words(1)}, []int64{1}},
		{"no words", []Hit{near}, nil},
	} {
		var got []int64
		for _, h := range withoutUnsure(c.hits, []int64{1, 2, 3}) {
			got = append(got, h.id)
			if h.Related != (h.id != 1) {
				t.Errorf("%s: hit %d is related: %v", c.name, h.id, h.Related)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A thousand hits are embedded in batches, and only the start of a long passage.
func TestSetMeaningOfManyHits(t *testing.T) {
	e := &axes{}
	hits := make([]Hit, 1000)
	for i := range hits {
		hits[i].Text = strings.Repeat("word ", 1000) + "east"
	}
	if err := setMeaning(t.Context(), e, "to the east", hits); err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(hits); e.texts != want {
		t.Errorf("%d texts embedded, want %d", e.texts, want)
	}
	if hits[0].Why.Meaning != 0 {
		t.Errorf("cosine %v of text after the first chunk", hits[0].Why.Meaning)
	}
}

func TestSetMeaningSkips(t *testing.T) {
	for _, c := range []struct {
		name, query string
		e           embed.Vectorizer
	}{
		{"a query of names", "ERR_MODULE_NOT_FOUND east/x.go", &axes{}},
		{"no embedder", "to the east", nil},
		{"a query without a known word", "to the west", &axes{}},
		{"no query", "", &axes{}},
	} {
		hits := []Hit{{Text: "east", Score: 1}}
		if err := setMeaning(t.Context(), c.e, c.query, hits); err != nil || hits[0].Score != 1 {
			t.Errorf("%s: score %v, %v", c.name, hits[0].Score, err)
		}
	}
	down := errors.New("down")
	if err := setMeaning(t.Context(), &axes{err: down}, "to the east", []Hit{{Text: "east"}}); !errors.Is(err, down) {
		t.Errorf("an embedder that fails: %v", err)
	}
}

func TestLiteral(t *testing.T) {
	for query, want := range map[string]bool{
		"": false, "how do we retry": false, "retry": true, "the parseConfig bug": false, "HTTP": true,
		"parseConfig": true, "parse_config": true, "internal/store/rows.go:42": true, "E0382": true, "23505": true,
		`"retry policy"`: true, `"retry" policy`: false, "pars*": true, "E0382 rows.go": true,
	} {
		if got := literal(query); got != want {
			t.Errorf("literal(%q) = %v", query, got)
		}
	}
}

// Between hits with the same words, the built-in table prefers the one in meaning.
func TestMeaningByTheBuiltInTable(t *testing.T) {
	hits := []Hit{{Text: "the login page got a new logo"}, {Text: "the login page rejects the password: authentication failure"}}
	if err := setMeaning(t.Context(), embed.NewStatic(), "users cannot sign in, credentials refused at login", hits); err != nil {
		t.Fatal(err)
	}
	if hits[1].Why.Meaning <= hits[0].Why.Meaning {
		t.Errorf("cosines %v and %v", hits[0].Why.Meaning, hits[1].Why.Meaning)
	}
}
