package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"strandline/internal/archive"
)

// writer generates a transcript like a real one: rows have parents, responses take
// several lines, results are late or missing, and some rows are copied, rewound to, or
// broken.
type writer struct {
	t       *rapid.T
	out     bytes.Buffer
	rows    []map[string]any // conversation rows, for copies
	uuids   []string
	pending []string // tool_use ids
	ids     int
	clock   time.Time
}

func (w *writer) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(w.t, label) }

func (w *writer) id(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s%d", prefix, w.ids)
}

func (w *writer) words(label string) string {
	return strings.Repeat(rapid.SampledFrom([]string{"fix the total ", "Straße\n", "error: no such file\n", "", "/x ", "\x1b[1mbold\x1b[0m "}).Draw(w.t, label), w.pick(label+" times", 400))
}

func (w *writer) emit(row map[string]any) {
	b, err := json.Marshal(row)
	if err != nil {
		w.t.Fatal(err)
	}
	w.out.Write(b)
	w.out.WriteByte('\n')
}

// add writes a conversation row whose parent is the last one or, for a rewind, an
// earlier one.
func (w *writer) add(kind string, row map[string]any) {
	w.clock = w.clock.Add(time.Second)
	uuid := w.id("u")
	row["type"], row["uuid"], row["timestamp"] = kind, uuid, w.clock.Format("2006-01-02T15:04:05.000Z")
	if _, set := row["parentUuid"]; !set {
		row["parentUuid"] = nil
		if n := len(w.uuids); n > 0 {
			row["parentUuid"] = w.uuids[n-1]
		}
	}
	w.uuids = append(w.uuids, uuid)
	w.rows = append(w.rows, row)
	w.emit(row)
}

func message(role, id string, content any) map[string]any {
	m := map[string]any{"role": role, "content": content}
	if role == "assistant" {
		m["id"], m["model"] = id, "claude-opus-5-5"
		m["usage"] = map[string]any{"input_tokens": 3, "output_tokens": len(fmt.Sprint(content)), "cache_read_input_tokens": 900}
	}
	return m
}

func (w *writer) step() {
	switch w.pick("row", 14) {
	case 0, 1: // a prompt, perhaps after a rewind
		row := map[string]any{"message": message("user", "", w.words("prompt")+"?"), "promptId": w.id("p"), "promptSource": "typed"}
		if len(w.uuids) > 0 && w.pick("rewind", 4) == 0 {
			row["parentUuid"] = w.uuids[w.pick("parent", len(w.uuids))]
		}
		w.add("user", row)
	case 2, 3, 4:
		w.response(w.id("m"))
	case 5, 6, 7:
		w.result()
	case 8: // a boundary, with or without a summary
		meta := map[string]any{"trigger": "auto", "preTokens": 1000}
		if w.pick("native", 2) == 0 {
			meta["preservedMessages"] = map[string]any{"uuids": []string{"a", "b"}}
		}
		w.add("system", map[string]any{"subtype": "compact_boundary", "compactMetadata": meta, "parentUuid": nil})
		if w.pick("summary", 2) == 0 {
			w.add("user", map[string]any{"isCompactSummary": true, "message": message("user", "", "Summary: "+w.words("summary"))})
		} else {
			w.copies()
		}
	case 9: // typed ahead
		text := w.words("ahead") + "!"
		w.emit(map[string]any{"type": "queue-operation", "operation": "enqueue", "content": text, "timestamp": "2026-05-04T10:00:00.000Z"})
		op := rapid.SampledFrom([]string{"remove", "dequeue", "popAll"}).Draw(w.t, "operation")
		w.emit(map[string]any{"type": "queue-operation", "operation": op, "content": text})
		if op == "dequeue" {
			w.add("user", map[string]any{"message": message("user", "", text)})
		}
	case 10:
		w.add("user", map[string]any{"isMeta": true, "message": message("user", "", "<local-command-caveat>x</local-command-caveat>")})
		w.add("user", map[string]any{"message": message("user", "", "<command-name>/x</command-name>")})
		w.add("user", map[string]any{"isMeta": true, "message": message("user", "", "what x means")})
	case 11:
		w.add("assistant", map[string]any{"isSidechain": true, "message": message("assistant", w.id("m"), "aside")})
	case 12:
		w.out.WriteString(rapid.SampledFrom([]string{"\n", "// no JSON\n", "{\"type\":\n", "{}\n", "[]\r\n"}).Draw(w.t, "odd"))
	case 13:
		w.emit(map[string]any{"type": "cost-state", "totalCostUSD": float64(w.pick("cost", 100))})
	}
}

// response writes one API response as several lines.
func (w *writer) response(id string) {
	for range 1 + w.pick("lines", 3) {
		switch w.pick("block", 5) {
		case 0:
			w.add("assistant", map[string]any{"message": message("assistant", id, []any{map[string]any{"type": "text", "text": w.words("reply")}})})
		case 1:
			w.add("assistant", map[string]any{"message": message("assistant", id, []any{map[string]any{"type": "thinking", "thinking": w.words("thought")}})})
		default:
			use := w.id("t")
			tool := rapid.SampledFrom([]string{"Bash", "Read", "Edit", "TaskCreate", "TodoWrite", "Agent", "mcp__a__b"}).Draw(w.t, "tool")
			input := map[string]any{
				"command": w.words("command"), "file_path": "/a/" + tool, "old_string": w.words("old"), "subject": w.words("subject"),
				"todos": []any{map[string]any{"content": w.words("todo"), "status": "pending"}},
			}
			w.pending = append(w.pending, use)
			w.add("assistant", map[string]any{"message": message("assistant", id, []any{map[string]any{"type": "tool_use", "id": use, "name": tool, "input": input}})})
		}
	}
}

func (w *writer) result() {
	id := "unknown"
	if n := len(w.pending); n > 0 {
		i := w.pick("pending", n)
		id = w.pending[i]
		w.pending = slices.Delete(w.pending, i, i+1)
	}
	failed := w.pick("failed", 3) == 0
	text := w.words("output")
	if failed {
		text = "Exit code 3\n" + text
	}
	w.add("user", map[string]any{"message": message("user", "", []any{map[string]any{
		"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed,
	}}), "toolUseResult": map[string]any{"durationMs": 5, "task": map[string]any{"id": w.ids}}})
}

// copies writes some earlier rows again, as a plugin's compaction does.
func (w *writer) copies() {
	from := w.pick("from", len(w.rows))
	for _, row := range slices.Clone(w.rows[from:min(from+4, len(w.rows))]) {
		row := maps.Clone(row)
		row["uuid"] = w.id("u")
		w.emit(row)
	}
}

// TestReadInPiecesProperty checks that reading in any pieces, with the state encoded in
// between, gives the rows of one reading.
func TestReadInPiecesProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := &writer{t: rt, clock: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)}
		for range rapid.IntRange(1, 60).Draw(rt, "rows") {
			w.step()
		}
		data := w.out.Bytes()
		base := archive.Session{ID: "5e55", Client: "claude"}
		whole, pieces := newStore(), newStore()
		whole.read(t, base, nil, data)
		lines := bytes.Count(data, []byte("\n"))
		cuts := rapid.SliceOfN(rapid.IntRange(1, lines), 0, 12).Draw(rt, "cuts")
		cur := pieces.read(t, base, nil, cutAt(data, cuts...)...)
		if a, b := whole.dump(), pieces.dump(); a != b {
			rt.Fatalf("cut at %v:\n%s\n%s", cuts, firstDifference(b, a), data)
		}
		if whole.session.Lines != lines || cur.Offset != int64(len(data)) {
			rt.Fatalf("%d lines and %d bytes read of %d and %d", whole.session.Lines, cur.Offset, lines, len(data))
		}
		if len(cur.State) > 128<<10 {
			rt.Fatalf("the state has %d bytes", len(cur.State))
		}
		invariants(rt, whole)
	})
}

// invariants hold for every reading.
func invariants(t rapid.TB, s *store) {
	for i := range len(s.turns) {
		turn := s.turns[i]
		if i > 0 && turn.LineFrom != s.turns[i-1].LineTo {
			t.Fatalf("turn %d begins at line %d, the previous one ends at %d", i, turn.LineFrom, s.turns[i-1].LineTo)
		}
		for j := range turn.Steps {
			if _, ok := s.steps[[2]int{i, j}]; !ok {
				t.Fatalf("turn %d has %d steps, %d is missing", i, turn.Steps, j)
			}
		}
	}
	if len(s.turns) != s.session.Turns {
		t.Fatalf("%d turns, the session says %d", len(s.turns), s.session.Turns)
	}
	var usage archive.Usage
	for _, step := range s.steps {
		usage = usage.Add(step.Usage)
		if step.Copy != nil && !step.Usage.IsZero() {
			t.Fatalf("the copied step %d.%d has usage", step.Turn, step.Index)
		}
	}
	if usage != s.session.Usage {
		t.Fatalf("steps have usage %v, the session says %v", usage, s.session.Usage)
	}
	for _, p := range s.passages {
		if len(p.Text) > archive.MaxPassage || strings.TrimSpace(p.Text) == "" || !utf8.ValidString(p.Text) {
			t.Fatalf("passage %d.%d/%d has %d bytes", p.Turn, p.Step, p.Seq, len(p.Text))
		}
		if p.LineFrom < 0 || p.LineTo <= p.LineFrom || p.LineTo > s.session.Lines {
			t.Fatalf("passage %d.%d/%d has lines [%d,%d)", p.Turn, p.Step, p.Seq, p.LineFrom, p.LineTo)
		}
	}
}
