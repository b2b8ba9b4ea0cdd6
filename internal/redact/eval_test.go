package redact_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"strandline/internal/redact"
)

// transcripts returns the texts of the evaluation data: each string of each line,
// as the reader returns it.
func transcripts(tb testing.TB) []string {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		tb.Skip("STRANDLINE_EVAL_DATA names no folder with transcripts")
	}
	var texts []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			var v any
			if json.Unmarshal([]byte(line), &v) == nil {
				texts = collect(v, texts)
			}
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return texts
}

func collect(v any, texts []string) []string {
	switch v := v.(type) {
	case string:
		if len(v) > 40 {
			texts = append(texts, v)
		}
	case []any:
		for _, e := range v {
			texts = collect(e, texts)
		}
	case map[string]any:
		for _, e := range v {
			texts = collect(e, texts)
		}
	}
	return texts
}

// TestFindingsInTranscripts prints the findings in real transcripts for review.
// These have few secrets, so most findings are false positives.
func TestFindingsInTranscripts(t *testing.T) {
	type seen struct {
		kind, around string
		count        int
	}
	all := map[string]*seen{}
	bytes, total := 0, 0
	for _, text := range transcripts(t) {
		bytes += len(text)
		for _, f := range redact.Findings(text) {
			total++
			around := text[max(0, f.Start-50):min(len(text), f.End+20)]
			key := f.Kind + text[f.Start:f.End]
			if all[key] == nil {
				all[key] = &seen{kind: f.Kind, around: around}
			}
			all[key].count++
		}
	}
	list := make([]*seen, 0, len(all))
	for _, s := range all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *seen) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.around, b.around))
	})
	for _, s := range list {
		fmt.Printf("%-18s x%-4d %q\n", s.kind, s.count, s.around)
	}
	fmt.Printf("%d findings, %d different, in %.1f MB\n", total, len(list), float64(bytes)/1e6)
}

func BenchmarkTranscripts(b *testing.B) {
	texts := transcripts(b)
	r := redact.New([]byte("bench"))
	n := 0
	for _, s := range texts {
		n += len(s)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range texts {
			r.String(s)
		}
	}
}

// TestFindingsInFiles prints the findings in the files below STRANDLINE_EVAL_FILES,
// for review, as TestFindingsInTranscripts does.
func TestFindingsInFiles(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_FILES")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_FILES names no folder")
	}
	size, total := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || len(data) > 1<<20 {
			return nil //nolint:nilerr // unreadable files are not reviewed
		}
		text := string(data)
		size += len(text)
		for _, f := range redact.Findings(text) {
			total++
			fmt.Printf("%-18s %s %q [%s]\n", f.Kind, filepath.Base(path), text[max(0, f.Start-40):min(len(text), f.End+15)], text[f.Start:min(f.End, f.Start+60)])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%d findings in %.1f MB\n", total, float64(size)/1e6)
}
