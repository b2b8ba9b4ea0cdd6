package compact_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/compact"
)

func TestImportance(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		name string
		use  compact.Use
		want float64
	}{
		{"new words", compact.Use{}, 1},
		{"a week old", compact.Use{Age: 7 * day}, 0.5},
		{"four weeks old", compact.Use{Age: 28 * day}, 0.0625},
		{"given once", compact.Use{Accesses: 1}, 2},
		{"given seven times", compact.Use{Accesses: 7}, 4},
		{"with tools", compact.Use{Tools: true}, 1.5},
		{"with files", compact.Use{Files: true}, 1.3},
		{"with both", compact.Use{Tools: true, Files: true}, 1.8},
		{"all at once", compact.Use{Age: 7 * day, Accesses: 3, Tools: true, Files: true}, 2.7},
		{"from the future", compact.Use{Age: -day}, 1},
		{"counted below zero", compact.Use{Accesses: -5}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := compact.Importance(test.use); math.Abs(got-test.want) > 0.001 {
				t.Errorf("Importance(%+v) = %.4f, want %.4f", test.use, got, test.want)
			}
		})
	}
}

// Whatever is newer, used more or richer is never less important.
func TestImportanceIsMonotonic(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		u := compact.Use{
			Age:      time.Duration(rapid.Int64Range(0, int64(3650*24*time.Hour)).Draw(r, "age")),
			Accesses: rapid.IntRange(0, 1<<30).Draw(r, "accesses"),
		}
		older, more, richer := u, u, u
		older.Age += time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(r, "older"))
		more.Accesses += rapid.IntRange(0, 1<<20).Draw(r, "more")
		richer.Tools, richer.Files = rapid.Bool().Draw(r, "tools"), rapid.Bool().Draw(r, "files")
		base := compact.Importance(u)
		if math.IsNaN(base) || base < 0 || compact.Importance(older) > base || compact.Importance(more) < base || compact.Importance(richer) < base {
			r.Fatalf("of %+v: %g, older %g, used more %g, richer %g", u, base, compact.Importance(older), compact.Importance(more), compact.Importance(richer))
		}
	})
}
