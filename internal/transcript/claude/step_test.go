package claude

import (
	"fmt"
	"testing"

	"strandline/internal/archive"
)

func tokens(in, out, read, write int) map[string]any {
	return fields("input_tokens", in, "output_tokens", out, "cache_read_input_tokens", read, "cache_creation_input_tokens", write)
}

func TestUsageCountsOnce(t *testing.T) {
	st := newScript(t).user("one").
		reply("m1", "a", "usage", tokens(3, 1, 900, 10)).
		use("m1", "t1", "Read", fields(), "usage", tokens(3, 84, 900, 10), "stop_reason", "tool_use").
		result("t1", "x").
		reply("m1", "b", "usage", tokens(3, 84, 900, 10)).
		reply("m2", "c", "usage", tokens(1, 5, 1000, 0)).read()
	if len(st.steps) != 2 {
		t.Fatalf("%d steps, want 2", len(st.steps))
	}
	first := st.steps[[2]int{0, 0}]
	if want := (archive.Usage{Input: 3, Output: 84, CacheRead: 900, CacheWrite: 10}); first.Usage != want {
		t.Errorf("usage %v, want %v", first.Usage, want)
	}
	if first.LineFrom != 1 || first.LineTo != 5 || first.Stop != "tool_use" {
		t.Errorf("step %+v", first)
	}
	if want := (archive.Usage{Input: 4, Output: 89, CacheRead: 1900, CacheWrite: 10}); st.session.Usage != want {
		t.Errorf("session usage %v, want %v", st.session.Usage, want)
	}
}

func TestResponsesWithoutID(t *testing.T) {
	st := newScript(t).user("one").reply("", "a").reply("", "b").reply("", "c", "uuid", "absent").reply("", "c", "uuid", "absent").read()
	if len(st.steps) != 4 {
		t.Errorf("%d steps, want one a row", len(st.steps))
	}
	for _, s := range st.steps {
		if s.Copy != nil {
			t.Errorf("step %d.%d is taken for a copy", s.Turn, s.Index)
		}
	}
}

func TestAPIErrors(t *testing.T) {
	for name, pairs := range map[string][]any{
		"marked":    {"isApiErrorMessage", true, "usage", tokens(9, 9, 9, 9)},
		"synthetic": {"model", "<synthetic>"},
	} {
		st := newScript(t).user("one").reply("m1", "Prompt is too long", pairs...).read()
		step := st.steps[[2]int{0, 0}]
		if !step.APIError || !step.Usage.IsZero() || st.session.Steps != 0 || st.turns[0].Steps != 1 {
			t.Errorf("%s: step %+v, session counts %d", name, step, st.session.Steps)
		}
		expect(t, name, st.texts(archive.KindReply), "")
	}
}

func TestThinking(t *testing.T) {
	st := newScript(t).user("one").
		block("m1", fields("type", "thinking", "thinking", "hm")).
		block("m1", fields("type", "redacted_thinking", "data", "AAAA")).
		reply("m1", "\n\n").reply("m1", "so").read()
	expect(t, "replies", st.texts(archive.KindReply), "hm | so")
	if p := st.passages[[3]int{0, 0, 0}]; p.Label != "thinking" {
		t.Errorf("label %q", p.Label)
	}
}

func TestPlanInFull(t *testing.T) {
	st := newScript(t).user("one").use("m1", "t1", "ExitPlanMode", fields("plan", "# Plan\n\n1. a\n2. b")).result("t1", "approved").read()
	expect(t, "replies", st.texts(archive.KindReply), "# Plan\n\n1. a\n2. b")
}

// TestCopiesAcrossSessions reads a session and then one with copies of its rows.
func TestCopiesAcrossSessions(t *testing.T) {
	rows := func(s *script) *script {
		return s.user("one").use("m1", "t1", "Edit", fields("file_path", "/a", "new_string", "x"), "usage", tokens(1, 2, 3, 4)).
			result("t1", "done").use("m2", "t2", "TodoWrite", fields("todos", []any{fields("content", "a", "status", "pending")}))
	}
	st := rows(newScript(t)).read()
	fork := newStore()
	fork.keys = st.keys
	rows(newScript(t)).user("new").reply("m3", "fresh").readInto(fork, archive.Session{ID: "f0f0"})

	expect(t, "turns", fork.titles(), "one* | new")
	if len(fork.calls) != 0 || len(fork.files) != 0 || len(fork.tasks) != 0 || len(fork.passages) != 2 {
		t.Errorf("copies have content: %d calls, %d files, %d tasks, %d passages", len(fork.calls), len(fork.files), len(fork.tasks), len(fork.passages))
	}
	turn, step := fork.turns[0], fork.steps[[2]int{0, 1}]
	if want := (archive.Ref{Session: base.ID, Turn: 0, Step: -1}); turn.Copy == nil || *turn.Copy != want {
		t.Errorf("the turn is a copy of %v, want %v", turn.Copy, want)
	}
	if want := (archive.Ref{Session: base.ID, Turn: 0, Step: 1}); step.Copy == nil || *step.Copy != want || step.LineFrom != 3 {
		t.Errorf("the step is a copy of %v, want %v", step.Copy, want)
	}
	if fork.session.Steps != 1 || !fork.session.Usage.IsZero() || fork.session.Turns != 2 {
		t.Errorf("session counts %d steps, %d turns, usage %v", fork.session.Steps, fork.session.Turns, fork.session.Usage)
	}
}

func TestKeysClaimedOnce(t *testing.T) {
	s := newScript(t).user("one", "promptId", "p").reply("m1", "a").reply("m1", "b").user("two", "promptId", "p").reply("m2", "c")
	r, err := NewReader(base, archive.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Read(t.Context(), []byte(s.out.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]archive.Ref{}
	for _, k := range b.Keys {
		if old, twice := seen[k.Key]; twice {
			t.Errorf("key %x belongs to %v and %v", k.Key, old, k.Ref)
		}
		seen[k.Key] = k.Ref
	}
	for _, c := range []struct {
		name string
		key  uint64
		want archive.Ref
	}{
		{"response", identity(tagMessage, []byte("m2")), archive.Ref{Session: base.ID, Turn: 1, Step: 0}},
		{"prompt", identity(tagRow, []byte("u4")), archive.Ref{Session: base.ID, Turn: 1, Step: -1}},
		{"prompt by content", identity(tagPrompt, []byte("p"), []byte("two")), archive.Ref{Session: base.ID, Turn: 1, Step: -1}},
		{"tail of the first turn", r.sessionKey(tagTail, hashOf([]byte("u3"))), archive.Ref{Session: base.ID, Turn: 0, Step: -1}},
		{"parent of the second prompt", r.sessionKey(tagParent, hashOf([]byte("u3"))), archive.Ref{Session: base.ID, Turn: 1, Step: -1}},
	} {
		if got := seen[c.key]; got != c.want {
			t.Errorf("%s: owned by %v, want %v", c.name, got, c.want)
		}
	}
}

func TestIdentitiesDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for _, c := range [][]string{{"row", "a"}, {"message", "a"}, {"row", "a", ""}, {"row", "", "a"}, {"prompt", "a", "b"}, {"prompt", "ab"}, {"prompt", "ab", ""}} {
		var texts [][]byte
		for _, x := range c[1:] {
			texts = append(texts, []byte(x))
		}
		k := identity(c[0], texts...)
		if old, twice := seen[k]; twice {
			t.Errorf("%q and %s are one identity", c, old)
		}
		seen[k] = fmt.Sprintf("%q", c)
	}
}
