package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"strandline/e2e/mockapi"
)

// keptSegment is a row of `strandline segments --json`.
type keptSegment struct {
	ID      string `json:"segment_id"`
	Task    string `json:"task_id"`
	Topic   string `json:"topic"`
	Tier    string `json:"tier"`
	Pending bool   `json:"pending"`
	Content string `json:"compressed_content"`
}

func (s *sandbox) segments(session string) (out []keptSegment) {
	s.t.Helper()
	s.awaitProcesses()
	res := s.strandline("segments", "--session", session, "--json").mustSucceed()
	if err := json.Unmarshal([]byte(res.stdout), &out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// tierOf returns the tier of a topic's segment.
func tierOf(list []keptSegment, topic string) string {
	for _, x := range list {
		if strings.Contains(x.Topic, topic) {
			return fmt.Sprintf("%s pending=%t", x.Tier, x.Pending)
		}
	}
	return "none"
}

// idle scripts a turn of n unrelated commands whose responses report that many
// tokens.
func (s *sandbox) idle(prompt string, n int, tokens int64) {
	var replies []mockapi.Reply
	for i := range n {
		replies = append(replies, mockapi.Use(mockapi.Bash(fmt.Sprintf("echo harbour %d", i))).Saying(fmt.Sprintf("Harbour number %d has its charts.", i)).At(tokens))
	}
	s.api.On(prompt, append(replies, mockapi.Say("Charted.").At(tokens))...)
}

// TestFinishedWorkGoesCold: while the window fills, finished work is queued, summarised,
// included in a compaction and archived, with and without the client's task tools.
func TestFinishedWorkGoesCold(t *testing.T) {
	t.Parallel()
	for name, tools := range map[string]bool{"task tools": true, "no task tools": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			home := filepath.Join(root, "home")
			s := newSandboxIn(t, root, home, filepath.Join(home, ".claude"), filepath.Join(home, ".local", "share", "strandline"),
				"CLAUDE_CODE_AUTO_COMPACT_WINDOW=200000")
			s.install()
			topic := "Write the tokenizer"
			first := "Write the tokenizer for arithmetic expressions with names, numbers and operators."
			work := []mockapi.Reply{
				mockapi.Use(mockapi.Write(filepath.Join(s.project, "tokenizer.go"), "package lex\n\nfunc nextRune() {}\n")).Saying("The tokenizer reads runes because bytes break names."),
				mockapi.Use(mockapi.Bash("echo tokenizer tests pass")),
				mockapi.Use(mockapi.Bash("echo operators scanned")).Saying("The operators are scanned as well."),
			}
			args := []string{"--model", "claude-sonnet-4-5"}
			if tools {
				update := func(status string) mockapi.Reply {
					return mockapi.Use(mockapi.Tool{Name: "TaskUpdate", Input: map[string]any{"taskId": "1", "status": status}})
				}
				create := mockapi.Use(mockapi.Tool{Name: "TaskCreate", Input: map[string]any{"subject": topic, "description": "all of it", "activeForm": "Writing"}})
				work = append(append([]mockapi.Reply{create, update("in_progress")}, work...), update("completed"))
			}
			s.api.On(first, append(work, mockapi.Say("Done: tokenizer.go reads runes; nextRune is new."))...)
			s.idle("Draw weekly charts of colourful tides at harbours, printable on posters.", 26, 130_000)
			s.idle("More harbours.", 11, 150_000)
			s.idle("All harbours.", 45, 164_000)
			s.api.Summarize("The harbours were charted.")

			id := newSession(t)
			s.start(id, first, args...).undisturbed()
			s.resume(id, "Draw weekly charts of colourful tides at harbours, printable on posters.", args...).mustAnswer("Charted.").undisturbed()
			if got := tierOf(s.segments(id), topic); got != "L1 pending=true" {
				t.Fatalf("at 65 percent: %s\n%s\n%s", got, s.strandline("tasks", "--session", id).stdout, s.strandline("timeline", id).stdout)
			}
			s.resume(id, "More harbours.", args...).mustAnswer("Charted.").undisturbed()
			list := s.segments(id)
			if got := tierOf(list, topic); got != "L2 pending=false" {
				t.Fatalf("at 75 percent: %s", got)
			}
			if tools && list[0].Task != "1" || !tools && !strings.HasPrefix(list[0].Task, "topic-") {
				t.Errorf("the segment is of task %s", list[0].Task)
			}
			if !strings.Contains(list[0].Content, "tokenizer.go") || !strings.Contains(list[0].Content, "nextRune") {
				t.Errorf("summary: %s", list[0].Content)
			}

			compacted := s.resume(id, "/compact", args...)
			var steered string
			for _, r := range compacted.requests {
				if r.Kind == mockapi.Compaction {
					steered = r.Text()
				}
			}
			summary, _, _ := strings.Cut(list[0].Content, "\n")
			if !strings.Contains(steered, "## Segment summaries") || !strings.Contains(steered, summary) || !strings.Contains(steered, "nextRune") {
				t.Errorf("the steering text lacks %q: %s", summary, tail(steered))
			}

			s.resume(id, "All harbours.", args...).mustAnswer("Charted.").undisturbed()
			if got := tierOf(s.segments(id), topic); got != "L3 pending=false" {
				t.Errorf("at 82 percent: %s", got)
			}
			if out := s.strandline("segments", "show", list[0].ID).mustSucceed().stdout; !strings.Contains(out, summary) {
				t.Errorf("the archived summary is not found: %s", out)
			}
			s.strandline("reindex").mustSucceed()
			if got := tierOf(s.segments(id), topic); got != "L3 pending=false" {
				t.Errorf("after a reindex: %s", got)
			}
			s.checkExported()
			s.checkLog()
		})
	}
}
