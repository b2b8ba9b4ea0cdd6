package embed

import (
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"strandline/internal/archive"
)

// TestEvalSigns measures how many of the ten nearest vectors the search by signs finds,
// compared with an exact search. The vectors are from the files below the folders in
// STRANDLINE_EVAL_TEXT (separated as in PATH), in STRANDLINE_EVAL_VECTORS (default
// 1,000,000) chunks of 700 characters. The queries are the starts of other chunks.
func TestEvalSigns(t *testing.T) {
	folders := os.Getenv("STRANDLINE_EVAL_TEXT")
	if folders == "" {
		t.Skip("no real text: set STRANDLINE_EVAL_TEXT to folders of it")
	}
	want := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("STRANDLINE_EVAL_VECTORS")); err == nil {
		want = n
	}
	texts := realTexts(t, filepath.SplitList(folders))
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	step := max(1, total/(want+want/50))
	t.Logf("%d files, %d MB, a piece every %d characters", len(texts), total>>20, step)
	e := NewStatic()
	rng := rand.New(rand.NewPCG(1, 2))
	src := &memory{set: archive.VectorSet{Embedder: e.Name(), Dim: e.Dim(), Stamp: 1}}
	var queries [][]float32
	start := time.Now()
	for _, text := range texts {
		var pieces []string
		for from := 0; from+ChunkSize/2 < len(text) && src.len() < want; from += step {
			piece := text[from:min(from+ChunkSize, len(text))]
			if rng.IntN(max(1, want/300)) == 0 {
				vs, err := e.Embed(t.Context(), []string{piece[:40+rng.IntN(60)]})
				if err != nil {
					t.Fatal(err)
				}
				if vs[0] != nil {
					queries = append(queries, vs[0])
				}
				continue
			}
			pieces = append(pieces, piece)
		}
		for some := range slices.Chunk(pieces, MaxBatch) {
			vs, err := e.Embed(t.Context(), some)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range vs {
				if v != nil {
					src.add(int64(src.len())+1, Pack(nil, v))
				}
			}
		}
	}
	t.Logf("embedded %d pieces in %v, %d queries", src.len(), time.Since(start), len(queries))
	dir := VectorDir(t.TempDir())
	start = time.Now()
	if _, err := dir.Update(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	t.Logf("file written in %v", time.Since(start))
	flat, err := OpenFlat(dir.path(src.set))
	if err != nil {
		t.Fatal(err)
	}
	defer flat.Close()

	const k = 10
	var took time.Duration
	found, all := 0, 0
	byWant := map[int]int{}
	for _, q := range queries {
		s := scan{x: flat, q: q}
		exact, err := s.exact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exact = nearestOf(exact, k)
		start := time.Now()
		got, err := flat.Search(t.Context(), q, k, nil)
		took += time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		all += len(exact)
		found += common(exact, got.Nearest)
		for _, want := range []int{500, 1000, 1500, 2500, 5000, 10_000} {
			some, err := s.bySigns(t.Context(), want, want)
			if err != nil {
				t.Fatal(err)
			}
			byWant[want] += common(exact, some)
		}
	}
	t.Logf("recall@10 %.4f, mean search %v", float64(found)/float64(all), took/time.Duration(len(queries)))
	for _, want := range slices.Sorted(maps.Keys(byWant)) {
		t.Logf("%5d compared in full: recall@10 %.4f", want, float64(byWant[want])/float64(all))
	}
}

// nearestOf is best for a very large number of neighbours.
func nearestOf(ns []Neighbour, k int) []Neighbour {
	var top []Neighbour
	least := math.Inf(-1)
	for _, n := range ns {
		if n.Cosine < least {
			continue
		}
		if top = append(top, n); len(top) == 100*k {
			slices.SortFunc(top, compareNeighbours)
			top = top[:10*k] // a passage can have several vectors
			least = top[len(top)-1].Cosine
		}
	}
	return best(top, k)
}

func common(exact, got []Neighbour) (n int) {
	for _, e := range exact {
		if slices.ContainsFunc(got, func(g Neighbour) bool { return g.Passage == e.Passage }) {
			n++
		}
	}
	return n
}

// realTexts reads all text files, with single blanks.
func realTexts(t *testing.T, folders []string) (texts []string) {
	t.Helper()
	for _, dir := range folders {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if err == nil && utf8.Valid(data) && !strings.ContainsRune(string(data), 0) {
				texts = append(texts, strings.ToValidUTF8(strings.Join(strings.Fields(string(data)), " "), ""))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
