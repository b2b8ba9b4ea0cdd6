package claude

import (
	"context"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// TestForgottenRow checks that the row of a forgotten turn or step keeps the links
// between rows as far as they fit.
func TestForgottenRow(t *testing.T) {
	first := transcript.Row{UUID: "u1", Parent: "u0", Time: time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)}
	last := transcript.Row{UUID: "u9"}
	for limit, want := range map[int]string{
		500: `{"type":"system","subtype":"forgotten_turn","uuid":"u9","parentUuid":"u0","timestamp":"2026-11-01T10:00:00.000Z"}`,
		90:  `{"type":"system","subtype":"forgotten_turn","timestamp":"2026-11-01T10:00:00.000Z"}`,
		44:  `{"type":"system","subtype":"forgotten_turn"}`,
		43:  "",
	} {
		if got := ForgottenRow(false, first, last, limit); got != want {
			t.Errorf("in %d bytes: %s", limit, got)
		}
	}
	if got := ForgottenRow(true, transcript.Row{}, transcript.Row{}, 100); !strings.Contains(got, "forgotten_step") {
		t.Error(got)
	}
}

func TestForgottenRowsKeepNumbers(t *testing.T) {
	lines := []string{
		`{"type":"system","subtype":"forgotten_turn","uuid":"u2","parentUuid":null,"timestamp":"2026-11-01T10:00:00.000Z"}   `,
		`                 `,
		`{"type":"user","uuid":"u3","parentUuid":"u2","timestamp":"2026-11-01T10:01:00.000Z","message":{"role":"user","content":"the second"}}`,
		`{"type":"assistant","uuid":"u4","parentUuid":"u3","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"zero"}]}}`,
		`{"type":"system","subtype":"forgotten_step","uuid":"u5","parentUuid":"u4"}`,
		`{"type":"assistant","uuid":"u6","parentUuid":"u5","message":{"id":"m3","role":"assistant","model":"m","content":[{"type":"text","text":"two"}]}}`,
	}
	r, err := NewReader(archive.Session{ID: "s"}, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(context.Background(), []byte(strings.Join(lines, "\n")+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	turns, texts := map[int]archive.Turn{}, map[string]archive.Ref{}
	for _, x := range b.Turns {
		turns[x.Index] = x
	}
	for _, x := range b.Passages {
		texts[x.Text] = archive.Ref{Turn: x.Turn, Step: x.Step}
	}
	if len(turns) != 2 || turns[0].Title != "(forgotten)" || turns[1].Title != "the second" || turns[1].Steps != 3 || b.Session.Title != "the second" {
		t.Errorf("%+v, titled %q", turns, b.Session.Title)
	}
	if texts["zero"] != (archive.Ref{Turn: 1, Step: 0}) || texts["two"] != (archive.Ref{Turn: 1, Step: 2}) || len(texts) != 3 {
		t.Errorf("%v", texts)
	}
	if len(b.DeadTurns) != 0 {
		t.Errorf("turns %v are dead", b.DeadTurns)
	}
}

func TestRows(t *testing.T) {
	chunk := strings.Join([]string{
		`{"type":"user","uuid":"u1","parentUuid":"u0","timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"words"}}`,
		`{"type":"assistant","uuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`,
		`{"type":"user","uuid":"u3","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`,
		`{"type":"system","subtype":"compact_boundary","uuid":"u4"}`,
		`{"type":"system","subtype":"forgotten_turn"}`,
		`   `, `no JSON`, `unfinished`,
	}, "\n")
	var got []transcript.Row
	Rows([]byte(chunk), 7, func(r transcript.Row) { got = append(got, r) })
	if len(got) != 7 || got[0].Line != 7 || !got[0].Prompt || got[0].Parent != "u0" || got[0].Time.IsZero() {
		t.Fatalf("%+v", got)
	}
	if got[1].MessageID != "m1" || got[1].Uses[0] != "t1" || got[2].Results[0] != "t1" || got[2].Prompt {
		t.Errorf("%+v %+v", got[1], got[2])
	}
	for i, want := range []string{"conversation", "conversation", "conversation", "boundary", "blank", "blank", ""} {
		r := got[i]
		if is := map[string]bool{"conversation": r.InConversation, "boundary": r.Boundary, "blank": r.Blank, "": !r.InConversation && !r.Boundary && !r.Blank}; !is[want] {
			t.Errorf("line %d is not %q: %+v", i, want, r)
		}
	}
}
