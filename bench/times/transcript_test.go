package times

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestTranscriptIsTheSameForTheSameSeed(t *testing.T) {
	write := func(seed uint64) string {
		var b bytes.Buffer
		tr := NewTranscript(&b, "", "/home/dev/acme", seed)
		for range 20 {
			if err := tr.Turn(); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	if first, second := write(1), write(1); first != second {
		t.Error("the same seed wrote two transcripts")
	}
	if write(1) == write(2) {
		t.Error("two seeds wrote the same transcript")
	}
}

func TestReseededTranscriptsGoOnAlike(t *testing.T) {
	var sizes []int64
	for _, before := range []int{2, 9} {
		tr := NewTranscript(io.Discard, "", "/home/dev/acme", 1)
		for range before {
			if err := tr.Turn(); err != nil {
				t.Fatal(err)
			}
		}
		tr.Reseed(5)
		start := tr.Bytes()
		for range 5 {
			if err := tr.Turn(); err != nil {
				t.Fatal(err)
			}
		}
		sizes = append(sizes, tr.Bytes()-start)
	}
	// Counters and needles differ by a few bytes.
	if diff := sizes[0] - sizes[1]; diff > 500 || diff < -500 {
		t.Errorf("the turns after reseeding have %d bytes", sizes)
	}
}

func TestTranscriptHoldsWhatItSays(t *testing.T) {
	var b bytes.Buffer
	tr := NewTranscript(&b, "11111111-2222-4333-8444-555555555555", "/home/dev/acme", 7)
	if err := tr.Fill(&b, 3<<20); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != tr.Bytes() || b.Len() < 3<<20 {
		t.Errorf("%d bytes written, %d counted", b.Len(), tr.Bytes())
	}
	needles := map[string]int{}
	prompts, messages, cuts := 0, 0, 0
	for line := range strings.Lines(b.String()) {
		var row struct {
			Type, Subtype, PromptSource string
			IsCompactSummary            bool
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %.100s", err, line)
		}
		if row.PromptSource != "" {
			prompts++
		}
		if row.Subtype == "compact_boundary" {
			cuts++
		}
		if (row.Type == "user" || row.Type == "assistant") && !row.IsCompactSummary {
			messages++
		}
		for turn := range tr.Turns() {
			if n := Needle(7, turn); n != "" && strings.Contains(line, n+`"`) {
				needles[n]++
			}
		}
	}
	if prompts != tr.Turns() || messages != tr.Messages() {
		t.Errorf("%d prompts and %d messages, counted %d and %d", prompts, messages, tr.Turns(), tr.Messages())
	}
	if cuts == 0 {
		t.Error("no compaction in 3 MB")
	}
	for turn := range tr.Turns() {
		if n := Needle(7, turn); n != "" && needles[n] != 1 {
			t.Errorf("%s is in %d lines", n, needles[n])
		}
	}
}

func TestFillReportsAFullDisk(t *testing.T) {
	tr := NewTranscript(io.Discard, "", "/home/dev/acme", 1)
	if err := tr.Fill(full{}, 1<<20); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("got %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no space") }

// BenchmarkTranscript is the speed at which transcripts can be invented.
func BenchmarkTranscript(b *testing.B) {
	tr := NewTranscript(io.Discard, "", "/home/dev/acme", 1)
	for b.Loop() {
		if err := tr.Turn(); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(tr.Bytes() / int64(b.N))
}
