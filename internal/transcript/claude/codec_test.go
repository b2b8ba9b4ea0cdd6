package claude

import (
	"reflect"
	"testing"
	"time"

	"strandline/internal/archive"
)

// fullState returns a state with a value in every encoded field.
func fullState() state {
	at := time.Date(2026, 5, 4, 10, 0, 1, 5e6, time.UTC)
	usage := archive.Usage{Input: 1, Output: -2, CacheRead: 3, CacheWrite: 1 << 40}
	ref := &archive.Ref{Session: "other", Turn: 4, Step: -1}
	return state{
		facts: archive.Session{
			Cwd: "/w", GitBranch: "b", Version: "v", Model: "m", Title: "t…", First: at, Last: at.Add(time.Hour),
			Turns: 1, Steps: 2, Calls: 3, Compacts: 4, Usage: usage,
			Cost: archive.Cost{USD: 0.25, APITime: 1, Duration: 2, Turns: 3, LinesAdded: 4, LinesGone: 5},
		},
		turn: turnState{open: true, seq: 7, tail: 1 << 63, row: archive.Turn{
			Index: 5, Title: "x", PromptID: "p", Start: at, End: at, LineFrom: 6, LineTo: 9, Steps: 2, Copy: ref,
		}},
		steps: []stepState{{key: 9, seq: 3, calls: 2, tools: []uint64{1, 2}, row: archive.Step{
			Turn: 5, Index: 1, MessageID: "id", Model: "m", Time: at, LineFrom: 7, LineTo: 8, Usage: usage, Stop: "s", APIError: true, Sidechain: true, Copy: ref,
		}}},
		pending: []callState{{
			row: archive.Call{Turn: 5, Step: 1, Seq: 2, ToolID: "t", Name: "Bash", Kind: archive.CallCommand, Command: "ls", Files: []string{"a", "b"}, LineUse: 8, LineResult: -1},
			seq: 4, time: at, request: "why", task: archive.TaskEvent{TaskID: "1", Subject: "s", Status: "pending"}, sidechain: true, copied: true, batchCall: -1, batchPassage: -1,
		}},
		compaction: compactionState{
			row:      archive.Compaction{Index: 1, Line: 2, Time: at, Trigger: "auto", PreTokens: 3, PostTokens: 4, Duration: 5, SummaryLine: -1, Kept: 6, Ours: true, Turn: 7},
			boundary: 8, promptID: "z", time: at, turn: 9, open: true, copying: true,
		},
		recent: []recentRow{{1, 2}, {3, 4}},
		queue:  []queued{{text: "q", hash: 5, line: 6, time: at}},
		taken:  []uint64{7},
		todos:  []todo{{8, "pending", "todo:8"}},
		echo:   echoState{9, "/x"},
	}
}

func TestStateRoundTrip(t *testing.T) {
	want := fullState()
	var got state
	if !got.decode(want.encode()) {
		t.Fatal("the state cannot be decoded")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	var zero, none state
	if !none.decode(zero.encode()) || !reflect.DeepEqual(none, zero) {
		t.Errorf("the empty state becomes %+v", none)
	}
}

// TestTruncatedStates decodes every prefix of a state: each is rejected, none panics.
func TestTruncatedStates(t *testing.T) {
	full := fullState()
	whole := full.encode()
	for n := range whole {
		var st state
		if st.decode(whole[:n]) {
			t.Errorf("a state of %d of %d bytes is accepted", n, len(whole))
		}
	}
}

// TestOlderStates decodes a state of version 1, which has no names of to-do items.
func TestOlderStates(t *testing.T) {
	full := fullState()
	c := &codec{buf: []byte{1}, version: 1}
	full.visit(c)
	var got state
	if !got.decode(c.buf) {
		t.Fatal("a state of version 1 is rejected")
	}
	full.todos[0].name = ""
	if !reflect.DeepEqual(got, full) {
		t.Errorf("\n got %+v\nwant %+v", got, full)
	}
	for _, version := range []byte{0, stateVersion + 1} {
		if got.decode(append([]byte{version}, c.buf[1:]...)) {
			t.Errorf("version %d is accepted", version)
		}
	}
}
