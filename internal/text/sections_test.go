package text_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/text"
)

func sections() []text.Section {
	return []text.Section{
		{Title: "Asked", Items: []text.Item{
			{Text: "fix the login bug", Handle: "7f3a12cd/3", Value: 9},
			{Text: "add a test", Handle: "7f3a12cd/1", Value: 2},
		}},
		{Title: "Nothing here"},
		{Title: "Commands", AsGiven: true, Items: []text.Item{
			{Text: "go build: ok", Value: 1},
			{Text: "go test: FAIL\nlogin_test.go:12", Handle: "7f3a12cd/2.4", Value: 8},
			{Text: "  ", Value: 99},
		}},
	}
}

const everything = `## Asked
- [7f3a12cd/3] fix the login bug
- [7f3a12cd/1] add a test
## Commands
- go build: ok
- [7f3a12cd/2.4] go test: FAIL
  login_test.go:12
Any of these in full: strandline show HANDLE`

func TestFitSections(t *testing.T) {
	const more = "2 more items left out: strandline show HANDLE, strandline search WORDS"
	tests := []struct {
		name   string
		budget int
		want   string
		left   int
	}{
		{"everything fits", 500, everything, 0},
		{"everything fits exactly", len(everything), everything, 0},
		{"the best items", len(everything) - 1, `## Asked
- [7f3a12cd/3] fix the login bug
## Commands
- [7f3a12cd/2.4] go test: FAIL
  login_test.go:12
` + more, 2},
		{"no space for the last line", 45, "## Asked\n- [7f3a12cd/3] fix the login bug", 3},
		{"a smaller item replaces one that does not fit", 34, "## Asked\n- [7f3a12cd/1] add a test", 3},
		{"nothing fits", 10, "", 4},
		{"one", 1, "", 4},
		{"zero", 0, "", 4},
		{"negative", -5, "", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, used, left := text.FitSections(sections(), tt.budget)
			if got != tt.want {
				t.Errorf("budget %d:\n%s\nwant:\n%s", tt.budget, got, tt.want)
			}
			if left != tt.left || len(used)+left != 4 {
				t.Errorf("used %d, left %d, want %d left of 4", len(used), left, tt.left)
			}
		})
	}
}

func TestFitSectionsTruncatesIfAllowed(t *testing.T) {
	long := strings.Repeat("word ", 40)
	item := text.Item{Text: long, Handle: "7f3a12cd/0", Value: 1, Min: 20}
	got, used, left := text.FitSections([]text.Section{{Title: "T", Items: []text.Item{item}}}, 60)
	if want := "## T\n- [7f3a12cd/0] word word word word word word word word…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if left != 0 || len(used) != 1 || used[0].Text != "word word word word word word word word…" {
		t.Errorf("used %+v, left %d", used, left)
	}
	item.Min = 50
	if got, _, left := text.FitSections([]text.Section{{Title: "T", Items: []text.Item{item}}}, 60); got != "" || left != 1 {
		t.Errorf("truncated below its minimum: %q", got)
	}
}

func TestFitSectionsSectionLimit(t *testing.T) {
	var items []text.Item
	for i := range 10 {
		items = append(items, text.Item{Text: fmt.Sprintf("item number %d", i), Value: 5})
	}
	got, _, left := text.FitSections([]text.Section{
		{Title: "A", Max: 40, Items: items},
		{Title: "B", Items: []text.Item{{Text: "low", Value: 1}}},
	}, 1000)
	want := "## A\n- item number 0\n- item number 1\n## B\n- low\n" +
		"8 more items left out: strandline show HANDLE, strandline search WORDS"
	if got != want || left != 8 {
		t.Errorf("left %d, got:\n%s", left, got)
	}
}

func TestFitSectionsKeepsInput(t *testing.T) {
	in := sections()
	text.FitSections(in, 80)
	if !reflect.DeepEqual(in, sections()) {
		t.Errorf("input changed: %+v", in)
	}
}

func TestFitSectionsProperties(t *testing.T) {
	item := rapid.Custom(func(t *rapid.T) text.Item {
		return text.Item{
			Text:   rapid.StringMatching(`[a-zé😀 \n]{0,60}`).Draw(t, "text"),
			Handle: rapid.SampledFrom([]string{"", "7f3a12cd/12.3"}).Draw(t, "handle"),
			Value:  rapid.Float64().Draw(t, "value"),
			Min:    rapid.IntRange(0, 30).Draw(t, "min"),
		}
	})
	section := rapid.Custom(func(t *rapid.T) text.Section {
		return text.Section{
			Title:   rapid.SampledFrom([]string{"", "One", "Two words", "😀"}).Draw(t, "title"),
			Items:   rapid.SliceOfN(item, 0, 8).Draw(t, "items"),
			Max:     rapid.IntRange(0, 80).Draw(t, "max"),
			AsGiven: rapid.Bool().Draw(t, "as given"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOfN(section, 0, 5).Draw(t, "sections")
		budget := rapid.IntRange(0, 600).Draw(t, "budget")
		body, used, left := text.FitSections(in, budget)
		if n := text.Units(body); n > budget {
			t.Errorf("%d units, budget %d:\n%s", n, budget, body)
		}
		again, usedAgain, leftAgain := text.FitSections(in, budget)
		if again != body || leftAgain != left || !reflect.DeepEqual(used, usedAgain) {
			t.Error("not deterministic")
		}
		total := 0
		for _, s := range in {
			for _, it := range s.Items {
				if strings.TrimSpace(it.Text) != "" {
					total++
				}
			}
		}
		if len(used)+left != total {
			t.Errorf("used %d + left %d of %d", len(used), left, total)
		}
		if (body == "") != (len(used) == 0) {
			t.Errorf("text %q with %d items", body, len(used))
		}
		for _, it := range used {
			if !strings.Contains(body, strings.ReplaceAll(it.Text, "\n", "\n  ")) {
				t.Errorf("item %q is reported as used but not printed", it.Text)
			}
		}
		lines := strings.Split(body, "\n")
		for i, l := range lines {
			if strings.HasPrefix(l, "## ") && (i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "- ")) {
				t.Errorf("heading without an item: %q", l)
			}
		}
	})
}

func BenchmarkFitSections(b *testing.B) {
	var items []text.Item
	for i := range 2000 {
		items = append(items, text.Item{
			Text: strings.Repeat("some words ", i%40+1), Handle: "7f3a12cd/12.3", Value: float64(i * 7919 % 1000), Min: 60,
		})
	}
	in := []text.Section{{Title: "A", Items: items[:1000]}, {Title: "B", Items: items[1000:]}}
	for b.Loop() {
		text.FitSections(in, 9500)
	}
}
