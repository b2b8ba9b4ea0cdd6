package app

import (
	"encoding/json"
	"reflect"
	"testing"

	"strandline/internal/archive"
	"strandline/internal/usage"
)

const session = "7f3a12cd-0000-4000-8000-000000000001"

func TestFilesSortedByChanges(t *testing.T) {
	touch := func(path string, kind archive.CallKind, step int) archive.FileTouch {
		return archive.FileTouch{Session: session, Turn: 1, Step: step, Path: path, Kind: kind}
	}
	touches := []archive.FileTouch{
		touch("read.go", archive.CallRead, 0), touch("found.go", archive.CallSearch, 1), touch("changed.go", archive.CallEdit, 2),
		touch("read.go", archive.CallRead, 3), touch("changed.go", archive.CallRead, 4),
	}
	want := []File{{Path: "changed.go", Changes: 1, Reads: 1, Handle: "7f3a12cd/1.4"}, {Path: "read.go", Reads: 2, Handle: "7f3a12cd/1.3"}}
	if got := files(touches, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := files(touches, 1); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("%+v", got)
	}
}

func TestPlaceOfStepHasItsCalls(t *testing.T) {
	calls := []archive.Call{{Session: session, Turn: 2, Step: 0, Name: "Read"}, {Session: session, Turn: 2, Step: 1, Name: "Bash"}}
	for step, names := range map[int][]string{-1: {"Read", "Bash"}, 1: {"Bash"}, 7: {}} {
		p := newPlace(archive.Ref{Session: session, Turn: 2, Step: step}, []Block{{Text: "so"}}, calls)
		got := []string{}
		for _, c := range p.Calls {
			got = append(got, c.Name)
		}
		if !reflect.DeepEqual(got, names) || len(p.Blocks) != 1 {
			t.Errorf("step %d: %v", step, got)
		}
	}
	if calls[0].Name != "Read" {
		t.Error("the turn's calls were changed")
	}
}

// Scripts iterate over lists, so an empty one is not null.
func TestEmptyListsAreJSONLists(t *testing.T) {
	for name, v := range map[string]any{
		"sessions": archive.Convert(nil, newSession), "files": files(nil, 0), "blocks": newPlace(archive.Ref{}, nil, nil).Blocks, "calls": newPlace(archive.Ref{}, nil, nil).Calls,
	} {
		if b, err := json.Marshal(v); err != nil || string(b) != "[]" {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

func TestRunningSessionTurnsLeft(t *testing.T) {
	s := archive.Session{ID: session, Project: archive.Project{Root: "/home/dev/shop"}}
	r := newRunning(s, usage.Session{LastTokenEstimate: 100_000, LastPercentage: 0.5, Window: 200_000, Limit: 167_000, Compacts: true, Growth: 10_000, Zone: "ok"})
	if r.Handle != "7f3a12cd" || r.Share != 0.5 || r.TurnsLeft == nil || *r.TurnsLeft < 5 || *r.TurnsLeft > 7 {
		t.Errorf("%+v", r)
	}
	if r := newRunning(s, usage.Session{}); r.TurnsLeft != nil || r.History == nil {
		t.Errorf("nothing is known: %+v", r)
	}
}

func TestSnapshotLineClipsSummary(t *testing.T) {
	long := make([]byte, 1000)
	for i := range long {
		long[i] = 'x'
	}
	line := newSnapshotLine(Snapshot{ID: "s", SnapshotFact: archive.SnapshotFact{Summary: string(long), Tasks: make([]archive.SnapshotTask, 3)}})
	if len(line.Summary) > maxListedSummary+len("…") || line.Tasks != 3 {
		t.Errorf("%+v", line)
	}
}
