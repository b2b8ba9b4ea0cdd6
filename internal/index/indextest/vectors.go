package indextest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
)

const (
	embedder = "test-model"
	dim      = 3
)

// embedAll stores for every passage to embed the first bytes of its text as its vector, and
// returns the number of passages.
func embedAll(t testing.TB, s Store, name string, limit int) (n int) {
	t.Helper()
	for {
		work := got[archive.Unembedded](t)(s.Unembedded(t.Context(), name, dim, limit))
		if len(work.Marks) == 0 {
			return n
		}
		n += len(work.Passages)
		if err := s.PutVectors(t.Context(), name, dim, work, rowsOf(work)); err != nil {
			t.Fatal(err)
		}
	}
}

// rowsOf returns the rows of some work, none for a text that contains "nothing".
func rowsOf(work archive.Unembedded) (rows []archive.VectorRow) {
	for _, p := range work.Passages {
		if !strings.Contains(p.Text, "nothing") {
			rows = append(rows, archive.VectorRow{Passage: p.ID, Data: []byte(archive.Clip(p.Text, 12))})
		}
	}
	return rows
}

func allVectors(t testing.TB, s Store, name string, after int64) (rows []archive.VectorRow) {
	t.Helper()
	err := s.Vectors(t.Context(), name, dim, after, 1000, func(r archive.VectorRow) error {
		r.Data = slices.Clone(r.Data)
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func oneSet(t testing.TB, s Store) archive.VectorSet {
	t.Helper()
	sets := got[[]archive.VectorSet](t)(s.VectorSets(t.Context()))
	if len(sets) != 1 {
		t.Fatalf("%d sets of vectors, want 1", len(sets))
	}
	return sets[0]
}

// embedded checks the progress of the embedder that processed most passages.
func embedded(t testing.TB, s Store, part, of int64) {
	t.Helper()
	if p, n, err := s.Embedded(t.Context()); err != nil || p != part || n != of {
		t.Errorf("%d of %d passages are embedded (%v), want %d of %d", p, n, err, part, of)
	}
}

func testVectorsFill(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(otherID, project("reef"), "alpha", "beta", "nothing", "gamma"), mainBatch())
	// The sessions' last rows are of minutes 4 and 9: the newer session comes first.
	work := got[archive.Unembedded](t)(s.Unembedded(t.Context(), embedder, dim, 7))
	if len(work.Passages) != 7 || work.Passages[0].Text != mainBatch().Passages[0].Text || work.Passages[6].Text != "alpha" {
		t.Fatalf("the first seven to embed are %+v", work.Passages)
	}
	if sets := got[[]archive.VectorSet](t)(s.VectorSets(t.Context())); len(sets) != 0 {
		t.Errorf("Unembedded created the sets %+v", sets)
	}
	embedded(t, s, 0, 0) // no embedder has begun
	if err := s.PutVectors(t.Context(), embedder, dim, work, rowsOf(work)); err != nil {
		t.Fatal(err)
	}
	embedded(t, s, 7, 10)
	if err := s.DropVectors(t.Context(), embedder); err != nil {
		t.Fatal(err)
	}
	if n := embedAll(t, s, embedder, 2); n != 10 {
		t.Errorf("%d passages embedded, want 10", n)
	}
	embedded(t, s, 10, 10)
	set := oneSet(t, s)
	if set.Embedder != embedder || set.Dim != dim || set.Rows != 9 || set.Last != 9 || set.Gone != 0 || set.Stamp <= 0 {
		t.Errorf("the set %+v", set)
	}
	rows := allVectors(t, s, embedder, 0)
	if len(rows) != 9 {
		t.Fatalf("%d rows, want 9", len(rows))
	}
	for i, r := range rows {
		if r.No != int64(i+1) {
			t.Errorf("row %d has number %d", i, r.No)
		}
	}
	if tail := allVectors(t, s, embedder, 7); len(tail) != 2 || string(tail[1].Data) != "gamma" {
		t.Errorf("after row 7: %+v", tail)
	}
	of := got[map[int64]archive.VectorRow](t)(s.VectorsOf(t.Context(), embedder, dim, []int64{rows[8].Passage, rows[6].Passage, 12345}))
	if len(of) != 2 || string(of[rows[8].Passage].Data) != "gamma" || string(of[rows[6].Passage].Data) != "alpha" {
		t.Errorf("VectorsOf: %+v", of)
	}
}

func testVectorsGrow(t *testing.T, open Opener) {
	s := open(t)
	b := simple(otherID, project("reef"), "alpha", "beta")
	apply(t, s, b)
	embedAll(t, s, embedder, 100)
	grown := after(b, simple(otherID, project("reef"), "alpha", "beta changed", "gamma"))
	apply(t, s, grown)
	if n := embedAll(t, s, embedder, 100); n != 2 {
		t.Errorf("%d passages embedded after one changed and one was added, want 2", n)
	}
	set := oneSet(t, s)
	if set.Rows != 3 || set.Last != 4 || set.Gone != 1 {
		t.Errorf("the set %+v, want 3 rows up to number 4 and one deleted", set)
	}
	var texts []string
	for _, r := range allVectors(t, s, embedder, 0) {
		texts = append(texts, string(r.Data))
	}
	if want := []string{"alpha", "beta changed", "gamma"}; !slices.Equal(texts, want) {
		t.Errorf("vectors of %q, want %q", texts, want)
	}
}

// Two processes that embed the same passages store one row for each.
func testVectorsTwice(t *testing.T, open Opener) {
	s := open(t)
	b := simple(otherID, project("reef"), "alpha", "beta")
	apply(t, s, b)
	work := got[archive.Unembedded](t)(s.Unembedded(t.Context(), embedder, dim, 100))
	for range 2 {
		if err := s.PutVectors(t.Context(), embedder, dim, work, rowsOf(work)); err != nil {
			t.Fatal(err)
		}
	}
	if rows := allVectors(t, s, embedder, 0); len(rows) != 2 {
		t.Errorf("%d rows, want 2", len(rows))
	}
	// A passage that changed between reading and writing.
	grown := after(b, simple(otherID, project("reef"), "alpha", "beta", "gamma"))
	apply(t, s, grown)
	work = got[archive.Unembedded](t)(s.Unembedded(t.Context(), embedder, dim, 100))
	apply(t, s, after(grown, simple(otherID, project("reef"), "alpha", "beta", "delta")))
	if err := s.PutVectors(t.Context(), embedder, dim, work, rowsOf(work)); err != nil {
		t.Fatal(err)
	}
	embedAll(t, s, embedder, 100)
	rows := allVectors(t, s, embedder, 0)
	if len(rows) != 3 || string(rows[2].Data) != "delta" || oneSet(t, s).Rows != 3 {
		t.Errorf("rows %+v, want the third to be delta's", rows)
	}
}

func testVectorsSets(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(otherID, project("reef"), "alpha", "beta"))
	embedAll(t, s, embedder, 100)
	embedAll(t, s, "another", 1)
	sets := got[[]archive.VectorSet](t)(s.VectorSets(t.Context()))
	if len(sets) != 2 || sets[0].Stamp == sets[1].Stamp || len(allVectors(t, s, "another", 0)) != 2 {
		t.Errorf("the sets %+v", sets)
	}
	if err := s.DropVectors(t.Context(), embedder); err != nil {
		t.Fatal(err)
	}
	if set := oneSet(t, s); set.Embedder != "another" || set.Rows != 2 || set.Gone != 0 {
		t.Errorf("the remaining set is %+v", set)
	}
	if n := embedAll(t, s, embedder, 100); n != 2 {
		t.Errorf("%d passages embedded again, want 2", n)
	}
	for _, bad := range []struct {
		name string
		dim  int
	}{{"", dim}, {embedder, 0}} {
		wantCode(t, s.PutVectors(t.Context(), bad.name, bad.dim, archive.Unembedded{}, nil), archive.CodeInvalid)
	}
	if rows := got[map[int64]archive.VectorRow](t)(s.VectorsOf(t.Context(), "unknown", dim, []int64{1})); len(rows) != 0 {
		t.Errorf("an unknown embedder has rows %+v", rows)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Unembedded(ctx, embedder, dim, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Unembedded with an ended context: %v", err)
	}
}

// The order in which passages were stored and embedded makes no difference.
func testVectorsDump(t *testing.T, open Opener) {
	one, two := open(t), open(t)
	a, b := simple(otherID, project("reef"), "alpha", "beta"), mainBatch()
	apply(t, one, a, b)
	embedAll(t, one, embedder, 100)
	apply(t, two, b)
	embedAll(t, two, embedder, 3)
	apply(t, two, a)
	embedAll(t, two, embedder, 1)
	if x, y := Dump(t, one), Dump(t, two); x != y || strings.Count(x, "\nvector ") != 8 {
		t.Errorf("the indexes differ:\n%s\n%s", x, y)
	}
}

func testVectorsScope(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, mainBatch(), simple(otherID, project("reef"), "alpha", "beta"), agentBatch("helper"))
	embedAll(t, s, embedder, 100)
	var all []int64
	for _, r := range allVectors(t, s, embedder, 0) {
		all = append(all, r.Passage)
	}
	for _, test := range []struct {
		name  string
		q     archive.Query
		scope int // passages in the scope
		hits  int // of those, returned by HitsOf
	}{
		{"all", archive.Query{Agents: true, Dead: true}, 9, 9},
		{"no abandoned branches", archive.Query{Agents: true}, 9, 8},
		{"no sub-agents", archive.Query{}, 8, 7},
		{"a session", archive.Query{Sessions: []string{otherID}}, 2, 2},
		{"an unknown session", archive.Query{Sessions: []string{forkID}}, 0, 0},
		{"a project", archive.Query{Projects: []string{project("reef").Key}}, 2, 2},
		{"a kind", archive.Query{Kinds: []archive.PassageKind{archive.KindReply}}, 1, 1},
		{"since", archive.Query{Since: at(6)}, 8, 1},
		{"before a line", archive.Query{Sessions: []string{mainID}, BeforeLine: 5}, 6, 2},
	} {
		keep, err := s.VectorScope(t.Context(), test.q)
		if err != nil {
			t.Fatal(err)
		}
		var in []int64
		for _, id := range all {
			if keep == nil || keep(id) {
				in = append(in, id)
			}
		}
		if len(in) != test.scope {
			t.Errorf("%s: the scope has %d passages, want %d", test.name, len(in), test.scope)
		}
		slices.Reverse(all)
		hits := got[[]archive.Hit](t)(s.HitsOf(t.Context(), test.q, all))
		if len(hits) != test.hits {
			t.Errorf("%s: %d hits, want %d", test.name, len(hits), test.hits)
		}
		order := make([]int, len(hits))
		for i, h := range hits {
			if order[i] = slices.Index(all, h.ID); h.Score != 0 || h.Session == "" || h.Text == "" {
				t.Errorf("%s: hit %+v", test.name, h)
			}
		}
		if !slices.IsSorted(order) {
			t.Errorf("%s: the order is %v", test.name, order)
		}
	}
	if hits := got[[]archive.Hit](t)(s.HitsOf(t.Context(), archive.Query{}, nil)); len(hits) != 0 {
		t.Errorf("no numbers have %d hits", len(hits))
	}
}

// Hits have the IDs of their passages, so that their vectors can be read.
func testVectorsOfHits(t *testing.T, open Opener) {
	s := open(t)
	apply(t, s, simple(otherID, project("reef"), "alpha word", "beta word"))
	embedAll(t, s, embedder, 100)
	hits := got[[]archive.Hit](t)(s.Search(t.Context(), search("beta", archive.Query{})))
	if len(hits) != 1 {
		t.Fatalf("%d hits", len(hits))
	}
	rows := got[map[int64]archive.VectorRow](t)(s.VectorsOf(t.Context(), embedder, dim, []int64{hits[0].ID}))
	if data := string(rows[hits[0].ID].Data); data != "beta word" {
		t.Errorf("the hit's vector is %q", data)
	}
	many := make([]int64, 1500) // more than fit into one statement
	for i := range many {
		many[i] = int64(i + 1)
	}
	many[1200] = hits[0].ID
	if rows := got[map[int64]archive.VectorRow](t)(s.VectorsOf(t.Context(), embedder, dim, many)); len(rows) != 1 {
		t.Errorf("%d of many: %s", len(rows), fmt.Sprint(rows))
	}
	if hits := got[[]archive.Hit](t)(s.HitsOf(t.Context(), archive.Query{}, many)); len(hits) != 1 {
		t.Errorf("%d hits of many", len(hits))
	}
}
