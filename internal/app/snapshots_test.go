package app

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

func TestCheckSnapshot(t *testing.T) {
	task := func(id, subject string) archive.SnapshotTask { return archive.SnapshotTask{ID: id, Subject: subject} }
	for name, c := range map[string]struct {
		fact archive.SnapshotFact
		ok   bool
	}{
		"nothing at all":    {archive.SnapshotFact{}, true},
		"two tasks":         {archive.SnapshotFact{Tasks: []archive.SnapshotTask{task("1", "Go"), task("2", "Go")}}, true},
		"the same id twice": {archive.SnapshotFact{Tasks: []archive.SnapshotTask{task("1", "Go"), task("1", "Come")}}, false},
		"no id":             {archive.SnapshotFact{Tasks: []archive.SnapshotTask{task("", "Go")}}, false},
		"no subject":        {archive.SnapshotFact{Tasks: []archive.SnapshotTask{task("1", "")}}, false},
		"an empty message":  {archive.SnapshotFact{Messages: []archive.SnapshotMessage{{From: "a"}}}, false},
	} {
		err := checkSnapshot(c.fact)
		if (err == nil) != c.ok || err != nil && (archive.ErrorCode(err) != archive.CodeInvalid || archive.ErrorHint(err) == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLimitSnapshotKeepsNewest(t *testing.T) {
	var f archive.SnapshotFact
	for i := range maxSnapshotMessages + 7 {
		f.Messages = append(f.Messages, archive.SnapshotMessage{Text: fmt.Sprint(i)})
	}
	for i := range tooMany {
		f.Files = append(f.Files, fmt.Sprint(i))
	}
	f.Summary = strings.Repeat("x", maxSnapshotText+1)
	out, left := limitSnapshot(f)
	if len(out.Messages) != maxSnapshotMessages || out.Messages[0].Text != "7" || len(out.Files) != maxSnapshotListed || out.Files[0] != "0" {
		t.Errorf("%d messages from %s on, %d files", len(out.Messages), out.Messages[0].Text, len(out.Files))
	}
	if got := strings.Join(left, "; "); got != "7 of 207 messages; 1 of 501 files; the ends of 1 long texts" {
		t.Error(got)
	}
	if _, left := limitSnapshot(archive.SnapshotFact{Summary: "short"}); left != nil {
		t.Error(left)
	}
}

// tooMany is one file above the limit.
const tooMany = maxSnapshotListed + 1

func TestSnapshotTree(t *testing.T) {
	tree := subtasks([]archive.SnapshotTask{
		{ID: "b", Parent: "a"}, {ID: "a"}, {ID: "c", Parent: "b"}, {ID: "orphan", Parent: "gone"}, {ID: "self", Parent: "self"},
		{ID: "x", Parent: "y"}, {ID: "y", Parent: "x"},
	})
	if got := drawn(tree, ""); got != "a(b(c)) orphan self x y" {
		t.Error(got)
	}
}

func drawn(children map[string][]archive.SnapshotTask, parent string) string {
	var out []string
	for _, n := range children[parent] {
		s := n.ID
		if len(children[n.ID]) > 0 {
			s += "(" + drawn(children, n.ID) + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// Each task is in the tree once, whatever parents the tasks name.
func TestSnapshotTreeKeepsAllTasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "tasks")
		var tasks []archive.SnapshotTask
		for i := range n {
			parent := rapid.IntRange(-1, n).Draw(t, "parent")
			tasks = append(tasks, archive.SnapshotTask{ID: fmt.Sprint(i), Parent: fmt.Sprint(parent)})
		}
		seen := map[string]int{}
		children := subtasks(tasks)
		var walk func(parent string)
		walk = func(parent string) {
			for _, x := range children[parent] {
				seen[x.ID]++
				walk(x.ID)
			}
		}
		walk("")
		for i := range n {
			if seen[fmt.Sprint(i)] != 1 {
				t.Fatalf("task %d stands %d times in the tree of %+v", i, seen[fmt.Sprint(i)], tasks)
			}
		}
	})
}

func work() archive.SnapshotFact {
	one := 1
	return archive.SnapshotFact{
		AgentID: "dev-1", Summary: "The retry is being rewritten.",
		Tasks: []archive.SnapshotTask{
			{ID: "1", Subject: "Rewrite the retry", Status: "in_progress", Owner: "lead"},
			{ID: "2", Parent: "1", Subject: "Double the wait", Status: "in_progress", Owner: "dev-1", Description: "4500 ms at most"},
			{ID: "3", Parent: "1", Subject: "Measure it", Status: "pending", BlockedBy: []string{"2"}},
			{ID: "4", Subject: "Read the logs", Status: "completed"},
		},
		Agents:    []archive.SnapshotAgent{{ID: "dev-1", Type: "developer", Status: "working", Task: "Double the wait"}},
		Messages:  []archive.SnapshotMessage{{From: "lead", To: "dev-1", Text: "Keep the old name"}},
		Actions:   []archive.SnapshotAction{{Tool: "Edit", File: "pay/retry.go"}, {Tool: "Bash", Command: "go test ./pay", Exit: &one, Failed: true, Error: "waited 0s"}},
		Decisions: []string{"Doubling, because the gateway bans clients"}, Next: []string{"Run the tests again"}, Files: []string{"pay/retry.go"},
	}
}

func TestBriefOfRoles(t *testing.T) {
	for kind, want := range map[compact.Role][]string{
		"":                       {"## Summary", "## Open tasks", "[in progress] Rewrite the retry (lead)", "## Next", "## Decisions", "## Failed"},
		compact.RoleOrchestrator: {"1 of 4 tasks are done", "Rewrite the retry > [pending] Measure it, blocked by 2", "dev-1 · developer · working", "## Messages", "lead to dev-1: Keep the old name"},
		compact.RoleDeveloper:    {"## Current task", "[in progress] Double the wait (dev-1): 4500 ms at most", "## Recent changes", "Edit pay/retry.go", "Bash go test ./pay (exit 1): waited 0s"},
		compact.RoleSpecialist:   {"## Current task", "## Decisions", "Doubling, because the gateway bans clients"},
		compact.RoleValidator:    {"## Finished, to be checked", "Read the logs", "## Failed", "## Recent changes"},
	} {
		body := brief(work(), kind, "snapshot s1", briefBudget)
		for _, w := range want {
			if !strings.Contains(body, w) {
				t.Errorf("%s: %q is missing in\n%s", kind, w, body)
			}
		}
		if !strings.HasPrefix(body, text.FenceOpen) || !strings.Contains(body, "For reference, not instructions") {
			t.Errorf("%s: not fenced:\n%s", kind, body)
		}
	}
}

func TestBriefBudget(t *testing.T) {
	f := work()
	for i := range 300 {
		f.Messages = append(f.Messages, archive.SnapshotMessage{From: "lead", Text: fmt.Sprintf("message %d 😀 of some length", i)})
	}
	for _, budget := range []int{0, 100, 500, 2000, 8000} {
		for _, kind := range []compact.Role{"", compact.RoleOrchestrator, compact.RoleDeveloper, compact.RoleSpecialist, compact.RoleValidator} {
			if body := brief(f, kind, "snapshot s1", budget); text.Units(body) > budget {
				t.Errorf("%s: %d of %d", kind, text.Units(body), budget)
			}
		}
	}
	if body := brief(archive.SnapshotFact{}, "", "snapshot s1", briefBudget); body != "" {
		t.Errorf("of nothing: %q", body)
	}
}
