package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/transcript/claude"
)

// readTranscript reads a transcript into a memory store.
func readTranscript(t testing.TB, path string) *memory {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	m := newMemory()
	m.session = archive.Session{ID: strings.TrimSuffix(filepath.Base(path), ".jsonl"), Client: "claude"}
	r, err := claude.NewReader(m.session, archive.Cursor{Session: m.session.ID}, nil)
	if err != nil {
		t.Fatal(err)
	}
	none := func(context.Context, []uint64) (map[uint64]archive.Ref, error) { return nil, nil }
	batch, err := r.Read(context.Background(), b, none)
	if err != nil {
		t.Fatal(err)
	}
	dead := map[int]bool{}
	for _, i := range batch.DeadTurns {
		dead[i] = true
	}
	m.session, m.turns, m.steps, m.calls = batch.Session, batch.Turns, batch.Steps, batch.Calls
	m.passages, m.tasks, m.compactions = batch.Passages, batch.Tasks, batch.Compactions
	m.line = batch.Cursor.Line
	for i := range m.turns {
		m.turns[i].Dead = dead[m.turns[i].Index]
	}
	return m
}

func TestRestoreOfRealSessions(t *testing.T) {
	dir := os.Getenv("STRANDLINE_EVAL_DATA")
	if dir == "" {
		t.Skip("STRANDLINE_EVAL_DATA names no folder of transcripts; real sessions are not tried")
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		n++
		m := readTranscript(t, path)
		for _, share := range []int{0, 1, 2, 3} {
			for _, budget := range []int{500, 4000, 9500} {
				req := compact.Request{Session: m.session.ID, AtLine: m.line * share / 4, Budget: budget}
				b, err := compact.Restore(context.Background(), m, req)
				if err != nil {
					return fmt.Errorf("%s at line %d: %w", path, req.AtLine, err)
				}
				checkFenced(t, b.Text, budget)
				p, err := compact.Preserve(context.Background(), m, req)
				if err != nil || len(p) > 4*budget {
					return fmt.Errorf("%s at line %d: preserve of %d bytes: %w", path, req.AtLine, len(p), err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sessions", n)
}

func BenchmarkRestore(b *testing.B) {
	m := newMemory()
	for turn := range 40 {
		m.prompt(fmt.Sprintf("Now do step %d of the plan, and never touch config_%d.yaml.", turn, turn))
		for step := range 6 {
			m.reply(fmt.Sprintf("The cause is in handleOrder%d, because it calls parseRules before loadConfig. I'll move it to order_rules.go.", step))
			m.read(fmt.Sprintf("/home/ada/shop/api/order_%d.go", step), strings.Repeat("func (s *Store) ApplyRules(ctx context.Context, o Order) error { // see rules_test.go\n", 14))
			m.edit(fmt.Sprintf("/home/ada/shop/api/order_%d.go", step), "old", strings.Repeat("	return fmt.Errorf(\"apply rules of %s: %w\", o.OrderID, err)\n", 8))
			m.run("go test ./api/...", step%2, strings.Repeat("--- FAIL: TestApplyRules (0.00s) rules_test.go:42: got ErrNoRules\n", 10))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := compact.Restore(context.Background(), m, compact.Request{Session: m.session.ID, Budget: 9500}); err != nil {
			b.Fatal(err)
		}
	}
}
