package embed_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/embed"
	"strandline/internal/index/sqlite"
)

// toy is an embedder with a fixed vector for the first known word of a text.
type toy struct {
	name   string
	words  map[string][]float32
	fails  error
	before func() // runs before each call
	calls  int
}

func (e *toy) Name() string { return e.name }
func (e *toy) Dim() int     { return 2 }

func (e *toy) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.calls++
	if e.before != nil {
		e.before()
	}
	if e.fails != nil {
		return nil, e.fails
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		for word := range strings.FieldsSeq(text) {
			if v, ok := e.words[word]; ok {
				out[i] = slices.Clone(v)
				break
			}
		}
	}
	return out, ctx.Err()
}

func words() map[string][]float32 {
	return map[string][]float32{"north": {1, 0}, "northeast": {.8, .6}, "east": {0, 1}, "west": {0, -1}, "south": {-1, 0}}
}

const sessionA, sessionB = "7f3a12cd-0001-4222-8333-000000000001", "91c04d10-0003-4222-8333-000000000003"

func clock() time.Time { return time.Unix(1_790_000_000, 0) }

func newStore(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// say appends turns of one prompt to a session.
func say(t testing.TB, s *sqlite.Store, session string, texts ...string) {
	t.Helper()
	cur, err := s.Cursor(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	b := archive.Batch{
		Session: archive.Session{ID: session, Client: "claude", Last: clock(), Generation: 1,
			Project: archive.Project{Key: "project-" + session[:1], Name: "p"}},
		From:   cur.Offset,
		Cursor: archive.Cursor{Session: session, Generation: 1, Offset: cur.Offset + int64(len(texts)), Line: cur.Line + len(texts)},
	}
	for i, text := range texts {
		line := cur.Line + i
		b.Turns = append(b.Turns, archive.Turn{Session: session, Index: line, LineFrom: line, LineTo: line + 1, Start: clock()})
		b.Passages = append(b.Passages, archive.Passage{
			Session: session, Turn: line, Step: -1, Kind: archive.KindPrompt, Text: text, LineFrom: line, LineTo: line + 1, Time: clock(),
		})
	}
	if err := s.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func maintain(t testing.TB, s *sqlite.Store, dir embed.VectorDir, limit int, es ...embed.Embedder) embed.MaintenanceReport {
	t.Helper()
	r, err := embed.Maintenance{Store: s, Dir: dir, Embedders: es, Now: clock}.Run(t.Context(), limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// nearest returns "text by embedder" for each match of a query.
func nearest(t testing.TB, x *embed.Searcher, text string, q archive.Query, k int) (found []string, asked *embed.Matches) {
	t.Helper()
	asked, err := x.SearchMeaning(t.Context(), text, q, k)
	if err != nil {
		t.Fatal(err)
	}
	near, err := asked.Nearest(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range near {
		found = append(found, n.Text+" by "+n.Embedder)
	}
	return found, asked
}

func want(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestSearcher(t *testing.T) {
	s, dir := newStore(t), embed.VectorDir(filepath.Join(t.TempDir(), "vectors"))
	m := &toy{name: "m", words: words()}
	x := &embed.Searcher{Store: s, Dir: dir, Embedders: []embed.Embedder{m}}
	found, _ := nearest(t, x, "north", archive.Query{}, 3)
	want(t, "an empty archive", found)

	say(t, s, sessionA, "go east", "go northeast", "go south", "say nothing")
	say(t, s, sessionB, "go north", "go west")
	if r := maintain(t, s, dir, 0, m); r.Embedded["m"] != 6 || len(r.Files) != 1 || r.Files[0].Vectors != 5 {
		t.Errorf("maintenance: %+v", r)
	}
	found, _ = nearest(t, x, "north", archive.Query{}, 3)
	want(t, "from the file", found, "go north by m", "go northeast by m", "go west by m")
	found, _ = nearest(t, x, "north", archive.Query{Sessions: []string{sessionA}}, 2)
	want(t, "in one session", found, "go northeast by m", "go east by m")
	found, _ = nearest(t, x, "north", archive.Query{Projects: []string{"project-9"}}, 9)
	want(t, "in one project", found, "go north by m", "go west by m")
	found, _ = nearest(t, x, "an unrelated question", archive.Query{}, 3)
	want(t, "a query without meaning", found)

	// New rows are in the store and not in the file.
	say(t, s, sessionB, "go north again")
	if _, err := (embed.Maintenance{Store: s, Now: clock}).Backfill(t.Context(), m, 0); err != nil {
		t.Fatal(err)
	}
	found, _ = nearest(t, x, "north", archive.Query{}, 2)
	want(t, "file and tail", found, "go north again by m", "go north by m")

	// A damaged file is replaced by the rows in the store.
	for _, name := range glob(t, dir) {
		if err := os.Truncate(name, 100); err != nil {
			t.Fatal(err)
		}
	}
	found, asked := nearest(t, x, "north", archive.Query{}, 2)
	want(t, "with a damaged file", found, "go north again by m", "go north by m")
	if len(asked.Notes) != 1 || !strings.Contains(asked.Notes[0], "maintenance run") {
		t.Errorf("notes %q", asked.Notes)
	}
}

func glob(t testing.TB, dir embed.VectorDir) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(string(dir), "*.vec"))
	if err != nil || len(names) == 0 {
		t.Fatalf("the files %v (%v)", names, err)
	}
	return names
}

// Passages with vectors of one model are ranked by it, those with both by the first.
func TestMixedArchive(t *testing.T) {
	s, dir := newStore(t), embed.VectorDir(t.TempDir())
	// The second model's cosines are all high, as with some real models: without scaling
	// they would win against all of the first's.
	narrow := map[string][]float32{"north": {1, 0}, "east": {.98, .199}, "west": {.98, -.199}, "south": {.97, .243}}
	old, fresh := &toy{name: "old", words: narrow}, &toy{name: "new", words: words()}
	var texts []string
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("go %s %d", []string{"east", "west", "south"}[i%3], i))
	}
	say(t, s, sessionA, append(texts, "go north long ago")...)
	maintain(t, s, dir, 0, old)
	say(t, s, sessionB, append(texts, "go north now")...)
	// The newest session's passages come first.
	maintain(t, s, dir, 61, fresh)

	x := &embed.Searcher{Store: s, Dir: dir, Embedders: []embed.Embedder{fresh, old}}
	found, asked := nearest(t, x, "north", archive.Query{}, 2)
	slices.Sort(found)
	want(t, "both models", found, "go north long ago by old", "go north now by new")
	if len(asked.Notes) != 0 {
		t.Errorf("notes %q", asked.Notes)
	}

	// If a model fails, the other one is used and a note says so.
	fresh.fails = errors.New("the endpoint is down")
	found, asked = nearest(t, x, "north", archive.Query{}, 1)
	want(t, "one model down", found, "go north long ago by old")
	if len(asked.Notes) != 1 || !strings.Contains(asked.Notes[0], "the endpoint is down") {
		t.Errorf("notes %q", asked.Notes)
	}

	// Meanings of given passages are those of the search.
	fresh.fails = nil
	_, asked = nearest(t, x, "north", archive.Query{}, 130)
	near, err := asked.Nearest(t.Context(), 130)
	if err != nil || len(near) != 122 {
		t.Fatalf("%d passages (%v), want all", len(near), err)
	}
	var ids []int64
	for _, n := range near {
		ids = append(ids, n.ID)
	}
	of, err := asked.Meanings(t.Context(), append(ids, 1))
	if err != nil || len(of) != 122 {
		t.Fatalf("%d meanings (%v)", len(of), err)
	}
	for _, n := range near {
		if of[n.ID] != n.Meaning {
			t.Errorf("%s: %+v and %+v", n.Text, of[n.ID], n.Meaning)
		}
	}
}

func TestBackfill(t *testing.T) {
	s := newStore(t)
	say(t, s, sessionA, "go east", "go north", "say nothing", "go "+strings.Repeat("far ", 300)+"west")
	m := &toy{name: "m", words: words()}
	fill := embed.Maintenance{Store: s, Now: clock}
	for _, step := range []struct{ limit, want int }{{1, 1}, {2, 2}, {20, 1}, {20, 0}, {0, 0}} {
		if n, err := fill.Backfill(t.Context(), m, step.limit); err != nil || n != step.want {
			t.Errorf("at most %d: %d (%v), want %d", step.limit, n, err, step.want)
		}
	}
	sets, err := s.VectorSets(t.Context())
	if err != nil || len(sets) != 1 || sets[0].Rows != 3 {
		t.Errorf("%+v (%v), want vectors of 3 passages", sets, err)
	}
}

// After a failure the finished batches are stored, and the next run continues.
func TestBackfillContinues(t *testing.T) {
	s := newStore(t)
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("go east %d", i))
	}
	say(t, s, sessionA, texts...)
	m := &toy{name: "m", words: words()}
	m.before = func() {
		m.fails = nil
		if m.calls == 2 {
			m.fails = errors.New("out of memory")
		}
	}
	fill := embed.Maintenance{Store: s, Now: clock}
	n, err := fill.Backfill(t.Context(), m, 0)
	if n != 128 || err == nil || !strings.Contains(err.Error(), "out of memory") {
		t.Errorf("%d passages, %v", n, err)
	}
	if n, err := fill.Backfill(t.Context(), m, 0); n != 172 || err != nil {
		t.Errorf("%d passages, %v", n, err)
	}
	ticks := 0
	fill.Within = time.Minute
	fill.Now = func() time.Time { ticks++; return clock().Add(time.Duration(ticks) * time.Minute) }
	say(t, s, sessionA, texts...)
	if n, err := fill.Backfill(t.Context(), m, 0); n != 128 || err != nil {
		t.Errorf("within its time %d passages (%v), want one batch", n, err)
	}
}

// Vectors of different lengths are not stored.
func TestBackfillRejectsMixedLengths(t *testing.T) {
	s := newStore(t)
	say(t, s, sessionA, "go east", "go north")
	m := &toy{name: "m", words: map[string][]float32{"east": {1, 0}, "north": {1, 0, 0}}}
	if _, err := (embed.Maintenance{Store: s, Now: clock}).Backfill(t.Context(), m, 0); err == nil {
		t.Error("no error")
	}
	if sets, err := s.VectorSets(t.Context()); err != nil || len(sets) != 0 {
		t.Errorf("%+v (%v)", sets, err)
	}
}

// The built-in table finds a text with other words.
func TestStaticFindsOtherWords(t *testing.T) {
	s, dir := newStore(t), embed.VectorDir(t.TempDir())
	say(t, s, sessionA,
		"The button is blue now and the page loads its fonts from our own host.",
		"Users saw an authentication failure after the session cookie expired.",
		"I wrote the release notes and tagged version two.",
		"The parser skips comments at the end of a line.")
	e := embed.NewStatic()
	maintain(t, s, dir, 0, e)
	x := &embed.Searcher{Store: s, Dir: dir, Embedders: []embed.Embedder{e}}
	found, _ := nearest(t, x, "login broken", archive.Query{}, 1)
	want(t, "login broken", found, "Users saw an authentication failure after the session cookie expired. by "+embed.StaticName)
}

// A chosen model's cosines are mapped to the built-in embedder's scale: its mean becomes
// the other's mean.
func TestLevels(t *testing.T) {
	s, dir := newStore(t), embed.VectorDir(t.TempDir())
	// The chosen model's cosines are all high.
	high := map[string][]float32{"north": {1, 0}, "east": {.9, .436}, "west": {.9, -.436}, "south": {.8, .6}}
	chosen, builtIn := &toy{name: "chosen", words: high}, &toy{name: "built in", words: words()}
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("go %s %d", []string{"north", "east", "west", "south"}[i%4], i))
	}
	say(t, s, sessionA, texts...)
	x := &embed.Searcher{Store: s, Dir: dir, Embedders: []embed.Embedder{chosen, builtIn}}
	if !x.Chosen() || (&embed.Searcher{Embedders: x.Embedders[1:]}).Chosen() {
		t.Error("Chosen does not report the embedders before the last")
	}
	maintain(t, s, dir, 0, builtIn)
	_, asked := nearest(t, x, "north", archive.Query{}, 4)
	if len(asked.Notes) != 1 || !strings.Contains(asked.Notes[0], "chosen: no passage has its vectors yet") {
		t.Errorf("notes %q", asked.Notes)
	}
	maintain(t, s, dir, 0, chosen)
	_, asked = nearest(t, x, "north", archive.Query{}, 40)
	near, err := asked.Nearest(t.Context(), 40)
	if err != nil || len(near) != 40 {
		t.Fatalf("%d passages (%v)", len(near), err)
	}
	// North, east, west and south: the built-in's cosines are 1, 0, 0, -1 with
	// mean 0 and deviation .707; the chosen's 1, .9, .9, .8 are as far apart in
	// deviations.
	for _, n := range near {
		want := map[string]float64{"north": 1, "east": 0, "west": 0, "south": -1}[strings.Fields(n.Text)[1]]
		if n.Embedder != "chosen" || !n.Chosen || math.Abs(n.Level-want) > .02 {
			t.Errorf("%s: %+v, want the level %v", n.Text, n.Meaning, want)
		}
	}
	// For a query without a word known to the built-in embedder, its usual mean and
	// deviation are the scale, on which no cosine is near 1.
	chosen.words["zenith"] = []float32{1, 0}
	_, asked = nearest(t, x, "zenith", archive.Query{}, 40)
	if near, err = asked.Nearest(t.Context(), 40); err != nil || len(near) != 40 || near[0].Level < .1 || near[0].Level > .4 {
		t.Errorf("%d passages, the first %+v (%v)", len(near), near[0].Meaning, err)
	}
}

// A model that changed the length of its vectors is reported and not searched with.
func TestAnotherLength(t *testing.T) {
	s, dir := newStore(t), embed.VectorDir(t.TempDir())
	m := &toy{name: "m", words: words()}
	say(t, s, sessionA, "go north")
	maintain(t, s, dir, 0, m)
	m.words = map[string][]float32{"north": {1, 0, 0}}
	x := &embed.Searcher{Store: s, Dir: dir, Embedders: []embed.Embedder{m, embed.NewStatic()}, Notes: []string{"gone: it is not there"}}
	found, asked := nearest(t, x, "north", archive.Query{}, 1)
	want(t, "by another length", found)
	want(t, "notes", asked.Notes, "gone: it is not there",
		"m: its vectors have 3 components now, those of the passages have another number; `strandline maintain` makes new ones")
}

// cutting is a store that truncates the vector files during a search.
type cutting struct {
	*sqlite.Store
	cut func()
}

func (c cutting) VectorScope(context.Context, archive.Query) (func(int64) bool, error) {
	return func(int64) bool { c.cut(); return true }, nil
}

// If a file is truncated during a search, the rows in the store are still found.
func TestTruncatedDuringSearch(t *testing.T) {
	s, dir := newStore(t), embed.VectorDir(t.TempDir())
	m := &toy{name: "m", words: words()}
	say(t, s, sessionA, "go east")
	maintain(t, s, dir, 0, m)
	say(t, s, sessionA, "go north")
	maintain(t, s, dir, 0, m) // a second block
	cut := func() {
		for _, name := range glob(t, dir) {
			if err := os.Truncate(name, 4200); err != nil {
				t.Fatal(err)
			}
		}
	}
	x := &embed.Searcher{Store: cutting{s, cut}, Dir: dir, Embedders: []embed.Embedder{m}}
	found, asked := nearest(t, x, "north", archive.Query{}, 2)
	want(t, "cut", found, "go north by m", "go east by m") // from the newest rows of the store
	if len(asked.Notes) != 1 || !strings.Contains(asked.Notes[0], "maintenance run rebuilds it") {
		t.Errorf("notes %q", asked.Notes)
	}
	if r := maintain(t, s, dir, 0, m); len(r.Files) != 1 || r.Files[0].Rebuilt == "" || r.Files[0].Vectors != 2 {
		t.Errorf("%+v", r.Files)
	}
}
