package archive_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"strandline/internal/archive"
)

func TestUsage(t *testing.T) {
	a := archive.Usage{Input: 1, Output: 20, CacheRead: 300, CacheWrite: 4000}
	b := archive.Usage{Input: 5, Output: 60, CacheRead: 700, CacheWrite: 8000}
	if got, want := a.Add(b), (archive.Usage{Input: 6, Output: 80, CacheRead: 1000, CacheWrite: 12000}); got != want {
		t.Errorf("sum %+v, want %+v", got, want)
	}
	if a.Add(b) != b.Add(a) || a.Add(archive.Usage{}) != a {
		t.Error("the sum depends on the order, or nothing changes it")
	}
	// The output of a response is not part of its context.
	if got := a.Context(); got != 4301 {
		t.Errorf("context of %d tokens, want 4301", got)
	}
	if a.IsZero() || !(archive.Usage{}).IsZero() || (archive.Usage{Output: 1}).IsZero() {
		t.Error("IsZero is wrong")
	}
}

func TestPassageKindsAreComplete(t *testing.T) {
	kinds := archive.PassageKinds()
	want := []archive.PassageKind{"prompt", "reply", "command", "edit", "output", "summary"}
	if !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	kinds[0] = "changed"
	if archive.PassageKinds()[0] != archive.KindPrompt {
		t.Error("a caller can change the list of other callers")
	}
}

// The journal is kept for years: its field names are a format.
func TestJournalEntryOnDisk(t *testing.T) {
	data := func(v any) json.RawMessage {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		entry archive.JournalEntry
		want  string
	}{
		"a summary": {
			archive.JournalEntry{Version: 1, ID: "a1", Time: at, Kind: archive.JournalSummary, Session: "s", Data: data(archive.SummaryFact{Source: "PostCompact", Text: "t"})},
			`{"v":1,"id":"a1","t":"2026-11-20T12:00:00Z","kind":"summary","session":"s","data":{"source":"PostCompact","text":"t"}}`,
		},
		"an injection": {
			archive.JournalEntry{Version: 1, ID: "a2", Time: at, Kind: archive.JournalInjected, Session: "s", Data: data(archive.InjectedFact{Event: "SessionStart/compact", Chars: 7, Handles: []string{"s/1"}, Nonce: "n"})},
			`{"v":1,"id":"a2","t":"2026-11-20T12:00:00Z","kind":"injected","session":"s","data":{"event":"SessionStart/compact","chars":7,"handles":["s/1"],"nonce":"n"}}`,
		},
		"an access": {
			archive.JournalEntry{Version: 1, ID: "a3", Time: at, Kind: archive.JournalAccess, Data: data(archive.AccessFact{Refs: []archive.Ref{{Session: "s", Turn: 1, Step: -1}}, How: "used"})},
			`{"v":1,"id":"a3","t":"2026-11-20T12:00:00Z","kind":"access","data":{"refs":[{"s":"s","t":1,"p":-1}],"how":"used"}}`,
		},
		"a merge": {
			archive.JournalEntry{Version: 1, ID: "a4", Time: at, Kind: archive.JournalMerge, Data: data(archive.MergeFact{From: "dir:/a", Into: "dir:/b"})},
			`{"v":1,"id":"a4","t":"2026-11-20T12:00:00Z","kind":"merge","data":{"from":"dir:/a","into":"dir:/b"}}`,
		},
		"a task": {
			archive.JournalEntry{Version: 1, ID: "a5", Time: at, Kind: archive.JournalTask, Session: "s", Data: data(archive.TaskFact{Event: "TaskCreated", TaskID: "1"})},
			`{"v":1,"id":"a5","t":"2026-11-20T12:00:00Z","kind":"task","session":"s","data":{"event":"TaskCreated","task_id":"1"}}`,
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(data(c.entry)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var again archive.JournalEntry
			if err := json.Unmarshal([]byte(c.want), &again); err != nil || again.ID != c.entry.ID || !again.Time.Equal(at) {
				t.Errorf("parsed: %+v, %v", again, err)
			}
		})
	}
}
