package compact

import (
	"math"
	"testing"

	"strandline/internal/archive"
)

// Shapes are stored in the journal: their names must not change.
func TestShape(t *testing.T) {
	for s, want := range map[string]string{
		"--dry-run": "flag", "web/app": "path", "a1b2c3d4e5": "hash", "v1.24.3": "version", "10.0.0.1": "version",
		"sqlite.go": "code file", "util.test.ts": "test file", "test_cli.py": "test file", "store_test.go": "test file",
		"README.md": "text file", "go.sum": "data file", "pyproject.toml": "setting file", "os.ReadFile": "dotted.name",
		"a.b.d": "dotted.name", "MAX_LEN": "constant", "test_restore": "test name", "TestRestore": "test name",
		"parse_row": "snake_case", "my-Great-thing": "kebab-case", "FileReader": "CamelCase", "readFile": "camelCase",
		"base64": "digits", "ordinary": "word", "": "word", "größe_x": "snake_case",
	} {
		if got := shape(s); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}

func TestWeights(t *testing.T) {
	if w := (Tallies{}).Weights(); w != nil {
		t.Errorf("no tallies: %v", w)
	}
	if w := (Tallies{"hash": {Expected: 5}}).Weights(); w != nil {
		t.Errorf("nothing was needed: %v", w)
	}
	all := Tallies{}
	for range 10 {
		all.Add(Tallies{"hash": {Expected: 100, Needed: 10}, "path": {Expected: 100, Needed: 90}, "flag": {Expected: 0.1, Needed: 0.1}})
	}
	w := all.Weights()
	if w["hash"] > 0.6 || w["path"] < 1.2 {
		t.Errorf("hashes %.2f, paths %.2f", w["hash"], w["path"])
	}
	if math.Abs(w["flag"]-1) > 0.05 {
		t.Errorf("a rare shape has the weight %.2f", w["flag"])
	}
	extreme := Tallies{"hash": {Expected: 1e9, Needed: 0}, "path": {Expected: 1, Needed: 1e9}}.Weights()
	if extreme["hash"] != minWeight || extreme["path"] != maxWeight {
		t.Errorf("not limited: %v", extreme)
	}
}

func TestWeightsScaleValues(t *testing.T) {
	value := func(weights map[string]float64) float64 {
		v := newVocabulary(3, 0)
		v.learn("look at a1b2c3d4e5", 1, true)
		v.score(weights)
		return v.value[v.ids["a1b2c3d4e5"]]
	}
	if plain, half := value(nil), value(map[string]float64{"hash": 0.5, "path": 3}); math.Abs(half-plain/2) > 1e-12 {
		t.Errorf("%v and %v", plain, half)
	}
}

// Tallies hold the expected and the needed weight of the terms that the summary does
// not name.
func TestCompare(t *testing.T) {
	v := newVocabulary(4, 0)
	v.learn("a1b2c3d4e5 and parse_row and next_row", 1, false)
	v.learn("parse_row", 3, true)
	v.known("next_row", func(t *term) { t.inSummary = true })
	got := v.compare(map[string]float64{"parse_row": 1})
	if len(got) != 2 || got["hash"].Needed != 0 || got["hash"].Expected <= 0 {
		t.Fatalf("%v", got)
	}
	if s := got["snake_case"]; s.Needed <= s.Expected || s.Needed != v.rarity(&v.terms[v.ids["parse_row"]]) {
		t.Errorf("%+v", s)
	}
	var _ map[string]archive.Tally = got
}
