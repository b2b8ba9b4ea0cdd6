package compact

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// titleUnits returns the cost of a section's title.
func titleUnits(section int) int { return text.Units(Request{}.sectionTitle(section)) + 1 }

// newTestSelector returns a selector over terms with the given values.
func newTestSelector(budget int, values ...float64) *selector {
	return newSelector(&view{past: &past{session: archive.Session{ID: "7f3a12cd"}}, terms: &vocabulary{value: values, terms: make([]term, len(values))}}, RoleNone.layout(), budget)
}

func chosen(e *entry) []string {
	var out []string
	for _, l := range e.chosen {
		out = append(out, l.text)
	}
	slices.Sort(out)
	return out
}

func TestFillCountsATermOnce(t *testing.T) {
	e := &entry{units: 10}
	add := func(body string, terms ...int32) {
		e.lines = append(e.lines, &line{entry: e, text: body, terms: terms, factor: 1, units: 30, seq: len(e.lines)})
	}
	add("both", 0, 1)
	add("the first again", 0)
	add("the second again", 1)
	add("a third", 2)
	newTestSelector(10+titleUnits(0)+30+30+minLine, 5, 5, 1).fill([]*entry{e})
	if got, want := chosen(e), []string{"a third", "both"}; !slices.Equal(got, want) {
		t.Errorf("selected %q, want %q", got, want)
	}
}

func TestFillSelectsALineOnce(t *testing.T) {
	a, b := &entry{units: 10}, &entry{units: 10, section: 1}
	a.lines = []*line{{entry: a, text: "same", prior: 1, factor: 1, units: 10}}
	b.lines = []*line{{entry: b, text: "same", prior: 2, factor: 1, units: 10}}
	newTestSelector(500).fill([]*entry{a, b})
	if len(a.chosen)+len(b.chosen) != 1 || len(b.chosen) != 1 {
		t.Errorf("selected %q and %q", chosen(a), chosen(b))
	}
}

func TestFillSelectsRequiredEntriesWithinTheBudget(t *testing.T) {
	required := &entry{units: 50, required: true}
	big := &entry{units: 400, required: true, section: 1, prior: 9}
	small := &entry{units: 30, section: 1, prior: 0.1}
	c := newTestSelector(146 + titleUnits(0) + titleUnits(1))
	c.fill([]*entry{required, big, small})
	if !required.selected || big.selected || !small.selected || c.budget < 0 {
		t.Errorf("required %v, big %v, small %v, budget left %d", required.selected, big.selected, small.selected, c.budget)
	}
}

func TestFillStaysWithinTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(0, 400).Draw(t, "budget")
		c := newTestSelector(budget, 1, 2, 3, 4)
		var entries []*entry
		for range rapid.IntRange(0, 8).Draw(t, "entries") {
			e := &entry{section: rapid.IntRange(0, 1).Draw(t, "section"), units: rapid.IntRange(1, 60).Draw(t, "units"), required: rapid.Bool().Draw(t, "required"), prior: rapid.Float64Range(0, 3).Draw(t, "prior")}
			for i := range rapid.IntRange(0, 5).Draw(t, "lines") {
				e.lines = append(e.lines, &line{
					entry: e, text: rapid.StringN(1, 5, -1).Draw(t, "text"), seq: i, factor: 1,
					units: rapid.IntRange(1, 80).Draw(t, "units"), terms: rapid.SliceOfNDistinct(rapid.Int32Range(0, 3), 0, 4, rapid.ID[int32]).Draw(t, "terms"),
				})
			}
			entries = append(entries, e)
		}
		c.fill(entries)
		spent, opened := 0, [2]bool{}
		for _, e := range entries {
			if !e.selected {
				if len(e.chosen) > 0 {
					t.Fatal("a line is selected without its head")
				}
				continue
			}
			if !opened[e.section] {
				opened[e.section] = true
				spent += titleUnits(e.section)
			}
			spent += e.units
			for _, l := range e.chosen {
				spent += l.units
			}
		}
		if spent > budget || c.budget != budget-spent {
			t.Fatalf("spent %d of %d, but %d left", spent, budget, c.budget)
		}
	})
}

// A piece is worth its density times its length, and its terms. One of few words is
// left out unless its kind has a density.
func TestAddPiece(t *testing.T) {
	c := &collector{view: &view{past: &past{session: archive.Session{ID: "7f3a12cd"}}, terms: newVocabulary(1, 0)}}
	c.terms.learn("parse_config load_config", 0, true)
	e := &entry{handle: "7f3a12cd/1"}
	c.addPiece(e, "return parse_config", e.handle, 0, 1)
	c.addPiece(e, "these words name nothing known", e.handle, 0, 1)
	if len(e.lines) > 0 {
		t.Errorf("pieces without value were added: %+v", e.lines[0])
	}
	c.addPiece(e, "see parse_config\nand load_config", "7f3a12cd/2.1", 0.1, 0.5)
	l := e.lines[0]
	if l.handle != "7f3a12cd/2.1" || l.units != len("  [2.1] see parse_config\n  and load_config\n") || l.prior != 0.1*float64(len("see parse_config\n  and load_config")) || len(l.terms) != 2 || l.factor != 0.5 {
		t.Errorf("got %+v", l)
	}
}

// Names follow the head, each once.
func TestFillSelectsNames(t *testing.T) {
	c := &collector{view: &view{past: &past{session: archive.Session{ID: "7f3a12cd"}}, terms: newVocabulary(1, 0)}}
	c.terms.learn("parse_config load_config save_config", 0, true)
	c.terms.value = []float64{3, 2, 1}
	e := c.add(entry{head: "a.go, changed once", prior: 1})
	c.addNames(e, "parse_config(load_config)\nparse_config(save_config)")
	s := newSelector(c.view, RoleNone.layout(), 500)
	body, _, _ := s.pick(c.entries)
	if want := "a.go, changed once parse_config, load_config, save_config\n"; !strings.HasSuffix(body, want) {
		t.Errorf("got %q, want an end of %q", body, want)
	}
	if left := 500 - text.Units(body); s.budget > left {
		t.Errorf("%d units left after %d of 500", s.budget, text.Units(body))
	}
}
