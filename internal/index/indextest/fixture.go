package indextest

import (
	"testing"
	"time"

	"strandline/internal/archive"
)

// The sessions of the sample archive.
const (
	mainID  = "7f3a12cd-0001-4222-8333-000000000001"
	forkID  = "7f3b99ee-0002-4222-8333-000000000002"
	otherID = "91c04d10-0003-4222-8333-000000000003"
	agentID = mainID + "~a2c37f95b1"
)

var zero time.Time

// at returns a time on the day of the sample.
func at(minute int) time.Time {
	return time.Date(2026, 3, 14, 9, minute, 0, 123_000_000, time.UTC)
}

func project(name string) archive.Project {
	return archive.Project{Key: "git:/src/" + name + "/.git", Name: name, Root: "/src/" + name, Remote: "example.org/" + name}
}

func ptr[T any](v T) *T { return &v }

// mainBatch returns a session in which every field of every row is set.
func mainBatch() archive.Batch {
	return archive.Batch{
		Session: archive.Session{
			ID: mainID, Client: "claude", Project: archive.Project{
				Key: "git:/src/tide/.git", Name: "tide", Root: "/src/tide", Worktree: "/src/tide-wt", Remote: "example.org/tide",
			},
			Cwd: "/src/tide-wt", GitBranch: "main", Version: "2.1.0", Model: "model-x", Title: "Fix the config parser",
			First: at(0), Last: at(9), Generation: 1, Bytes: 12_345, Lines: 40, Turns: 3, Steps: 3, Calls: 3, Compacts: 1,
			Usage: archive.Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40},
			Cost:  archive.Cost{USD: 0.25, APITime: 3 * time.Second, Duration: time.Minute, Turns: 2, LinesAdded: 7, LinesGone: 5},
		},
		Turns: []archive.Turn{
			{Session: mainID, Index: 0, Title: "Fix the config parser", PromptID: "p0", Start: at(0), End: at(3), LineFrom: 0, LineTo: 12, Steps: 2},
			{Session: mainID, Index: 1, Title: "Wrong way", PromptID: "p1", Start: at(4), End: at(5), LineFrom: 12, LineTo: 20, Steps: 0, Dead: true},
			{Session: mainID, Index: 2, Title: "Add a test", PromptID: "p2", Start: at(6), End: at(9), LineFrom: 20, LineTo: 40, Steps: 1},
		},
		Steps: []archive.Step{
			{Session: mainID, Turn: 0, Index: 0, MessageID: "m0", Model: "model-x", Time: at(1), LineFrom: 1, LineTo: 6,
				Usage: archive.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}, Stop: "tool_use"},
			{Session: mainID, Turn: 0, Index: 1, MessageID: "m1", Model: "model-x", Time: at(2), LineFrom: 6, LineTo: 12, Stop: "end_turn", APIError: true, Sidechain: true},
			{Session: mainID, Turn: 2, Index: 0, MessageID: "m2", Model: "model-y", Time: at(7), LineFrom: 21, LineTo: 40, Stop: "end_turn"},
		},
		Calls: []archive.Call{
			{Session: mainID, Turn: 0, Step: 0, Seq: 0, ToolID: "t0", Name: "Bash", Kind: archive.CallCommand, Command: "go test ./...",
				Exit: ptr(1), Failed: true, Error: "FAIL strandline/config", Duration: 1500 * time.Millisecond, LineUse: 2, LineResult: 4},
			{Session: mainID, Turn: 0, Step: 0, Seq: 1, ToolID: "t1", Name: "Edit", Kind: archive.CallEdit,
				Files: []string{"internal/config/parse.go", "a b\n\"c\".go"}, LineUse: 3, LineResult: 5},
			{Session: mainID, Turn: 2, Step: 0, Seq: 0, ToolID: "t2", Name: "Bash", Kind: archive.CallCommand, Command: "make test",
				Exit: ptr(0), LineUse: 22, LineResult: -1},
		},
		Passages: []archive.Passage{
			{Session: mainID, Turn: 0, Step: -1, Seq: 0, Kind: archive.KindPrompt, Text: "Fix parseConfigFile: it fails with E0382 on empty input",
				LineFrom: 0, LineTo: 1, Time: at(0)},
			{Session: mainID, Turn: 0, Step: 0, Seq: 0, Kind: archive.KindCommand, Label: "Bash", Text: "go test ./... exited with 1",
				LineFrom: 2, LineTo: 5, Time: at(1)},
			{Session: mainID, Turn: 0, Step: 0, Seq: 1, Kind: archive.KindEdit, Label: "Edit", Text: "return nil, errEmptyInput",
				Paths: []string{"internal/config/parse.go"}, LineFrom: 3, LineTo: 6, Time: at(1), Partial: true},
			{Session: mainID, Turn: 0, Step: 1, Seq: 0, Kind: archive.KindReply, Text: "The parser now returns an error for empty input.",
				LineFrom: 6, LineTo: 7, Time: at(2)},
			{Session: mainID, Turn: 1, Step: -1, Seq: 0, Kind: archive.KindPrompt, Text: "Wrong way: use a regular expression grammar",
				LineFrom: 12, LineTo: 13, Time: at(4)},
			{Session: mainID, Turn: 2, Step: -1, Seq: 0, Kind: archive.KindPrompt, Text: "Add a test for the parser", LineFrom: 20, LineTo: 21, Time: at(6)},
		},
		Files: []archive.FileTouch{
			{Session: mainID, Turn: 0, Step: 0, Seq: 1, Path: "internal/config/parse.go", Kind: archive.CallEdit, Line: 3, Time: at(1)},
			{Session: mainID, Turn: 2, Step: 0, Seq: 0, Path: "internal/config/parse_test.go", Kind: archive.CallRead, Line: 22, Time: at(7)},
		},
		Tasks: []archive.TaskEvent{
			{Session: mainID, Line: 7, Seq: 0, TaskID: "1", Subject: "Write the fix", Status: "pending", Time: at(2), Turn: 0, Step: 1},
			{Session: mainID, Line: 30, Seq: 0, TaskID: "1", Status: "completed", Time: at(8), Turn: 2, Step: 0},
		},
		Compactions: []archive.Compaction{
			{Session: mainID, Index: 0, Line: 25, Time: at(7), Trigger: "auto", PreTokens: 170_000, PostTokens: 9_000,
				Duration: 90 * time.Second, SummaryLine: 26, Kept: 3, Ours: true, Turn: 2},
		},
		Keys: []archive.Identity{
			{Key: 1, Ref: archive.Ref{Session: mainID, Turn: 0, Step: -1}},
			{Key: 1<<63 + 5, Ref: archive.Ref{Session: mainID, Turn: 0, Step: 0}},
		},
		Cursor: archive.Cursor{Session: mainID, Generation: 1, Offset: 12_345, Line: 40, State: []byte("reader\x00state")},
	}
}

// simple returns a batch with one turn for each text, the prompt.
func simple(id string, p archive.Project, texts ...string) archive.Batch {
	b := archive.Batch{
		Session: archive.Session{ID: id, Client: "claude", Project: p, First: at(0), Last: at(len(texts)), Turns: len(texts),
			Generation: 1, Lines: len(texts), Bytes: int64(100 * len(texts))},
		Cursor: archive.Cursor{Session: id, Generation: 1, Offset: int64(100 * len(texts)), Line: len(texts)},
	}
	for i, text := range texts {
		b.Turns = append(b.Turns, archive.Turn{Session: id, Index: i, Title: text, Start: at(i), End: at(i), LineFrom: i, LineTo: i + 1})
		b.Passages = append(b.Passages, archive.Passage{
			Session: id, Turn: i, Step: -1, Kind: archive.KindPrompt, Text: text, LineFrom: i, LineTo: i + 1, Time: at(i),
		})
	}
	return b
}

// agentBatch returns a sub-agent's run inside mainBatch.
func agentBatch(texts ...string) archive.Batch {
	b := simple(agentID, project("tide"), texts...)
	b.Session.Parent, b.Session.Relation = mainID, archive.RelationAgent
	b.Session.Agent = archive.Agent{ID: "a2c37f95b1", Type: "Explore", Description: "Look around"}
	return b
}

// after returns b as the batch that follows before. It may contain rows of the same places.
func after(before, b archive.Batch) archive.Batch {
	b.From = before.Cursor.Offset
	b.Cursor.Offset = b.From + 100
	return b
}

func apply(t testing.TB, s Store, bs ...archive.Batch) {
	t.Helper()
	for _, b := range bs {
		if err := s.Apply(t.Context(), b); err != nil {
			t.Fatalf("Apply: %v", err)
		}
	}
}

// got returns a function that checks the error of a store and returns its result.
func got[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantCode(t testing.TB, err error, want archive.Code) {
	t.Helper()
	if c := archive.ErrorCode(err); c != want {
		t.Fatalf("error code %q, want %q (%v)", c, want, err)
	}
}
