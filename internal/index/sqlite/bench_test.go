package sqlite_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/index/sqlite"
	"strandline/internal/index/terms"
)

const (
	benchPassages   = 90_000
	benchPerSession = 1_000
)

// benchTexts returns passages of 200 to 1,200 bytes made of English stop words and
// identifiers, the latter with frequencies as in real text (Zipf). The words that the
// benchmarks search occur in known shares of them. If STRANDLINE_BENCH_TEXTS names a file
// with a JSON string on each line, it returns those instead.
func benchTexts(tb testing.TB, n int) []string {
	if path := os.Getenv("STRANDLINE_BENCH_TEXTS"); path != "" {
		return readTexts(tb, path, n)
	}
	glue := strings.Fields("the a to of and in is that it for on with as be this are not have from or by at we you can will if but an")
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 8, 60_000)
	texts := make([]string, n)
	var b strings.Builder
	for i := range texts {
		b.Reset()
		for size := 200 + r.IntN(1000); b.Len() < size; {
			switch k := zipf.Uint64(); {
			case r.IntN(3) == 0:
				b.WriteString(glue[r.IntN(len(glue))])
			case k%5 == 0:
				fmt.Fprintf(&b, "parse%dConfig%d", k%97, k)
			case k%7 == 0:
				fmt.Fprintf(&b, "internal/pkg%d/file_%d.go", k%211, k)
			default:
				fmt.Fprintf(&b, "word%s", alpha(k))
			}
			b.WriteByte(' ')
		}
		for _, w := range []struct {
			word string
			one  int // in one of that many passages
		}{{"error", 6}, {"session", 4}, {"test", 8}, {"checkpoint", 20}, {"written", 30}, {"rarebird", 20_000}} {
			if i%w.one == 0 {
				b.WriteString(w.word + " ")
			}
		}
		texts[i] = b.String()
	}
	return texts
}

func alpha(k uint64) string {
	var b []byte
	for ; k > 0; k /= 26 {
		b = append(b, 'a'+byte(k%26))
	}
	return string(b)
}

func readTexts(tb testing.TB, path string, n int) (texts []string) {
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() && len(texts) < n {
		var s string
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, s)
	}
	return texts
}

// benchBatches distributes texts over sessions, with ten steps per turn.
func benchBatches(texts []string) (bs []archive.Batch) {
	for len(texts) > 0 {
		n := min(benchPerSession, len(texts))
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", len(bs)+1)
		b := archive.Batch{
			Session: archive.Session{ID: id, Client: "claude", Project: archive.Project{Key: fmt.Sprintf("dir:/p%d", len(bs)%8)}, Generation: 1},
			Cursor:  archive.Cursor{Session: id, Generation: 1, State: make([]byte, 200)},
		}
		for i, text := range texts[:n] {
			turn, step := i/10, i%10
			if step == 0 {
				b.Turns = append(b.Turns, archive.Turn{Session: id, Index: turn, LineFrom: i})
			}
			b.Steps = append(b.Steps, archive.Step{Session: id, Turn: turn, Index: step, MessageID: fmt.Sprint("msg", i), LineFrom: i})
			b.Passages = append(b.Passages, archive.Passage{
				Session: id, Turn: turn, Step: step, Kind: archive.PassageKinds()[i%5], Text: text, LineFrom: i, LineTo: i + 1,
			})
			b.Keys = append(b.Keys, archive.Identity{Key: rand.Uint64(), Ref: archive.Ref{Session: id, Turn: turn, Step: step}})
		}
		bs = append(bs, b)
		texts = texts[n:]
	}
	return bs
}

func textBytes(bs []archive.Batch) (n int64) {
	for _, b := range bs {
		for _, p := range b.Passages {
			n += int64(len(p.Text))
		}
	}
	return n
}

// BenchmarkApply reports megabytes of passage text per second, in transactions of several
// sessions like those of an import.
func BenchmarkApply(b *testing.B) {
	bs := benchBatches(benchTexts(b, 30_000))
	b.SetBytes(textBytes(bs))
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), newPath(b), sqlite.Options{Bulk: true})
		if err != nil {
			b.Fatal(err)
		}
		for group := range slices.Chunk(bs, 10) {
			if err := s.ApplyAll(b.Context(), group); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch opens the index, searches and closes it, like the command line.
func BenchmarkSearch(b *testing.B) {
	path := newPath(b)
	s, err := sqlite.Open(b.Context(), path, sqlite.Options{Bulk: true})
	if err != nil {
		b.Fatal(err)
	}
	bs := benchBatches(benchTexts(b, benchPassages))
	if err := s.ApplyAll(b.Context(), bs); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct {
		name, words string
		q           archive.Query
	}{
		{"rare", "rarebird", archive.Query{}},
		{"common", "error", archive.Query{}},
		{"commonest", "the", archive.Query{}},
		{"question", "how does the session checkpoint get written when a test has an error", archive.Query{}},
		{"question in a project", "how does the session checkpoint get written when a test has an error", archive.Query{Projects: []string{"dir:/p3"}}},
		{"question in a session", "how does the session checkpoint get written when a test has an error", archive.Query{Sessions: []string{bs[7].Session.ID}}},
		{"prefix", "pars*", archive.Query{}},
		{"must", `"error" "test" session`, archive.Query{}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for b.Loop() {
				s, err := sqlite.Open(b.Context(), path, sqlite.Options{ReadOnly: true})
				if err != nil {
					b.Fatal(err)
				}
				q := bench.q
				q.Terms = terms.Query(bench.words)
				if _, err := s.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHookCycle measures the index operations of a hook for a new turn of 2 KB, in
// archives of several sizes.
func BenchmarkHookCycle(b *testing.B) {
	path := newPath(b)
	s, err := sqlite.Open(b.Context(), path, sqlite.Options{Bulk: true})
	if err != nil {
		b.Fatal(err)
	}
	texts := benchTexts(b, 10_000)
	if err := s.ApplyAll(b.Context(), benchBatches(texts)); err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	id := "00000001-0000-4000-8000-000000000000"
	for n := 1000; b.Loop(); n++ {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		cursor, err := s.Cursor(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Known(b.Context(), []uint64{rand.Uint64(), rand.Uint64(), rand.Uint64()}); err != nil {
			b.Fatal(err)
		}
		batch := benchBatches(texts[n%5000 : n%5000+3])[0]
		for i := range batch.Passages {
			batch.Passages[i].Turn = n
		}
		batch.Turns[0].Index = n
		batch.From, batch.Cursor.Offset = cursor.Offset, cursor.Offset+2000
		if err := s.Apply(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
