package recall_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/index/sqlite"
	"strandline/internal/recall"
)

// wobbles is a model with one synonym: glorps are wibbles.
type wobbles struct {
	asked int
	err   error
}

func (*wobbles) Name() string { return "wobbles" }
func (*wobbles) Dim() int     { return 4 }

func (w *wobbles) Embed(_ context.Context, texts []string) ([][]float32, error) {
	w.asked++
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{0, 1, 0, 0}
		if len(t)%2 == 0 {
			out[i] = []float32{0, 0, 1, 0}
		}
		if strings.Contains(t, "glorp") || strings.Contains(t, "wibble") {
			out[i][0] = 5
		}
		embed.Normalise(out[i])
	}
	return out, w.err
}

// archiveOf stores each text as a turn's prompt.
func archiveOf(t *testing.T, texts ...string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	const id = "7f3a12cd-0001-4222-8333-000000000001"
	at := time.Unix(1_790_000_000, 0)
	b := archive.Batch{
		Session: archive.Session{ID: id, Client: "claude", Last: at, Generation: 1, Project: archive.Project{Key: "p", Name: "p"}},
		Cursor:  archive.Cursor{Session: id, Generation: 1, Offset: int64(len(texts)), Line: len(texts)},
	}
	for i, text := range texts {
		b.Turns = append(b.Turns, archive.Turn{Session: id, Index: i, LineFrom: i, LineTo: i + 1, Start: at})
		b.Passages = append(b.Passages, archive.Passage{Session: id, Turn: i, Step: -1, Kind: archive.KindPrompt, Text: text, LineFrom: i, LineTo: i + 1, Time: at})
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return s
}

// The vectors of a chosen model rank hits with equal words. The built-in table is used
// when the model fails.
func TestAChosenModelReordersHits(t *testing.T) {
	texts := []string{"the zorp report is late", "the wibble report is late"}
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("number %d has nothing to do with it%s", i, strings.Repeat(".", i%3)))
	}
	s := archiveOf(t, texts...)
	model, table := &wobbles{}, embed.NewStatic()
	now := func() time.Time { return time.Unix(1_790_000_000, 0) }
	x := &embed.Searcher{Store: s, Dir: embed.VectorDir(t.TempDir()), Embedders: []embed.Embedder{model, table}}
	if _, err := (embed.Maintenance{Store: s, Dir: x.Dir, Embedders: x.Embedders, Now: now}).Run(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	ask := func(v recall.Vectors, query string) (recall.Result, []string) {
		t.Helper()
		x := recall.New(s, now, table)
		x.Vectors = v
		r, err := x.Search(t.Context(), recall.Request{Query: query, Text: query})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, h := range r.Hits {
			found = append(found, h.Text)
		}
		return r, found
	}
	const query = "late report about a glorp"
	if _, found := ask(&embed.Searcher{Store: s, Dir: x.Dir, Embedders: []embed.Embedder{table}}, query); !slices.Equal(found[:2], texts[:2]) {
		t.Fatalf("without the model: %q", found)
	}
	model.asked = 0
	r, found := ask(x, query)
	if found[0] != texts[1] || found[1] != texts[0] {
		t.Errorf("with the model: %q", found)
	}
	if model.asked != 1 || len(r.Notes) != 0 {
		t.Errorf("it was asked %d times for one search; notes %q", model.asked, r.Notes)
	}
	if a, b := r.Hits[0].Why.Meaning, r.Hits[1].Why.Meaning; a <= b {
		t.Errorf("meaning %v before %v", a, b)
	}
	// A query of names is not embedded.
	if ask(x, "report.go"); model.asked != 1 {
		t.Error("a model was asked about a name")
	}
	model.err = errors.New("the endpoint is down")
	r, found = ask(x, query)
	if !slices.Equal(found[:2], texts[:2]) || !slices.Equal(r.Notes, []string{"wobbles: the endpoint is down; the built-in vectors are used instead"}) {
		t.Errorf("with the model down: %q, notes %q", found, r.Notes)
	}
}
