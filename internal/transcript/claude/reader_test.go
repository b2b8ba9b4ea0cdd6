package claude

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

var base = archive.Session{ID: "5e55", Client: "claude", Project: archive.Project{Key: "dir:/w"}}

// promptRow returns a single row for tests without a fixture.
func promptRow(uuid, parent, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"message":{"content":%q}}`+"\n", uuid, parent, text)
}

func useRow(message, id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"a-%s","message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`+"\n", id, message, id, tool, input)
}

func resultRow(id, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"r-%s","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}}`+"\n", id, id, text)
}

func TestSessionKeepsCallerFields(t *testing.T) {
	s := newStore()
	s.read(t, base, nil, []byte(promptRow("u", "", "hello")))
	got := s.session
	if got.ID != base.ID || got.Client != base.Client || got.Project != base.Project || got.Generation != 1 || got.Turns != 1 {
		t.Errorf("session %+v", got)
	}
}

// TestReplay reads the same bytes again into an index that holds them: no row is taken
// for a copy.
func TestReplay(t *testing.T) {
	for _, f := range fixtures(t) {
		keys := newStore().keys
		f.transcripts(func(base archive.Session, data []byte) {
			first, again := newStore(), newStore()
			first.keys, again.keys = keys, keys
			first.read(t, base, nil, data)
			again.read(t, base, nil, data)
			if a, b := first.dump(), again.dump(); a != b {
				t.Errorf("%s %s: a second reading differs:\n%s", f.path, base.ID, firstDifference(b, a))
			}
		})
	}
}

// TestRedactBeforeTruncation puts a secret in every stored text, at every position where
// the text could be truncated.
func TestRedactBeforeTruncation(t *testing.T) {
	const secret = "SECRET-0123456789"
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[gone]") }
	for _, before := range []int{0, 100, 110, 190, 215, 225, 232, 236, 239, 290, 490, 590, 1390, 2720, 3990, 4080, 4090} {
		text := strings.Repeat("x", before) + secret + strings.Repeat("y", 5000) + secret
		data := promptRow("u", "", text) +
			useRow("m1", "t1", "Bash", fmt.Sprintf(`{"command":%q,"description":%q}`, text, text)) + resultRow("t1", text) +
			useRow("m1", "t2", "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":%q,"new_string":%q}`, "/"+text, text, text)) +
			useRow("m1", "t3", "mcp__a__b", fmt.Sprintf(`{"q":%q}`, text)) + resultRow("t3", text) +
			useRow("m1", "t4", "TodoWrite", fmt.Sprintf(`{"todos":[{"content":%q,"status":"pending"}]}`, text)) +
			useRow("m1", "t5", "Agent", fmt.Sprintf(`{"prompt":%q}`, text)) + resultRow("t5", text) +
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"` + text + `"}]}}` + "\n" +
			`{"type":"queue-operation","operation":"enqueue","content":"` + text + `"}` + "\n" +
			`{"type":"queue-operation","operation":"remove"}` + "\n"
		r, err := NewReader(base, archive.Cursor{}, redact)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Read(t.Context(), []byte(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		state := string(b.Cursor.State)
		b.Cursor.State, b.Keys = nil, nil
		if all := fmt.Sprintf("%+v", b) + state; strings.Contains(all, "SECRET") {
			at := strings.Index(all, "SECRET")
			t.Errorf("secret after %d bytes shows: …%s", before, all[max(at-80, 0):min(at+20, len(all))])
		}
	}
}

func TestRedactAgent(t *testing.T) {
	agent := archive.Session{ID: "s~a", Parent: "s", Relation: archive.RelationAgent,
		Agent: archive.Agent{ID: "a", Type: "Explore", Description: "log in with SECRET"}}
	r, err := NewReader(agent, archive.Cursor{}, func(s string) string { return strings.ReplaceAll(s, "SECRET", "[gone]") })
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(t.Context(), []byte(promptRow("u", "", "go")), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Session.Agent, (archive.Agent{ID: "a", Type: "Explore", Description: "log in with [gone]"}); got != want {
		t.Errorf("agent %+v, want %+v", got, want)
	}
}

func TestLargeLine(t *testing.T) {
	text := strings.Repeat("a line of output\n", 10<<20/17)
	s := newStore()
	s.read(t, base, nil, []byte(useRow("m", "t", "Bash", `{"command":"cat big"}`)+resultRow("t", text)))
	if len(s.passages) != 1 || s.session.Calls != 1 {
		t.Fatalf("%d passages, %d calls", len(s.passages), s.session.Calls)
	}
	for _, p := range s.passages {
		if !p.Partial || len(p.Text) > 2000 {
			t.Errorf("partial %v, %d bytes", p.Partial, len(p.Text))
		}
	}
}

func TestUnfinishedLine(t *testing.T) {
	line := promptRow("u", "", "hello")
	r, err := NewReader(base, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(t.Context(), []byte(line+line[:20]), nil)
	if err != nil || b.Cursor.Offset != int64(len(line)) || b.Cursor.Line != 1 {
		t.Fatalf("cursor %+v, error %v", b.Cursor, err)
	}
	b, err = r.Read(t.Context(), []byte(line[:20]), nil)
	if err != nil || b.Cursor.Offset != int64(len(line)) || len(b.Turns) != 0 {
		t.Errorf("a piece of a line gives %+v, error %v", b, err)
	}
}

// TestBoundedState reads requests without results, prompts that stay in the queue, and
// extremely long names.
func TestBoundedState(t *testing.T) {
	var data strings.Builder
	long := strings.Repeat("n", 5000)
	for i := range 3000 {
		data.WriteString(useRow("m"+long, fmt.Sprint("t", i), "Bash"+long, `{"command":"`+long+`","description":"`+long+`"}`))
		fmt.Fprintf(&data, `{"type":"queue-operation","operation":"enqueue","content":"%s %d"}`+"\n", long, i)
		fmt.Fprintf(&data, `{"type":"user","uuid":"u%d","promptId":"%s","version":"%s","gitBranch":"%s","cwd":"%s","message":{"content":"p"}}`+"\n", i, long, long, long, long)
	}
	s := newStore()
	cur := s.read(t, base, nil, []byte(data.String()))
	if n := len(cur.State); n > 160<<10 {
		t.Errorf("the state has %d bytes", n)
	}
}

func TestInvalidState(t *testing.T) {
	s := newStore()
	cur := s.read(t, base, nil, []byte(promptRow("u", "", "hello")+useRow("m", "t", "Bash", `{"command":"ls"}`)))
	for name, state := range map[string][]byte{
		"another version": {99, 1, 2},
		"cut":             cur.State[:len(cur.State)/2],
		"something more":  append([]byte(string(cur.State)), 7),
		"noise":           []byte("\x01" + strings.Repeat("\xff", 100)),
	} {
		_, err := NewReader(base, archive.Cursor{State: state, Offset: 9}, nil)
		if archive.ErrorCode(err) != archive.CodeCorrupt || archive.ErrorHint(err) == "" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	data := []byte(promptRow("u", "", "hello"))
	r, err := NewReader(base, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fault := errors.New("store is gone")
	_, err = r.Read(t.Context(), data, func(context.Context, []uint64) (map[uint64]archive.Ref, error) { return nil, fault })
	if !errors.Is(err, fault) {
		t.Errorf("a failing lookup gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = r.Read(ctx, data, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled reading gives %v", err)
	}
}

func TestLookupOncePerRead(t *testing.T) {
	asked := 0
	r, err := NewReader(base, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data := promptRow("u1", "", "one") + useRow("m", "t", "Read", `{}`) + promptRow("u2", "u1", "two")
	_, err = r.Read(t.Context(), []byte(data), func(context.Context, []uint64) (map[uint64]archive.Ref, error) {
		asked++
		return nil, nil
	})
	if err != nil || asked != 1 {
		t.Errorf("asked %d times, error %v", asked, err)
	}
}

func TestPeek(t *testing.T) {
	head := `{"type":"mode","mode":"normal","sessionId":"s1"}` + "\n" +
		`{"type":"user","isSidechain":true,"agentId":"a7","cwd":"/w","gitBranch":"main","version":"2.1.0","timestamp":"2026-05-04T10:00:00.000Z","sessionId":"s1","message":{"content":"x"}}` + "\n" +
		`{"type":"user","isSidechain":false,"cwd":"/elsewhere`
	want := transcript.Facts{Session: "s1", Agent: "a7", Cwd: "/w", First: time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)}
	if got := Peek([]byte(head)); got != want {
		t.Errorf("Peek = %+v, want %+v", got, want)
	}
	if got := Peek([]byte("no transcript")); got != (transcript.Facts{}) {
		t.Errorf("Peek of something else = %+v", got)
	}
}

// ending is a context that ends after a number of looks at it.
type ending struct {
	context.Context
	left int
}

// Err implements context.Context.
func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A row may hold megabytes, so a read looks at the deadline at each.
func TestReadEndsBetweenRows(t *testing.T) {
	var data strings.Builder
	for i := range 100 {
		data.WriteString(promptRow(fmt.Sprint("u", i), "", "hello"))
	}
	for _, left := range []int{20, 150} {
		r, err := NewReader(base, archive.Cursor{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &ending{t.Context(), left}
		if _, err := r.Read(ctx, []byte(data.String()), nil); err == nil || ctx.left < -3 {
			t.Errorf("after %d looks: %v, and %d more looks", left, err, -ctx.left)
		}
	}
}
