package claude

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
