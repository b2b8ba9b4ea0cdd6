package vector

import (
	"fmt"
	"io/fs"
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
	"strandline/internal/embed"
	"strandline/internal/embed/static"
)

// TestEvalSigns measures how many of the ten nearest the scan of signs finds,
// against comparing every vector in full, on vectors of real text: every file
// below the folders in STRANDLINE_EVAL_TEXT (separated as in PATH), in pieces of
// 700 characters that begin so far apart that there are STRANDLINE_EVAL_VECTORS
// (default 1,000,000) of them. Queries are beginnings of other pieces.
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
	e := static.New()
	rng := rand.New(rand.NewPCG(1, 2))
	src := &memory{set: archive.VectorSet{Embedder: e.Name(), Dim: e.Dim(), Stamp: 1}}
	var queries [][]float32
	start := time.Now()
	for _, text := range texts {
		var pieces []string
		for from := 0; from+embed.ChunkSize/2 < len(text) && src.len() < want; from += step {
			piece := text[from:min(from+embed.ChunkSize, len(text))]
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
		for some := range slices.Chunk(pieces, embed.MaxBatch) {
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
	dir := Dir(t.TempDir())
	start = time.Now()
	if _, err := dir.Update(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	t.Logf("file written in %v", time.Since(start))
	flat, err := openFlat(dir.path(src.set))
	if err != nil {
		t.Fatal(err)
	}
	defer flat.Close()

	const k = 10
	var took time.Duration
	found, all := 0, 0
	byShare := map[string]int{}
	for _, q := range queries {
		s := scan{x: flat, q: q}
		exact, err := s.all(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exact = best(exact, k)
		start := time.Now()
		got, err := flat.Search(t.Context(), q, k, nil)
		took += time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		all += len(exact)
		found += common(exact, got.Nearest)
		for _, share := range []int{2000, 1000, 500, 250, 125, 60} {
			s.words = signs(nil, len(q), func(i int) bool { return q[i] > 0 })
			distances, counts := make([]uint16, flat.Len()), make([]int, len(q)+1)
			for i := range flat.blocks {
				b := &flat.blocks[i]
				s.distances(b, distances[b.first:b.first+b.rows], counts)
			}
			left, limit := flat.Len()/share, uint16(0)
			for d, n := range counts {
				if left -= n; left <= 0 {
					limit = uint16(d)
					break
				}
			}
			for _, n := range exact {
				if distances[n.Passage-1] <= limit {
					byShare[fmt.Sprintf("%4d", share)]++
				}
			}
		}
	}
	t.Logf("recall@10 %.4f, mean search %v", float64(found)/float64(all), took/time.Duration(len(queries)))
	for share, n := range byShare {
		t.Logf("one in %s compared in full: recall@10 %.4f", share, float64(n)/float64(all))
	}
}

func common(exact, got []Neighbour) (n int) {
	for _, e := range exact {
		if slices.ContainsFunc(got, func(g Neighbour) bool { return g.Passage == e.Passage }) {
			n++
		}
	}
	return n
}

// realTexts reads every file that is text, with runs of white space as one blank.
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
