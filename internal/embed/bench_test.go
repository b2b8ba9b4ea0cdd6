package embed

import (
	"fmt"
	"testing"

	"strandline/internal/archive"
)

// Each iteration opens the file, searches and closes it, as a new process does; the file
// is in the system's cache. The vectors are random; TestEvalSigns measures the recall on
// text.
func BenchmarkOpenAndSearch(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			base := random(5_000, 128, 1)
			dir := VectorDir(b.TempDir())
			set := archive.VectorSet{Embedder: "bench", Dim: 128, Stamp: 1, Rows: int64(n), Last: int64(n)}
			err := create(dir.path(set), set, func(w *builder) error {
				for i := range n {
					v := base[i%len(base)]
					row := make([]byte, len(v))
					for j := range v { // each a little different
						row[j] = byte(int8(v[j]*400) + int8((i/len(base)*(j+7))%9-4))
					}
					if err := w.addVector(int64(i+1), 1./400, row); err != nil {
						return err
					}
				}
				return w.flush()
			})
			if err != nil {
				b.Fatal(err)
			}
			qs := random(64, 128, 1)
			i := 0
			for b.Loop() {
				flat, err := OpenFlat(dir.path(set))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := flat.Search(b.Context(), qs[i%len(qs)], 10, nil); err != nil {
					b.Fatal(err)
				}
				if err := flat.Close(); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
