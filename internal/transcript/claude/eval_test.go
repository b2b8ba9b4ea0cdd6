package claude

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
)

// TestEvalTranscripts reads every real transcript whole and in random pieces, and prints
// the number of rows.
func TestEvalTranscripts(t *testing.T) {
	files := evalFiles(t)
	var bytesAll, indexed int64
	var total archive.Session
	var passages, largest, tasks, dead int
	var spent time.Duration
	facts := manifest(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data = append(bytes.TrimRight(data, "\n"), '\n')
		base := archive.Session{ID: filepath.Base(path), Client: "claude"}
		whole, pieces := newStore(), newStore()
		start := time.Now()
		cur := whole.read(t, base, nil, data)
		spent += time.Since(start)
		lines := bytes.Count(data, []byte("\n"))
		if whole.session.Lines != lines || cur.Line != lines || cur.Offset != int64(len(data)) {
			t.Errorf("%s: %d lines and %d bytes read, the file has %d and %d", path, cur.Line, cur.Offset, lines, len(data))
		}
		if want, ok := facts[filepath.Base(path)]; ok {
			s := whole.session
			if s.Lines != want["lines"] || s.Calls != want["tool_calls"] || s.Compacts != want["compact_boundaries"] {
				t.Errorf("%s: %d lines, %d calls, %d compactions, the manifest says %v", path, s.Lines, s.Calls, s.Compacts, want)
			}
		}
		cuts := make([]int, 12)
		for i := range cuts {
			cuts[i] = 1 + rnd.IntN(lines)
		}
		pieces.read(t, base, nil, cutAt(data, cuts...)...)
		if a, b := whole.dump(), pieces.dump(); a != b {
			t.Errorf("%s: pieces cut at %v differ from the whole", path, slices.Sorted(slices.Values(cuts)))
		}
		for _, p := range whole.passages {
			indexed += int64(len(p.Text))
			if len(p.Text) > archive.MaxPassage || p.LineFrom < 0 || p.LineTo <= p.LineFrom || p.LineTo > lines {
				t.Errorf("%s: bad passage %d.%d/%d: %d bytes, lines [%d,%d)", path, p.Turn, p.Step, p.Seq, len(p.Text), p.LineFrom, p.LineTo)
			}
		}
		for _, turn := range whole.turns {
			if turn.Dead {
				dead++
			}
		}
		largest = max(largest, len(cur.State))
		passages += len(whole.passages)
		tasks += len(whole.tasks)
		bytesAll += int64(len(data))
		s := whole.session
		total.Turns += s.Turns
		total.Steps += s.Steps
		total.Calls += s.Calls
		total.Compacts += s.Compacts
	}
	t.Logf("%d files, %d bytes: %d turns (%d dead), %d steps, %d calls, %d passages, %d task events, %d compactions",
		len(files), bytesAll, total.Turns, dead, total.Steps, total.Calls, passages, tasks, total.Compacts)
	t.Logf("%d bytes of passages (%.1f %%), largest state %d bytes, %.0f MB/s",
		indexed, 100*float64(indexed)/float64(bytesAll), largest, float64(bytesAll)/1e6/spent.Seconds())
}

// manifest reads the entries of MANIFEST.tsv beside the transcripts, by base name.
// Without that file nothing is compared.
func manifest(tb testing.TB) map[string]map[string]int {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(os.Getenv("STRANDLINE_EVAL_DATA"), "MANIFEST.tsv"))
	if err != nil {
		tb.Logf("no manifest to compare with: %v", err)
		return nil
	}
	facts := map[string]map[string]int{}
	var head []string
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if head == nil {
			head = cells
			continue
		}
		row := map[string]int{}
		for i, c := range cells {
			if n, err := strconv.Atoi(c); err == nil && i < len(head) {
				row[head[i]] = n
			}
		}
		facts[filepath.Base(cells[0])] = row
	}
	return facts
}
