package recall

import (
	"context"
	"errors"
	"math"
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
	long := strings.Repeat("words that say nothing. ", 45) + "east"
	hits := []Hit{{Text: "north", Score: 1}, {Text: "east and north", Score: 1}, {Text: "neither", Score: 1}, {Text: long, Score: 1}}
	for i := range hits {
		hits[i].Ref.Turn = i
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
		{id: 1, Ref: archive.Ref{Turn: 1}},
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
	if want := 1 + len(hits)*maxChunks; e.texts != want {
		t.Errorf("%d texts embedded, want %d", e.texts, want)
	}
	if hits[0].Why.Meaning != 0 {
		t.Errorf("cosine %v of text after the last chunk", hits[0].Why.Meaning)
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
