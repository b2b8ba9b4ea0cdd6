package index_test

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// given returns a row of values, in the order of the columns.
func given(values ...any) index.Scan {
	return func(dest ...any) error {
		if len(dest) != len(values) {
			return fmt.Errorf("%d variables for %d values", len(dest), len(values))
		}
		for i, d := range dest {
			if s, ok := d.(sql.Scanner); ok {
				v := values[i]
				if n, ok := v.(int); ok {
					v = int64(n)
				}
				if err := s.Scan(v); err != nil {
					return err
				}
				continue
			}
			to := reflect.ValueOf(d).Elem()
			to.Set(reflect.ValueOf(values[i]).Convert(to.Type()))
		}
		return nil
	}
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestReadTurn(t *testing.T) {
	copied := given(3, "title", "p1", noon.UnixNano(), 0, 7, 9, 2, true, 5, 1, 0, "other")
	x, err := index.ReadTurn(copied, "s1")
	want := archive.Turn{Session: "s1", Index: 3, Title: "title", PromptID: "p1", Start: noon, LineFrom: 7, LineTo: 9, Steps: 2, Dead: true,
		Copy: &archive.Ref{Session: "other", Turn: 1}}
	if err != nil || !reflect.DeepEqual(x, want) {
		t.Errorf("%v:\n got %+v\nwant %+v", err, x, want)
	}
	own := given(3, "title", "p1", noon.UnixNano(), 0, 7, 9, 2, false, 0, 0, 0, "")
	if x, err := index.ReadTurn(own, "s1"); err != nil || x.Copy != nil {
		t.Errorf("an original turn is a copy of %+v, %v", x.Copy, err)
	}
}

// A call and a compaction are read as of a line.
func TestReadAsOfALine(t *testing.T) {
	exit := 1
	for _, c := range []struct {
		before int
		known  bool
	}{{0, true}, {21, true}, {20, false}, {10, false}} {
		row := given(1, 2, 0, "toolu_1", "Bash", "command", "make", `["a.go"]`, &exit, true, "no rule", 1500, 9, 20)
		x, err := index.ReadCall(c.before)(row, "s1")
		if err != nil || x.Session != "s1" || x.Command != "make" || fmt.Sprint(x.Files) != "[a.go]" || x.LineUse != 9 {
			t.Fatalf("%v: %+v", err, x)
		}
		if outcome := x.Failed && x.Exit != nil && x.Error != "" && x.Duration == 1500 && x.LineResult == 20; outcome != c.known {
			t.Errorf("before line %d: %+v", c.before, x)
		}
		row = given(0, 9, noon.UnixNano(), "auto", 167000, 9000, 30, 20, 2, true, 4)
		compaction, err := index.ReadCompaction(c.before)(row, "s1")
		if err != nil || compaction.Trigger != "auto" || !compaction.Ours || compaction.Time != noon {
			t.Fatalf("%v: %+v", err, compaction)
		}
		if (compaction.SummaryLine == 20) != c.known {
			t.Errorf("before line %d the summary is at %d", c.before, compaction.SummaryLine)
		}
	}
}

func TestReadPassage(t *testing.T) {
	var x archive.Passage
	var id int64
	row := given(1, 2, 3, "edit", "label", `["a.go","b.go"]`, 4, 6, noon.UnixNano(), true, "text", 77)
	if err := index.ReadPassage(row, &x, &id); err != nil || id != 77 || fmt.Sprint(x.Paths) != "[a.go b.go]" || x.Time != noon || x.Text != "text" {
		t.Errorf("%v: %d, %+v", err, id, x)
	}
	damaged := given(1, 2, 3, "edit", "label", `["a.go`, 4, 6, 0, true, "text")
	if err := index.ReadPassage(damaged, &x); err == nil {
		t.Error("an invalid list was read")
	}
	broken := errors.New("broken")
	if err := index.ReadPassage(func(...any) error { return broken }, &x); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestReadTouch(t *testing.T) {
	for name, c := range map[string]struct {
		filter  archive.HistoryFilter
		command string
		wanted  bool
	}{
		"no filter":               {archive.HistoryFilter{Path: "pay/retry.go"}, "", true},
		"its project":             {archive.HistoryFilter{Path: "pay/retry.go", Projects: []string{"x"}}, "", true},
		"its kind":                {archive.HistoryFilter{Path: "pay/retry.go", Kinds: []archive.CallKind{archive.CallEdit}}, "", true},
		"another kind":            {archive.HistoryFilter{Path: "pay/retry.go", Kinds: []archive.CallKind{archive.CallRead}}, "", false},
		"since then":              {archive.HistoryFilter{Path: "pay/retry.go", Since: noon}, "", true},
		"since later":             {archive.HistoryFilter{Path: "pay/retry.go", Since: noon.Add(time.Second)}, "", false},
		"a command that names it": {archive.HistoryFilter{Path: "pay/retry.go"}, "vim pay/retry.go", true},
		"one that names another":  {archive.HistoryFilter{Path: "pay/retry.go"}, "vim pay/retry.go.orig", false},
	} {
		t.Run(name, func(t *testing.T) {
			row := given("s1", 1, 2, 0, "pay/retry.go", string(archive.CallEdit), 9, noon.UnixNano(), "Edit", c.command, false, 4)
			x, wanted, err := index.ReadTouch(row, c.filter, []int64{4})
			if err != nil || wanted != c.wanted || x.Session != "s1" || x.Line != 9 {
				t.Errorf("wanted %t, %v: %+v", wanted, err, x)
			}
		})
	}
	row := given("s1", 1, 2, 0, "pay/retry.go", string(archive.CallEdit), 9, 0, "Edit", "", false, 5)
	if _, wanted, err := index.ReadTouch(row, archive.HistoryFilter{Projects: []string{"x"}}, []int64{4}); wanted || err != nil {
		t.Errorf("another project: wanted %t, %v", wanted, err)
	}
}

func TestDue(t *testing.T) {
	for name, c := range map[string]struct {
		found      bool
		generation int
		offset     int64
		due, stale bool
	}{
		"the first":           {false, 0, 100, true, false},
		"the next":            {true, 1, 100, true, false},
		"stored already":      {true, 1, 200, false, false},
		"far after":           {true, 1, 300, false, false},
		"a gap":               {true, 1, 50, false, true},
		"a part of it":        {true, 1, 150, false, true},
		"a generation before": {true, 0, 100, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &archive.Batch{From: 100, Cursor: archive.Cursor{Generation: 1, Offset: 200}}
			due, err := index.Due(b, c.found, c.generation, c.offset)
			if due != c.due || errors.Is(err, archive.ErrStale) != c.stale {
				t.Errorf("due %t, %v", due, err)
			}
		})
	}
}
