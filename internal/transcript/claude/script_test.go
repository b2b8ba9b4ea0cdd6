package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// script writes a transcript for a test: the parent of every row is the row before, one
// second earlier.
type script struct {
	tb   testing.TB
	out  strings.Builder
	n    int
	last string
	owns transcript.Owns // nil: ownsMarked
}

func newScript(tb testing.TB) *script { return &script{tb: tb} }

// row writes a conversation row; fields replace its defaults.
func (s *script) row(kind string, fields map[string]any) *script {
	s.n++
	uuid := fmt.Sprintf("u%d", s.n)
	row := map[string]any{
		"type": kind, "uuid": uuid, "parentUuid": nil,
		"timestamp": time.Date(2026, 5, 4, 10, 0, s.n, 0, time.UTC).Format("2006-01-02T15:04:05.000Z"),
	}
	if s.last != "" {
		row["parentUuid"] = s.last
	}
	for k, v := range fields {
		if v == "absent" {
			delete(row, k)
			continue
		}
		row[k] = v
	}
	s.last, _ = row["uuid"].(string)
	return s.state(row)
}

// state writes a row unchanged.
func (s *script) state(row map[string]any) *script {
	b, err := json.Marshal(row)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.out.Write(append(b, '\n'))
	return s
}

// fields returns the object of pairs of a name and a value.
func fields(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

func (s *script) user(text string, pairs ...any) *script {
	f := fields(pairs...)
	f["message"] = fields("role", "user", "content", text)
	return s.row("user", f)
}

func (s *script) reply(id, text string, pairs ...any) *script {
	return s.block(id, fields("type", "text", "text", text), pairs...)
}

func (s *script) use(id, tool, name string, input any, pairs ...any) *script {
	return s.block(id, fields("type", "tool_use", "id", tool, "name", name, "input", input), pairs...)
}

func (s *script) block(id string, block map[string]any, pairs ...any) *script {
	f := fields(pairs...)
	m := fields("role", "assistant", "id", id, "model", "claude-opus-5-5", "content", []any{block})
	for _, k := range []string{"usage", "model", "stop_reason"} {
		if v, ok := f[k]; ok {
			m[k] = v
			delete(f, k)
		}
	}
	f["message"] = m
	return s.row("assistant", f)
}

func (s *script) result(tool, text string, pairs ...any) *script {
	f := fields(pairs...)
	b := fields("type", "tool_result", "tool_use_id", tool, "content", text)
	if v, ok := f["is_error"]; ok {
		b["is_error"] = v
		delete(f, "is_error")
	}
	f["message"] = fields("role", "user", "content", []any{b})
	return s.row("user", f)
}

func (s *script) queue(operation, text string) *script {
	return s.state(fields("type", "queue-operation", "operation", operation, "content", text))
}

func (s *script) boundary(meta map[string]any) *script {
	return s.row("system", fields("subtype", "compact_boundary", "compactMetadata", meta, "parentUuid", nil))
}

// read folds the script into a new index.
func (s *script) read() *store {
	s.tb.Helper()
	return s.readInto(newStore(), base)
}

func (s *script) readInto(st *store, base archive.Session) *store {
	s.tb.Helper()
	if s.owns != nil {
		st.owns = s.owns
	}
	st.read(s.tb, base, nil, []byte(s.out.String()))
	return st
}

// titles lists the turns, dead ones with a dagger and copies with a star.
func (s *store) titles() string {
	var all []string
	for _, t := range sorted(s.turns) {
		all = append(all, t.Title+mark(t.Dead, "†")+mark(t.Copy != nil, "*"))
	}
	return strings.Join(all, " | ")
}

// texts lists the passages of a kind in order.
func (s *store) texts(kind archive.PassageKind) string {
	var all []string
	for _, p := range sorted(s.passages) {
		if p.Kind == kind {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, " | ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}
