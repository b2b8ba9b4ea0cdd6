package claude

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// evalFiles returns the real transcripts below STRANDLINE_EVAL_DATA.
func evalFiles(tb testing.TB) []string {
	tb.Helper()
	root := os.Getenv("STRANDLINE_EVAL_DATA")
	if root == "" {
		tb.Skip("STRANDLINE_EVAL_DATA is not set: no real transcripts to read")
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

func evalBytes(tb testing.TB) [][]byte {
	tb.Helper()
	var all [][]byte
	for _, f := range evalFiles(tb) {
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func BenchmarkRows(b *testing.B) {
	files := evalBytes(b)
	size := 0
	for _, f := range files {
		size += len(f)
	}
	b.SetBytes(int64(size))
	s := newScanner()
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range files {
			s.scan(f, 0)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	files := evalBytes(b)
	size := 0
	for i, f := range files {
		files[i] = append(f, '\n')
		size += len(f) + 1
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	text := 0
	for b.Loop() {
		text = 0
		for _, f := range files {
			r, err := NewReader(archive.Session{ID: "5e55"}, archive.Cursor{}, nil)
			if err != nil {
				b.Fatal(err)
			}
			batch, err := r.Read(b.Context(), f, nil)
			if err != nil {
				b.Fatal(err)
			}
			for _, p := range batch.Passages {
				text += len(p.Text)
			}
		}
	}
	b.ReportMetric(100*float64(text)/float64(size), "%indexed")
}

// BenchmarkHostile reads texts that repeat what the reader looks for. The time per byte
// must not grow with the size.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range []string{
		text.FenceOpen + " 01234567: x\n", text.FenceOpen + " 01234567\n" + text.FenceClose + " 01234567\n", "= ", "<system-reminder>",
		"<system-reminder></system-reminder>", "\x1b[", "\x00", "<command-name>", "1\t", "**a ", "{\"task_id\":", "Error: ", "\n\n", "  ", "é",
	} {
		for _, size := range []int{10 << 10, 1 << 20} {
			s := strings.Repeat(piece, size/len(piece))
			data := []byte(promptRow("u", "", s) + useRow("m", "t", "Bash", `{"command":"x"}`) + resultRow("t", s))
			b.Run(fmt.Sprintf("%q/%dKB", piece[:min(len(piece), 24)], size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					r, err := NewReader(base, archive.Cursor{}, nil)
					if err != nil {
						b.Fatal(err)
					}
					r.Owns = ownsMarked
					if _, err := r.Read(b.Context(), data, nil); err != nil {
						b.Fatal(err)
					}
					new(BlockReader).Blocks(data, 0)
					Conversation(data, ownsMarked)
				}
			})
		}
	}
}
