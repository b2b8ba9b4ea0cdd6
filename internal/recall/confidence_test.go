package recall_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

var written = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

func hours(n float64) time.Time { return written.Add(time.Duration(n * float64(time.Hour))) }

func access(how string, at float64) archive.Access { return archive.Access{How: how, Time: hours(at)} }

func TestAt(t *testing.T) {
	shown := func(at ...float64) (out []archive.Access) {
		for _, h := range at {
			out = append(out, access(archive.AccessRestored, h))
		}
		return out
	}
	for name, c := range map[string]struct {
		accesses []archive.Access
		now      float64
		want     float64
	}{
		"just written":                        {nil, 0, 1},
		"an hour later":                       {nil, 1, 0.995},
		"a day later":                         {nil, 24, 0.88},
		"the minimum":                         {nil, 180, 0.1},
		"a year later":                        {nil, 24 * 365, 0.1},
		"before it was written":               {nil, -10, 1},
		"restored at once stays at most 1":    {shown(0), 0, 1},
		"restored after a day":                {shown(24), 24, 0.91},
		"restored after a day, a day later":   {shown(24), 48, 0.79},
		"recalled counts as restored":         {[]archive.Access{access(archive.AccessRecalled, 24)}, 24, 0.91},
		"used counts more":                    {[]archive.Access{access(archive.AccessUsed, 24)}, 24, 0.94},
		"shown and then used":                 {[]archive.Access{access(archive.AccessRestored, 24), access(archive.AccessUsed, 26)}, 26, 0.96},
		"from the minimum":                    {shown(500), 500, 0.13},
		"from the minimum and back":           {shown(500), 506, 0.1},
		"in any order":                        {shown(48, 24), 48, 0.82},
		"an access of the future":             {shown(100), 24, 0.88},
		"an access dated before the place":    {shown(-5), 24, 0.88},
		"a clock that went back between uses": {shown(24, 20), 24, 0.94},
	} {
		t.Run(name, func(t *testing.T) {
			got := recall.DefaultConfidence().At(written, c.accesses, hours(c.now))
			if math.Abs(got-c.want) > 1e-9 {
				t.Errorf("got %.6f, want %.6f", got, c.want)
			}
		})
	}
}

// Without decay the confidence is constant, and a minimum above the start does not raise
// it.
func TestDecayChangesPerHourOnly(t *testing.T) {
	want := recall.DefaultConfidence()
	want.PerHour = 0.5
	if have := recall.ConfidenceWithDecay(0.5); have != want {
		t.Errorf("%+v, want %+v", have, want)
	}
}

func TestUnusualParameters(t *testing.T) {
	none := recall.Confidence{Minimum: 0.1, Shown: 0.03}
	if got := none.At(written, nil, hours(1e6)); got != 1 {
		t.Errorf("without decay: %f", got)
	}
	high := recall.Confidence{PerHour: 0.005, Minimum: 3}
	if got := high.At(written, nil, hours(10)); got != 1 {
		t.Errorf("with a minimum above the start: %f", got)
	}
}

func TestTimeTo(t *testing.T) {
	for name, c := range map[string]struct {
		rule recall.Confidence
		to   float64
		want time.Duration
		ok   bool
	}{
		"to what leaves the hot set": {recall.DefaultConfidence(), 0.15, 170 * time.Hour, true},
		"to the minimum":             {recall.DefaultConfidence(), 0.1, 180 * time.Hour, true},
		"below the minimum":          {recall.DefaultConfidence(), 0.05, 0, false},
		"from the start":             {recall.DefaultConfidence(), 1, 0, true},
		"without decay":              {recall.Confidence{Minimum: 0.1}, 0.15, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := c.rule.TimeTo(c.to)
			if (got-c.want).Abs() > time.Second || ok != c.ok {
				t.Errorf("got %v, %v", got, ok)
			}
			if ok && c.to < 1 {
				if now := c.rule.At(written, nil, written.Add(got)); math.Abs(now-c.to) > 1e-6 {
					t.Errorf("the confidence is %f then", now)
				}
			}
		})
	}
}

// For any accesses, the confidence is between minimum and start, does not depend on their
// order, and never rises between them.
func TestAtProperties(t *testing.T) {
	rule := recall.DefaultConfidence()
	rapid.Check(t, func(r *rapid.T) {
		var as []archive.Access
		for range rapid.IntRange(0, 8).Draw(r, "accesses") {
			how := rapid.SampledFrom([]string{archive.AccessRestored, archive.AccessRecalled, archive.AccessUsed}).Draw(r, "how")
			as = append(as, access(how, float64(rapid.IntRange(-50, 400).Draw(r, "at"))))
		}
		now := float64(rapid.IntRange(-100, 500).Draw(r, "now"))
		got := rule.At(written, as, hours(now))
		if got < rule.Minimum || got > recall.FullConfidence {
			r.Fatalf("%f is out of bounds", got)
		}
		if again := rule.At(written, rapid.Permutation(as).Draw(r, "order"), hours(now)); again != got {
			r.Fatalf("%f in one order, %f in another", got, again)
		}
		if later := rule.At(written, as, hours(401)); now >= 400 && now <= 401 && later > got+1e-9 {
			r.Fatalf("grew from %f to %f though nothing happened", got, later)
		}
	})
}
