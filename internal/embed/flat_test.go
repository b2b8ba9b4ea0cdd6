package embed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/state"
)

const testDim = 96 // not a multiple of 64

// random returns n unit vectors in clusters, like those of texts.
func random(n, dim int, seed uint64) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 7))
	centres := make([][]float32, 1+n/50)
	for i := range centres {
		centres[i] = make([]float32, dim)
		for j := range dim {
			centres[i][j] = float32(rng.NormFloat64())
		}
	}
	out := make([][]float32, n)
	for i := range out {
		c := centres[rng.IntN(len(centres))]
		out[i] = make([]float32, dim)
		for j := range dim {
			out[i][j] = c[j] + float32(rng.NormFloat64())
		}
		Normalise(out[i])
	}
	return out
}

// filled returns a set with these vectors, per of them for each passage.
func filled(vs [][]float32, per int) *memory {
	m := &memory{set: archive.VectorSet{Embedder: "Test Model/1", Dim: len(vs[0]), Stamp: 42}}
	for i := 0; i < len(vs); i += per {
		var data []byte
		for _, v := range vs[i:min(i+per, len(vs))] {
			data = Pack(data, v)
		}
		m.add(int64(i/per+1), data)
	}
	return m
}

func update(t testing.TB, dir VectorDir, src VectorReader) FileUpdate {
	t.Helper()
	done, err := dir.Update(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 {
		t.Fatalf("%d sets updated, want 1", len(done))
	}
	return done[0]
}

func open(t testing.TB, dir VectorDir, src *memory) *Flat {
	t.Helper()
	flat, err := OpenFlat(dir.path(src.set))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flat.Close(); err != nil {
			t.Error(err)
		}
	})
	return flat
}

// exactly computes the expected result by comparing every vector.
func exactly(src *memory, q []float32, k int, keep func(int64) bool) []Neighbour {
	var out []Neighbour
	for _, r := range src.rows {
		if keep != nil && !keep(r.Passage) {
			continue
		}
		largest := math.Inf(-1)
		_ = Unpack(r.Data, len(q), func(scale float32, row []byte) error {
			sum := 0.0
			for i, x := range row {
				sum += float64(q[i]) * float64(scale) * float64(int8(x))
			}
			largest = max(largest, sum)
			return nil
		})
		out = append(out, Neighbour{r.Passage, largest})
	}
	slices.SortFunc(out, compareNeighbours)
	return out[:min(k, len(out))]
}

func TestSearchSmallIsExact(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(500, testDim, 1), 3)
	if u := update(t, dir, src); u.Rebuilt == "" || u.Vectors != 500 || u.Added != 500 {
		t.Errorf("the first update: %+v", u)
	}
	flat := open(t, dir, src)
	for name, keep := range map[string]func(int64) bool{
		"all": nil, "odd": func(p int64) bool { return p%2 == 1 }, "none": func(int64) bool { return false },
	} {
		for _, q := range random(20, testDim, 2) {
			want := exactly(src, q, 10, keep)
			got, err := flat.Search(t.Context(), q, 10, keep)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Nearest) != len(want) {
				t.Fatalf("%s: %d found, want %d", name, len(got.Nearest), len(want))
			}
			for i, n := range got.Nearest {
				if n.Passage != want[i].Passage || math.Abs(n.Cosine-want[i].Cosine) > 1e-5 {
					t.Fatalf("%s: number %d is %+v, want %+v", name, i, n, want[i])
				}
			}
			if got.N == 0 || got.SD <= 0 { // of all vectors, ignoring keep
				t.Errorf("%s: calibrated from %d with %v", name, got.N, got.SD)
			}
		}
	}
}

// Above exactRows the signs select the candidates. On these vectors, which are harder
// than those of texts, the recall is at least 0.9; docs/vectors.md has that on texts.
func TestSearchLarge(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(80_000, 64, 3), 1)
	update(t, dir, src)
	flat := open(t, dir, src)
	if len(flat.blocks) != 3 {
		t.Errorf("%d blocks, want 3", len(flat.blocks))
	}
	keep := func(p int64) bool { return p%100 == 7 }
	found, all := 0, 0
	for _, q := range random(30, 64, 3) {
		got, err := flat.Search(t.Context(), q, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := exactly(src, q, 10, nil)
		found, all = found+common(want, got.Nearest), all+len(want)
		if math.Abs(got.Mean) > 0.1 || got.SD < 0.05 || got.SD > 0.5 || got.N < 900 {
			t.Errorf("mean %v, deviation %v of %d", got.Mean, got.SD, got.N)
		}
		// 800 are kept: all of them are compared exactly.
		if got, err = flat.Search(t.Context(), q, 10, keep); err != nil {
			t.Fatal(err)
		}
		want = exactly(src, q, 10, keep)
		for i, n := range got.Nearest {
			if n.Passage != want[i].Passage {
				t.Fatalf("among a few: number %d is %+v, want %+v", i, n, want[i])
			}
		}
	}
	if 10*found < 9*all {
		t.Errorf("%d of the %d nearest found", found, all)
	}
}

// The distance of a vector is the sum of the weights of the components whose sign
// differs from the query's. The search compares the vectors with the least distances.
func TestSignDistances(t *testing.T) {
	const want = 300
	for _, dim := range []int{128, 96, 384} {
		dir, src := VectorDir(t.TempDir()), filled(random(6_000, dim, 13), 1)
		update(t, dir, src)
		flat := open(t, dir, src)
		b := flat.blocks[0]
		for _, q := range random(5, dim, 14) {
			step := 0.35 * math.Sqrt(1/float64(dim)) // of a unit vector
			var distances []uint16
			err := flat.each(func(_ int64, _ float32, components []byte) error {
				d := 0
				for i, c := range components {
					if (q[i] > 0) != (int8(c) > 0) {
						d += min(7, int(math.Round(math.Abs(float64(q[i]))/step)))
					}
				}
				distances = append(distances, uint16(d))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for name, keep := range map[string]func(int64) bool{
				"all": nil, "some": func(p int64) bool { return p%2 == 0 }, "none": func(int64) bool { return false },
			} {
				s := scan{x: flat, q: q, keep: keep}
				query, got := newSignQuery(q), make([]uint16, b.rows)
				if err := s.signDistances(&query, b, got); err != nil {
					t.Fatal(err)
				}
				var kept []uint16
				for row, d := range distances {
					if keep != nil && !keep(int64(row+1)) {
						d = skipped
					} else {
						kept = append(kept, d)
					}
					if got[row] != d {
						t.Fatalf("%d components, %s: row %d has distance %d, want %d", dim, name, row, got[row], d)
					}
				}
				slices.Sort(kept)
				found, err := s.bySigns(t.Context(), b.rows, want)
				if err != nil {
					t.Fatal(err)
				}
				if len(kept) == 0 && len(found) == 0 {
					continue
				}
				var compared []uint16
				for _, n := range found {
					compared = append(compared, distances[n.Passage-1])
				}
				slices.Sort(compared)
				if len(compared) < want || compared[len(compared)-1] != kept[want-1] || !slices.Equal(compared, kept[:len(compared)]) {
					t.Errorf("%d components, %s: %d rows are compared, want the nearest %d", dim, name, len(compared), want)
				}
			}
		}
	}
}

func TestSearchInvalid(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(10, testDim, 1), 1)
	update(t, dir, src)
	flat := open(t, dir, src)
	if _, err := flat.Search(t.Context(), make([]float32, testDim-1), 1, nil); err == nil {
		t.Error("a query of another dimension is answered")
	}
	if got, err := flat.Search(t.Context(), make([]float32, testDim), 0, nil); err != nil || len(got.Nearest) != 0 {
		t.Errorf("nothing wanted: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := flat.Search(ctx, make([]float32, testDim), 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// A file that was extended row by row equals one that was written at once.
func TestGrow(t *testing.T) {
	vs := random(300, testDim, 4)
	dir, src := VectorDir(t.TempDir()), filled(vs[:1], 1)
	update(t, dir, src)
	rebuilt := 0
	for i, v := range vs[1:] {
		src.add(int64(i+2), Pack(nil, v))
		if i%5 == 0 {
			if u := update(t, dir, src); u.Rebuilt != "" {
				rebuilt++
			}
		}
	}
	u := update(t, dir, src)
	if rebuilt > 0 || u.Vectors != 300 {
		t.Errorf("rebuilt %d times, %d vectors", rebuilt, u.Vectors)
	}
	flat := open(t, dir, src)
	if len(flat.blocks) > mergeBlocks+2 {
		t.Errorf("%d blocks were not merged", len(flat.blocks))
	}
	if err := flat.verify(); err != nil {
		t.Error(err)
	}
	at := 0
	err := flat.each(func(passage int64, scale float32, row []byte) error {
		want := src.rows[at]
		if passage != want.Passage || !bytes.Equal(row, want.Data[scaleSize:]) {
			t.Fatalf("row %d is passage %d", at, passage)
		}
		at++
		return nil
	})
	if err != nil || at != 300 {
		t.Errorf("%d rows (%v)", at, err)
	}
	if again := update(t, dir, src); again.Added != 0 || again.Rebuilt != "" {
		t.Errorf("with nothing new: %+v", again)
	}
}

// An update repairs any damaged file.
func TestDamagedFiles(t *testing.T) {
	change := func(at int64, to ...byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if at < 0 {
				if at, err = f.Seek(at, io.SeekEnd); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := f.WriteAt(to, at); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	truncate := func(size int64) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		damage func(t *testing.T, path string)
		opens  bool // the damage is only found by reading all of it
	}{
		"empty":               {truncate(0), false},
		"cut in its header":   {truncate(100), false},
		"cut in a block":      {truncate(20_000), false},
		"another kind":        {change(0, 'X'), false},
		"another version":     {change(8, 99), false},
		"a bit in the header": {change(20, 0xFF), false},
		"a block's beginning": {change(headerSize, 'X'), false},
		"a block too long":    {change(headerSize+4, 0xFF, 0xFF, 0, 0), false},
		"a block of too few":  {change(headerSize+4, 1, 0, 0, 0), false},
		"a component":         {change(-70, 0x55, 0xAA), true},
		"another file there":  {func(t *testing.T, path string) { os.Remove(path); os.WriteFile(path, []byte("text"), 0o600) }, false},
		"gone":                {func(t *testing.T, path string) { os.Remove(path) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir, src := VectorDir(t.TempDir()), filled(random(300, testDim, 5), 1)
			update(t, dir, src)
			path := dir.path(src.set)
			test.damage(t, path)
			if flat, err := OpenFlat(path); (err == nil) != test.opens {
				t.Errorf("OpenFlat: %v", err)
			} else if err == nil {
				flat.Close()
			}
			u := update(t, dir, src)
			if u.Rebuilt == "" || u.Vectors != 300 {
				t.Errorf("update: %+v", u)
			}
			flat := open(t, dir, src)
			if err := flat.verify(); err != nil || flat.Len() != 300 {
				t.Errorf("%d vectors (%v)", flat.Len(), err)
			}
		})
	}
}

// A file of another set, or one that is newer than a restored store, is rebuilt.
func TestOtherSets(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(m *memory)
		rebuilt string
	}{
		"after a reindex":      {func(m *memory) { m.set.Stamp++ }, "there was none"},
		"an older store":       {func(m *memory) { m.rows = m.rows[:200]; m.set.Last, m.set.Rows = 200, 200 }, "newer than the index"},
		"many passages gone":   {func(m *memory) { m.rows = m.rows[50:]; m.set.Gone, m.set.Rows = 50, 250 }, "were deleted"},
		"a few passages gone":  {func(m *memory) { m.rows = m.rows[5:]; m.set.Gone, m.set.Rows = 5, 295 }, ""},
		"nothing has happened": {func(*memory) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, src := VectorDir(t.TempDir()), filled(random(300, testDim, 6), 1)
			update(t, dir, src)
			test.change(src)
			u := update(t, dir, src)
			if (u.Rebuilt == "") != (test.rebuilt == "") || !strings.Contains(u.Rebuilt, test.rebuilt) {
				t.Errorf("rebuilt because %q, want %q", u.Rebuilt, test.rebuilt)
			}
			entries, err := filepath.Glob(filepath.Join(string(dir), "*.vec"))
			if err != nil || len(entries) != 1 {
				t.Errorf("the files %v (%v)", entries, err)
			}
		})
	}
}

// A file that was renamed by hand to another set's name is rebuilt.
func TestRenamedFile(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(50, testDim, 7), 1)
	update(t, dir, src)
	other := filled(random(50, testDim, 8), 1)
	other.set.Stamp++
	if err := os.Rename(dir.path(src.set), dir.path(other.set)); err != nil {
		t.Fatal(err)
	}
	if u := update(t, dir, other); !strings.Contains(u.Rebuilt, "another set") {
		t.Errorf("%+v", u)
	}
}

func TestUpdateKeepsOtherFiles(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(50, testDim, 9), 1)
	for name, stays := range map[string]bool{"notes.txt": true, ".vectors-123": false, "old-3-ff.vec": false} {
		if err := os.WriteFile(filepath.Join(string(dir), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		update(t, dir, src)
		if _, err := os.Stat(filepath.Join(string(dir), name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := os.Stat(dir.path(src.set))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file's mode is %v (%v)", info.Mode(), err)
	}
}

// Update does nothing while another process updates.
func TestUpdateHeld(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(50, testDim, 10), 1)
	lock, err := state.TryLock(filepath.Join(string(dir), ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	done, err := dir.Update(t.Context(), src)
	if err != nil || len(done) != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	update(t, dir, src)
}

// A search continues in the file that it opened when another one replaces it.
func TestReplacedWhileOpen(t *testing.T) {
	dir, src := VectorDir(t.TempDir()), filled(random(300, testDim, 11), 1)
	update(t, dir, src)
	flat := open(t, dir, src)
	q := random(1, testDim, 12)[0]
	before, err := flat.Search(t.Context(), q, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	src.rows = src.rows[100:]
	src.set.Gone, src.set.Rows = 100, 200
	if u := update(t, dir, src); u.Rebuilt == "" {
		t.Fatal("not rebuilt")
	}
	after, err := flat.Search(t.Context(), q, 5, nil)
	if err != nil || !slices.Equal(before.Nearest, after.Nearest) {
		t.Errorf("%v, then %v (%v)", before.Nearest, after.Nearest, err)
	}
}

func FuzzHeader(f *testing.F) {
	h := header{set: archive.VectorSet{Embedder: "m", Dim: 3, Rows: 1, Last: 1, Stamp: 5}, vectors: 1, blocks: 1, size: headerSize + 128}
	b, err := h.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, []byte(blockMagic))
	f.Add([]byte(headerMagic), []byte{})
	f.Fuzz(func(t *testing.T, head, rest []byte) {
		path := filepath.Join(t.TempDir(), "x.vec")
		if err := os.WriteFile(path, append(head, rest...), 0o600); err != nil {
			t.Fatal(err)
		}
		flat, err := OpenFlat(path)
		if err != nil {
			return
		}
		_ = flat.verify()
		_ = flat.each(func(int64, float32, []byte) error { return nil })
		if dim := flat.head.set.Dim; dim <= 4096 {
			_, _ = flat.Search(t.Context(), make([]float32, dim), 3, nil)
		}
		flat.Close()
	})
}
