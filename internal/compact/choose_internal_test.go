package compact

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func chooserOf(room int, worth ...float64) *chooser {
	return &chooser{
		voc: &vocabulary{worth: worth}, covered: make([]uint8, len(worth)), titles: []string{"A", "B"}, opened: make([]bool, 2),
		room: room, said: map[string]bool{},
	}
}

func chosen(it *item) []string {
	var out []string
	for _, l := range it.chosen {
		out = append(out, l.text)
	}
	slices.Sort(out)
	return out
}

func TestChooseCountsASpecificOnce(t *testing.T) {
	it := &item{units: 10}
	add := func(text string, keys ...int32) {
		it.lines = append(it.lines, &line{item: it, text: text, keys: keys, share: 1, units: 30, seq: len(it.lines)})
	}
	add("both", 0, 1)
	add("the first again", 0)
	add("the second again", 1)
	add("a third", 2)
	chooserOf(10+2+30+30+minLine, 5, 5, 1).choose([]*item{it})
	if got, want := chosen(it), []string{"a third", "both"}; !slices.Equal(got, want) {
		t.Errorf("chose %q, want %q", got, want)
	}
}

func TestChooseTakesTheSameLineOnce(t *testing.T) {
	a, b := &item{units: 10}, &item{units: 10, section: 1}
	a.lines = []*line{{item: a, text: "same", prior: 1, share: 1, units: 10}}
	b.lines = []*line{{item: b, text: "same", prior: 2, share: 1, units: 10}}
	chooserOf(500).choose([]*item{a, b})
	if len(a.chosen)+len(b.chosen) != 1 || len(b.chosen) != 1 {
		t.Errorf("chose %q and %q", chosen(a), chosen(b))
	}
}

func TestChooseKeepsMustsAndTheRoom(t *testing.T) {
	must := &item{units: 50, must: true}
	big := &item{units: 400, must: true, section: 1, prior: 9}
	small := &item{units: 30, section: 1, prior: 0.1}
	c := chooserOf(150)
	c.choose([]*item{must, big, small})
	if !must.taken || big.taken || !small.taken || c.room < 0 {
		t.Errorf("must %v, big %v, small %v, room left %d", must.taken, big.taken, small.taken, c.room)
	}
}

func TestChooseNeverOverdraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(0, 400).Draw(t, "room")
		c := chooserOf(room, 1, 2, 3, 4)
		var items []*item
		for range rapid.IntRange(0, 8).Draw(t, "items") {
			it := &item{section: rapid.IntRange(0, 1).Draw(t, "section"), units: rapid.IntRange(1, 60).Draw(t, "units"), must: rapid.Bool().Draw(t, "must"), prior: rapid.Float64Range(0, 3).Draw(t, "prior")}
			for i := range rapid.IntRange(0, 5).Draw(t, "lines") {
				it.lines = append(it.lines, &line{
					item: it, text: rapid.StringN(1, 5, -1).Draw(t, "text"), seq: i, share: 1,
					units: rapid.IntRange(1, 80).Draw(t, "units"), keys: rapid.SliceOfNDistinct(rapid.Int32Range(0, 3), 0, 4, rapid.ID[int32]).Draw(t, "keys"),
				})
			}
			items = append(items, it)
		}
		c.choose(items)
		spent, opened := 0, [2]bool{}
		for _, it := range items {
			if !it.taken {
				if len(it.chosen) > 0 {
					t.Fatal("a line without its head")
				}
				continue
			}
			if !opened[it.section] {
				opened[it.section] = true
				spent += 2
			}
			spent += it.units
			for _, l := range it.chosen {
				spent += l.units
			}
		}
		if spent > room || c.room != room-spent {
			t.Fatalf("spent %d of %d, %d said to be left", spent, room, c.room)
		}
	})
}

func TestChoosePrefersNeighboursInASource(t *testing.T) {
	pick := func(introduces bool) []string {
		it := &item{units: 10, introduces: introduces}
		for i, text := range []string{"a", "b", "c", "d", "e"} {
			it.lines = append(it.lines, &line{item: it, text: text, prior: 0.2, share: 1, units: 20, seq: i})
		}
		it.lines[3].prior = 1 // the first choice
		chooserOf(10 + 2 + 60 + minLine - 1).choose([]*item{it})
		return chosen(it)
	}
	if got, want := pick(true), []string{"c", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("of a source: chose %q, want %q", got, want)
	}
	if got, want := pick(false), []string{"a", "b", "d"}; !slices.Equal(got, want) {
		t.Errorf("of single lines: chose %q, want %q", got, want)
	}
}

func TestAddLineWeighsWhatALineConveys(t *testing.T) {
	c := &collector{voc: newVocabulary(1, 0), said: map[string]bool{}}
	c.voc.learn("parse_config load_config", 0, true)
	it := &item{handle: "7f3a12cd/1"}
	for text, want := range map[string]float64{
		"we call parse_config before load_config here": 1,
		"return parse_config":                          thinShare,
		"parse_config":                                 bareShare,
	} {
		if l := c.addLine(it, text, it.handle, 0, 0); l == nil || l.share != want {
			t.Errorf("%q: %+v, want a share of %v", text, l, want)
		}
	}
	if l := c.addLine(it, "no name of any worth stands here", it.handle, 0, 0); l != nil {
		t.Errorf("a line without worth was kept: %+v", l)
	}
	if l := c.addLine(it, "parse_config", it.handle, 1, minWords); l != nil {
		t.Errorf("a line with too few words was kept: %+v", l)
	}
	l := c.addLine(it, "see parse_config", "7f3a12cd/2.1", 0, 0)
	if l.handle != "7f3a12cd/2.1" || l.units != len("  see parse_config (2.1)\n") {
		t.Errorf("got %+v", l)
	}
}
