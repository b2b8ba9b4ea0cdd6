package claude

import (
	"strings"
	"testing"

	"strandline/internal/archive"
)

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(s *script)
		want  string // titles of the turns
	}{
		{"no conversation", func(s *script) {
			s.state(fields("type", "mode", "mode", "normal"))
			s.row("attachment", fields("attachment", fields("type", "date")))
		}, ""},
		{"state before the first prompt is part of its turn", func(s *script) {
			s.state(fields("type", "mode", "mode", "normal")).user("one").reply("m1", "a").user("two")
		}, "one | two"},
		{"a reply before any prompt has a turn without a title", func(s *script) {
			s.reply("m1", "hello").user("one")
		}, " | one"},
		{"the same words twice are two turns", func(s *script) {
			s.user("go on", "promptId", "p").reply("m1", "a").user("go on", "promptId", "p")
		}, "go on | go on"},
		{"side chains start no turn", func(s *script) {
			s.user("one").user("you are an agent", "isSidechain", true).reply("m1", "a", "isSidechain", true)
		}, "one"},
		{"a rewind to the prompt before", func(s *script) {
			s.user("one").reply("m1", "a").user("two").reply("m2", "b").user("better", "parentUuid", "u2")
		}, "one | two† | better"},
		{"a rewind to the first prompt", func(s *script) {
			s.user("one").reply("m1", "a").user("two").reply("m2", "b").user("better", "parentUuid", nil)
		}, "one† | two† | better"},
		{"two rewinds to one place", func(s *script) {
			s.user("one").reply("m1", "a").user("two").reply("m2", "b").
				user("better", "parentUuid", "u2").reply("m3", "c").user("best", "parentUuid", "u2")
		}, "one | two† | better† | best"},
		{"a prompt on a row inside an earlier turn", func(s *script) {
			s.user("one").reply("m1", "a").reply("m2", "b").user("two").reply("m3", "c").user("back", "parentUuid", "u2")
		}, "one | two† | back"},
		{"a prompt on a row of the running turn", func(s *script) {
			s.user("one").reply("m1", "a").reply("m2", "b").user("two", "parentUuid", "u2")
		}, "one | two"},
		{"files that name no parents", func(s *script) {
			s.user("one", "parentUuid", "absent").reply("m1", "a").user("two", "parentUuid", "absent")
		}, "one | two"},
		{"an unknown parent", func(s *script) {
			s.user("one").reply("m1", "a").user("two", "parentUuid", "elsewhere")
		}, "one | two"},
		{"a new root after a compaction", func(s *script) {
			s.user("one").reply("m1", "a").boundary(fields("trigger", "auto")).
				user("in short", "isCompactSummary", true).user("two", "parentUuid", nil)
		}, "one | two"},
		{"results that branch", func(s *script) {
			s.user("one").use("m1", "t1", "Read", fields()).use("m1", "t2", "Read", fields()).
				result("t2", "x").result("t1", "y", "parentUuid", "u2").reply("m2", "a").user("two")
		}, "one | two"},
		{"a prompt typed before the running turn began", func(s *script) {
			s.user("one").reply("m1", "a").queue("enqueue", "ahead").user("two").reply("m2", "b").
				queue("dequeue", "").user("ahead", "parentUuid", "u2")
		}, "one | two | ahead"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			c.write(s)
			expect(t, "turns", s.read().titles(), c.want)
		})
	}
}

func TestPrompts(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(s *script)
		want  string // texts of the prompt passages
	}{
		{"typed ahead, given in the middle of the turn", func(s *script) {
			s.user("one").queue("enqueue", "and two").queue("remove", "")
		}, "one | and two"},
		{"typed ahead, with a row", func(s *script) {
			s.user("one").queue("enqueue", "two").queue("dequeue", "").user("two")
		}, "one | two"},
		{"typed ahead and taken back", func(s *script) {
			s.user("one").queue("enqueue", "two").queue("popAll", "two").queue("remove", "")
		}, "one"},
		{"a queued command is not a prompt", func(s *script) {
			s.user("one").queue("enqueue", "/clear").queue("remove", "")
		}, "one"},
		{"a queued notice is not a prompt", func(s *script) {
			s.user("one").queue("enqueue", "<task-notification>x</task-notification>").queue("remove", "")
		}, "one"},
		{"nothing is left to remove", func(s *script) { s.user("one").queue("remove", "") }, "one"},
		{"an attachment holds it", func(s *script) {
			s.user("one").row("attachment", fields("attachment", fields("type", "queued_command", "prompt", "two")))
		}, "one | two"},
		{"an attachment in blocks", func(s *script) {
			s.user("one").row("attachment", fields("attachment", fields("type", "queued_command", "commandMode", "prompt",
				"prompt", []any{fields("type", "text", "text", "two"), fields("type", "image")})))
		}, "one | two\n[image]"},
		{"queue and attachment both hold it", func(s *script) {
			s.user("one").queue("enqueue", "two").queue("remove", "").
				row("attachment", fields("attachment", fields("type", "queued_command", "prompt", "two")))
		}, "one | two"},
		{"attachment first, then the queue", func(s *script) {
			s.user("one").queue("enqueue", "two").
				row("attachment", fields("attachment", fields("type", "queued_command", "prompt", "two"))).queue("remove", "")
		}, "one | two"},
		{"an attachment that is not the user's", func(s *script) {
			s.user("one").row("attachment", fields("attachment", fields("type", "queued_command", "prompt", "two", "isMeta", true)))
		}, "one"},
		{"words with a refusal", func(s *script) {
			s.user("one").use("m", "t", "Bash", fields("command", "rm")).
				result("t", "The user doesn't want this. The user said no; the user said:\nkeep it", "is_error", true)
		}, "one | keep it"},
		{"a prompt to an agent", func(s *script) {
			s.user("one").user("do it", "isSidechain", true)
		}, "one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			c.write(s)
			st := s.read()
			expect(t, "prompts", st.texts(archive.KindPrompt), c.want)
		})
	}
}

func TestLongPrompt(t *testing.T) {
	text := strings.Repeat("a line of the prompt\n", 1000)
	st := newScript(t).user(text).read()
	var all strings.Builder
	for _, p := range sorted(st.passages) {
		if p.Step != -1 || p.Partial || p.LineTo != 1 {
			t.Errorf("passage %+v", p)
		}
		all.WriteString(p.Text)
	}
	if len(st.passages) != 6 || squeeze(all.String()) != squeeze(text) {
		t.Errorf("%d passages, %d bytes of %d", len(st.passages), all.Len(), len(text))
	}
}

func TestNotices(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"with a result", "<task-notification><summary>Count done</summary><result>12 files</result></task-notification>", "Count done\n12 files"},
		{"without a summary", "<agent-notification><result>12 files</result></agent-notification>", "12 files"},
		{"without a result", "<task-notification><status>running</status></task-notification>", ""},
	} {
		st := newScript(t).user("one").user(c.text).read()
		expect(t, c.name, st.texts(archive.KindOutput), c.want)
		expect(t, c.name, st.titles(), "one")
	}
}

func TestSessionFacts(t *testing.T) {
	st := newScript(t).
		user("first\nprompt", "cwd", "/a", "gitBranch", "main", "version", "2.1.0").
		reply("m1", "a", "cwd", "/b", "gitBranch", "topic", "version", "2.1.1", "model", "claude-haiku-4-5").
		reply("m2", "b", "isSidechain", true, "model", "claude-opus-4-5").
		reply("m3", "c", "model", "<synthetic>").
		user("second", "gitBranch", "").
		state(fields("type", "cost-state", "totalCostUSD", 1.5, "totalLinesAdded", 3)).
		state(fields("type", "result", "total_cost_usd", 2, "num_turns", 4)).read()
	s := st.session
	expect(t, "folder", s.Cwd, "/a")
	expect(t, "branch", s.GitBranch, "topic")
	expect(t, "version", s.Version, "2.1.1")
	expect(t, "model", s.Model, "claude-haiku-4-5")
	expect(t, "title", s.Title, "first")
	if s.Cost.USD != 2 || s.Cost.LinesAdded != 3 || s.Cost.Turns != 4 {
		t.Errorf("cost %+v", s.Cost)
	}
	if s.Steps != 2 || s.First.Second() != 1 || s.Last.Second() != 5 {
		t.Errorf("%d steps from %v to %v", s.Steps, s.First, s.Last)
	}
}
