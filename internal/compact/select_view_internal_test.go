package compact

import (
	"slices"
	"testing"

	"strandline/internal/archive"
)

func TestOutcome(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		call archive.Call
		want string
	}{
		{"a success", archive.Call{Exit: code(0)}, ", exit 0"},
		{"a success of a tool without a code", archive.Call{}, ""},
		{"a failure with its reason", archive.Call{Failed: true, Exit: code(2), Error: "no\n  rule"}, ", failed (exit 2): no rule"},
		{"a failure without a reason", archive.Call{Failed: true, Exit: code(1)}, ", failed (exit 1)"},
		{"a failure without a code", archive.Call{Failed: true, Error: "refused"}, ", failed: refused"},
		{"a failure without either", archive.Call{Failed: true}, ", failed"},
		{"a failure that a pipe hides", archive.Call{Failed: true, Exit: code(0), Error: "--- FAIL: TestTide"}, ", exit 0, but its output fails: --- FAIL: TestTide"},
		{"still running", archive.Call{LineResult: -1, Failed: true}, ", no result yet"},
	} {
		if got := outcome(c.call); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDescribe(t *testing.T) {
	v := &view{past: &past{root: "/home/ada/shop/"}}
	for _, x := range []struct {
		call archive.Call
		want string
	}{
		{archive.Call{Kind: archive.CallCommand, Command: "cat /home/ada/shop/a.go\n"}, "ran `cat a.go`"},
		{archive.Call{Kind: archive.CallEdit, Files: []string{"/home/ada/shop/a.go", "/b"}}, "changed the file a.go"},
		{archive.Call{Kind: archive.CallEdit, Files: []string{"/home/ada/shopping/a.go"}, Failed: true}, "tried to change the file /home/ada/shopping/a.go, failed"},
		{archive.Call{Kind: archive.CallRead, Files: []string{"/etc/hosts"}}, "read the file /etc/hosts"},
		{archive.Call{Kind: archive.CallRead}, ""},
		{archive.Call{Kind: archive.CallEdit}, ""},
	} {
		if got := v.describe(x.call); got != x.want {
			t.Errorf("%+v: %q, want %q", x.call, got, x.want)
		}
	}
}

func TestOpenFailures(t *testing.T) {
	call := func(step int, cmd string, failed bool) archive.Call {
		return archive.Call{Step: step, Kind: archive.CallCommand, Command: cmd, Failed: failed, LineResult: step}
	}
	read := archive.Call{Step: 9, Kind: archive.CallRead, Files: []string{"gone.go"}, Failed: true}
	p := &past{calls: []archive.Call{
		call(0, "make", true), call(1, "make lint", true), call(2, "cd x && make 2>&1", false),
		call(3, "make lint", true), call(4, "make deploy", false), call(5, "make deploy", true),
		{Step: 6, Kind: archive.CallCommand, Command: "make lint", LineResult: -1}, read,
	}}
	var got []int
	for _, x := range p.openFailures() {
		got = append(got, x.Step)
	}
	if want := []int{9, 5, 3}; !slices.Equal(got, want) {
		t.Errorf("open failures in steps %v, want %v", got, want)
	}
}

// Places are numbered in the order of the session, each once.
func TestOrdinals(t *testing.T) {
	numbers := ordinals(&past{
		prompts:  []archive.Passage{{Turn: -1, Step: -1}, {Turn: 0, Step: -1}, {Turn: 1, Step: -1}},
		passages: []archive.Passage{{Turn: 0, Step: 0}, {Turn: 0, Step: 0}, {Turn: 1, Step: 2}},
		calls:    []archive.Call{{Turn: 0, Step: 0}, {Turn: 1, Step: 0}},
	})
	want := []place{{-1, -1}, {0, -1}, {0, 0}, {1, -1}, {1, 0}, {1, 2}}
	var got []place
	for range numbers {
		for p, n := range numbers {
			if n == len(got) {
				got = append(got, p)
				break
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLocalHandle(t *testing.T) {
	for handle, want := range map[string]string{"7f3a12cd/2.1": "2.1", "ffff0000/2.1": "ffff0000/2.1", "7f3a12cd~a1/2": "7f3a12cd~a1/2"} {
		if got := localHandle(handle, "7f3a12cd-0000-4000-8000-000000000000"); got != want {
			t.Errorf("%s: %q, want %q", handle, got, want)
		}
	}
}

// A fork includes its parent up to the newest place that it copied.
func TestLastCopy(t *testing.T) {
	ref := func(session string, turn, step int) *archive.Ref {
		return &archive.Ref{Session: session, Turn: turn, Step: step}
	}
	for _, c := range []struct {
		name  string
		turns []*archive.Ref
		steps []*archive.Ref
		want  *archive.Ref
	}{
		{"no copies", []*archive.Ref{nil}, []*archive.Ref{nil}, nil},
		{"a turn", []*archive.Ref{ref("p", 2, 0)}, nil, ref("p", 2, -1)},
		{"a step of it is later", []*archive.Ref{ref("p", 2, 0)}, []*archive.Ref{ref("p", 2, 3), ref("p", 2, 1)}, ref("p", 2, 3)},
		{"a later turn without a step", []*archive.Ref{ref("p", 3, 0)}, []*archive.Ref{ref("p", 2, 9)}, ref("p", 3, -1)},
		{"a later turn of another session", []*archive.Ref{ref("p", 1, 0), ref("q", 7, 0)}, nil, ref("p", 1, -1)},
		{"its own rows", []*archive.Ref{ref("f", 5, 0)}, nil, nil},
	} {
		var turns []archive.Turn
		for _, r := range c.turns {
			turns = append(turns, archive.Turn{Copy: r})
		}
		var steps []archive.Step
		for _, r := range c.steps {
			steps = append(steps, archive.Step{Copy: r})
		}
		got := lastCopy("f", turns, steps)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestFoldTasks(t *testing.T) {
	tasks := foldTasks([]archive.TaskEvent{
		{TaskID: "1", Subject: "first", Status: "pending"}, {TaskID: "2", Subject: "second", Status: "pending"},
		{TaskID: "1", Status: "in_progress", Turn: 3}, {TaskID: "2", Status: "deleted"}, {TaskID: "1", Subject: "renamed"}, {TaskID: "3", Status: "completed"},
	})
	if len(tasks) != 3 || tasks[0].line() != "in progress: renamed" || !tasks[0].open() || tasks[1].open() || tasks[2].open() {
		t.Errorf("got %+v", tasks)
	}
}
