package index_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/index"
)

func merged(pairs ...string) *index.Projects {
	n := &index.Projects{Into: map[string]string{}, Rows: map[string]index.ProjectRow{}}
	for i := 0; i < len(pairs); i += 2 {
		n.Into[pairs[i]] = pairs[i+1]
	}
	for i, key := range []string{"a", "b", "c"} {
		n.Rows[key] = index.ProjectRow{No: int64(i + 1), Project: archive.Project{Key: key, Name: "name of " + key}}
	}
	return n
}

func TestMergedProjects(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		merges  []string
		of      string
		key     string
		numbers []int64
	}{
		{nil, "a", "a", []int64{-1, 1}},
		{nil, "unknown", "unknown", []int64{-1}},
		{[]string{"a", "b"}, "a", "b", []int64{-1, 1, 2}},
		{[]string{"a", "b", "b", "c"}, "a", "c", []int64{-1, 1, 2, 3}},
		{[]string{"a", "b", "b", "a"}, "b", "a", []int64{-1, 1, 2}}, // a cycle ends at its smallest key
		{[]string{"c", "b", "b", "c"}, "c", "b", []int64{-1, 2, 3}},
		{[]string{"a", "gone"}, "a", "gone", []int64{-1, 1}},
	} {
		n := merged(test.merges...)
		if key := n.Canonical(test.of); key != test.key {
			t.Errorf("%v: %s was merged into %s, want %s", test.merges, test.of, key, test.key)
		}
		if numbers := n.Numbers([]string{test.of}); !slices.Equal(numbers, test.numbers) {
			t.Errorf("%v: the numbers of %s are %v, want %v", test.merges, test.of, numbers, test.numbers)
		}
	}
	p := merged("a", "b").Resolve(archive.Project{Key: "a", Name: "name of a", Worktree: "/wt"})
	if p.Key != "b" || p.Name != "name of b" || p.Worktree != "/wt" {
		t.Errorf("resolved to %+v", p)
	}
}

func TestSumsOfMergedProjects(t *testing.T) {
	t.Parallel()
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	of := func(key string, first, last time.Time) archive.ProjectSummary {
		return archive.ProjectSummary{Project: archive.Project{Key: key}, Sessions: 1, Turns: 2, Bytes: 3, First: first, Last: last}
	}
	sums := merged("a", "b").Sum([]archive.ProjectSummary{of("a", day(2), day(3)), of("b", time.Time{}, day(5)), of("c", day(1), day(9))})
	if len(sums) != 2 || sums[0].Project.Key != "c" || sums[1].Project.Key != "b" {
		t.Fatalf("the sums are %+v", sums)
	}
	if b := sums[1]; b.Sessions != 2 || b.Turns != 4 || b.Bytes != 6 || !b.First.Equal(day(2)) || !b.Last.Equal(day(5)) || !slices.Equal(b.Aliases, []string{"a"}) {
		t.Errorf("the sum of a and b is %+v", b)
	}
}

func TestFilesThatCommandsName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command, file string
		want          bool
	}{
		{"go vet ./pay/retry.go", "pay/retry.go", true},
		{"cat /w/pay/retry.go | wc", "pay/retry.go", true},
		{"cat retry.go", "pay/retry.go", true},
		{"cat 'pay/retry.go'", "retry.go", true},
		{"cat myretry.go", "retry.go", false},
		{"cat retry.go.bak", "retry.go", false},
		{"", "retry.go", false},
	} {
		if have := index.NamesFile(test.command, test.file); have != test.want {
			t.Errorf("%q names %q: %v", test.command, test.file, have)
		}
	}
}

// The passages of a summary make up its text, and none is too long.
func TestSummariesBecomePassages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Repeat(rapid.StringMatching(`[a-zé\n ]{0,40}`).Draw(r, "piece"), rapid.IntRange(0, 400).Draw(r, "times"))
		var all strings.Builder
		for i, p := range index.SummaryPassages(archive.HookSummary{ID: "x", Session: "s", Text: text}) {
			if len(p.Text) > archive.MaxPassage || p.Turn != index.HookTurn || p.Seq != index.HookSeq("x")+i {
				r.Fatalf("passage %d: %+v", i, p)
			}
			all.WriteString(p.Text)
		}
		if all.String() != text {
			r.Fatal("the passages differ from the summary")
		}
	})
}

func TestCurrentSummaryOfASegment(t *testing.T) {
	t.Parallel()
	fact := func(event archive.SegmentEvent, content string) archive.SegmentFact {
		return archive.SegmentFact{Event: event, Segment: archive.Segment{ID: "g", Topic: "tides", StartTurn: 1, EndTurn: 2, Content: content}}
	}
	const archived = "Summary g (archived) of turns 1 to 2: tides\n"
	for _, test := range []struct {
		name  string
		facts []archive.SegmentFact
		want  string
	}{
		{"none", nil, ""},
		{"queued", []archive.SegmentFact{fact(archive.SegmentQueued, "")}, ""},
		{"the first extractive one", []archive.SegmentFact{fact(archive.SegmentSummarised, "one"), fact(archive.SegmentSummarised, "two")}, "one"},
		{"the last saved one", []archive.SegmentFact{fact(archive.SegmentSummarised, "one"), fact(archive.SegmentSaved, "two"), fact(archive.SegmentSaved, "three")}, "three"},
		{"archived", []archive.SegmentFact{fact(archive.SegmentSaved, "one"), fact(archive.SegmentArchived, "")}, archived + "one"},
		{"archived and saved again", []archive.SegmentFact{fact(archive.SegmentSaved, "one"), fact(archive.SegmentArchived, ""), fact(archive.SegmentSaved, "two")}, archived + "two"},
		{"archived before there was one", []archive.SegmentFact{fact(archive.SegmentArchived, ""), fact(archive.SegmentSaved, "one")}, "one"},
	} {
		have := ""
		for _, p := range index.SegmentPassages(test.facts, "s") {
			have += p.Text
			if (p.Label == archive.LabelArchived) != strings.Contains(test.want, "(archived)") {
				t.Errorf("%s: labelled %q", test.name, p.Label)
			}
		}
		if test.want != "" && !strings.Contains(test.want, "(archived)") {
			test.want = "Summary g of turns 1 to 2: tides\n" + test.want
		}
		if have != test.want {
			t.Errorf("%s: %q, want %q", test.name, have, test.want)
		}
	}
}

// A pruned summary has no paths, until it is saved again.
func TestPrunedSegmentsHaveNoPaths(t *testing.T) {
	t.Parallel()
	saved := archive.SegmentFact{Event: archive.SegmentSaved, Segment: archive.Segment{ID: "g", Content: "one", KeyFiles: []string{"tide.go"}}}
	pruned := archive.SegmentFact{Event: archive.SegmentPruned, Segment: archive.Segment{ID: "g"}}
	again := saved
	again.Segment.Content = "two"
	for _, test := range []struct {
		facts []archive.SegmentFact
		paths int
	}{{[]archive.SegmentFact{saved}, 1}, {[]archive.SegmentFact{saved, pruned}, 0}, {[]archive.SegmentFact{saved, pruned, again}, 1}} {
		ps := index.SegmentPassages(test.facts, "s")
		if len(ps) != 1 || len(ps[0].Paths) != test.paths {
			t.Errorf("%d facts: %+v", len(test.facts), ps)
		}
	}
}

func TestScopeAppliesFilters(t *testing.T) {
	t.Parallel()
	prompt, agents := index.NewID(3, 1, false, archive.KindPrompt), index.NewID(3, 2, true, archive.KindPrompt)
	output, other := index.NewID(3, 3, false, archive.KindOutput), index.NewID(7, 0, false, archive.KindPrompt)
	all := []index.ID{prompt, agents, output, other}
	for _, test := range []struct {
		name   string
		q      archive.Query
		narrow map[int64]bool
		want   []index.ID
	}{
		{"no filter", archive.Query{}, nil, []index.ID{prompt, output, other}},
		{"sub-agents", archive.Query{Agents: true}, nil, all},
		{"a kind", archive.Query{Kinds: []archive.PassageKind{archive.KindOutput}}, nil, []index.ID{output}},
		{"a session", archive.Query{}, map[int64]bool{7: true}, []index.ID{other}},
		{"no session", archive.Query{}, map[int64]bool{}, nil},
	} {
		x := index.NewScope(&test.q, 10)
		if test.narrow != nil {
			x.Narrow(test.narrow)
		}
		x.Bound()
		keep := x.Test()
		var have []index.ID
		for _, id := range all {
			if keep(int64(id)) {
				have = append(have, id)
			}
		}
		if !slices.Equal(have, test.want) || x.Empty() != (test.narrow != nil && len(test.narrow) == 0) {
			t.Errorf("%s: %v, want %v", test.name, have, test.want)
		}
	}
}
