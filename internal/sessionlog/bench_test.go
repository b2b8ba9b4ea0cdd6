package sessionlog

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkHookAppend measures a hook: open, append one turn of 2 KB, close. "nosync"
// does not sync.
func BenchmarkHookAppend(b *testing.B) {
	p := jsonLines(1, 2000)[:2000]
	b.Run("disk", func(b *testing.B) {
		path := logPath(b)
		for b.Loop() {
			l := open(b, path)
			add(b, l, p)
			closeLog(b, l)
		}
		report(b, path, int64(b.N)*2000)
	})
	b.Run("nosync", func(b *testing.B) {
		m := &memFile{}
		b.ReportAllocs()
		for b.Loop() {
			l, err := openMem(m, len(m.b))
			if err != nil {
				b.Fatal(err)
			}
			add(b, l, p)
		}
	})
}

func report(b *testing.B, path string, raw int64) {
	fi, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(raw)/float64(fi.Size()), "ratio")
}

// BenchmarkImportAppend appends 8 MB at a time, as an import does.
func BenchmarkImportAppend(b *testing.B) {
	p := corpus(b, 8<<20)
	b.SetBytes(int64(len(p)))
	m := &memFile{}
	l, err := openMem(m, 0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		add(b, l, p)
		b.StopTimer()
		b.ReportMetric(float64(l.last.rawEnd)/float64(len(m.b)), "ratio")
		if len(m.b) > 64<<20 {
			m = &memFile{}
			if l, err = openMem(m, 0); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
}

// corpus returns n bytes of the transcripts in STRANDLINE_EVAL_DATA, or generated lines
// without it.
func corpus(t testing.TB, n int) []byte {
	var all []byte
	for _, path := range transcripts(t) {
		all = append(all, readFile(t, path)...)
		if len(all) >= n {
			return all[:n]
		}
	}
	return append(all, jsonLines(1, n)...)[:n]
}

func transcripts(t testing.TB) []string {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		return nil
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func BenchmarkOffsetOfLine(b *testing.B) {
	m, _ := bigLog(b, 10_000)
	r := memReader(b, m)
	defer r.Close()
	rnd := rand.New(rand.NewPCG(1, 1))
	lines := r.Position().Lines
	for b.Loop() {
		if _, err := r.OffsetOfLine(context.Background(), rnd.IntN(lines)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(r.last.depth), "frames")
}

func BenchmarkReadPosition(b *testing.B) {
	m, _ := bigLog(b, 10_000)
	path := logPath(b)
	writeFile(b, path, m.b)
	for b.Loop() {
		if _, err := ReadPosition(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadAll(b *testing.B) {
	small, raw := bigLog(b, 10_000)
	large := &memFile{}
	l, err := openMem(large, 0)
	if err != nil {
		b.Fatal(err)
	}
	add(b, l, raw)
	for name, m := range map[string]*memFile{"10k frames": small, "1 MiB frames": large} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				r := memReader(b, m)
				if _, err := r.WriteTo(io.Discard); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}

func BenchmarkSeal(b *testing.B) {
	p := corpus(b, 32<<20)
	path := logPath(b)
	build(b, path, p)
	file := readFile(b, path)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		b.StopTimer()
		writeFile(b, path, file)
		b.StartTimer()
		rep, err := Seal(context.Background(), path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(rep.Raw)/float64(rep.After), "ratio")
	}
}
