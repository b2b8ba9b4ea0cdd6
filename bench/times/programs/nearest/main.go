// Command nearest is a search of vectors and nothing else, as a whole process: it
// opens a flat file, looks for the ten nearest to a query and prints them. With
// -make it writes the file.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"strandline/internal/archive"
	"strandline/internal/embed"
)

const (
	dim     = 128 // the built-in table's
	centres = 5_000
)

func main() {
	count := flag.Int("make", 0, "write a file of so many invented vectors")
	seed := flag.Uint64("seed", 1, "which query")
	flag.Parse()
	var err error
	switch {
	case flag.NArg() != 1:
		err = fmt.Errorf("usage: nearest [-make N] [-seed N] FOLDER")
	case *count > 0:
		_, err = embed.VectorDir(flag.Arg(0)).Update(context.Background(), invented(*count))
	default:
		err = search(flag.Arg(0), *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "nearest:", err)
		os.Exit(1)
	}
}

func search(dir string, seed uint64) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.vec"))
	if err != nil || len(names) != 1 {
		return fmt.Errorf("%d files of vectors in %s", len(names), dir)
	}
	flat, err := embed.OpenFlat(names[0])
	if err != nil {
		return err
	}
	defer flat.Close()
	found, err := flat.Search(context.Background(), centre(seed%centres), 10, nil)
	if err != nil {
		return err
	}
	for _, n := range found.Nearest {
		fmt.Printf("%d %.4f\n", n.Passage, n.Cosine)
	}
	return nil
}

// invented are vectors about some centres, one for each passage, without a store.
type invented int

// VectorSets implements vector.Rows.
func (n invented) VectorSets(context.Context) ([]archive.VectorSet, error) {
	return []archive.VectorSet{{Embedder: "invented", Dim: dim, Rows: int64(n), Last: int64(n), Stamp: 1}}, nil
}

// Vectors implements vector.Rows.
func (n invented) Vectors(ctx context.Context, _ string, _ int, after int64, limit int, row func(archive.VectorRow) error) error {
	v := make([]float32, dim)
	for no := after + 1; no <= min(int64(n), after+int64(limit)); no++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(uint64(no), 7))
		copy(v, centre(rng.Uint64N(centres)))
		for i := range v {
			v[i] += float32(rng.NormFloat64()) * .08
		}
		if err := row(archive.VectorRow{No: no, Passage: no, Data: embed.Pack(nil, v)}); err != nil {
			return err
		}
	}
	return nil
}

// centre is a direction, the same for the same number.
func centre(number uint64) []float32 {
	rng := rand.New(rand.NewPCG(number, 11))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64()) * .088 // a length of about 1
	}
	return v
}
