package usage_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"strandline/internal/usage"
)

func TestZones(t *testing.T) {
	z := usage.Zones{Warn: 0.70, Prune: 0.85}
	for name, c := range map[string]struct {
		next, part float64
		want       usage.Zone
	}{
		"empty":                             {1, 0, "ok"},
		"just below the warning":            {1, 0.6999, "ok"},
		"at the warning":                    {1, 0.70, "warning"},
		"just below the end":                {1, 0.8499, "warning"},
		"above":                             {1, 0.85, "optimize"},
		"more than full":                    {1, 1.3, "optimize"},
		"compaction at half: early":         {0.49, 0.34, "ok"},
		"compaction at half: warned":        {0.49, 0.35, "warning"},
		"compaction at half: near":          {0.49, 0.42, "optimize"},
		"compaction after the last zone":    {0.967, 0.69, "ok"},
		"compaction at an unknown point":    {0, 0.72, "warning"},
		"compaction between the zones":      {0.835, 0.71, "warning"},
		"compaction at the warning":         {0.70, 0.60, "optimize"},
		"compaction just after the warning": {0.71, 0.60, "ok"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := z.Within(c.next).Of(c.part); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := (usage.Zones{Warn: 0.9, Prune: 0.5}).Within(1).Of(0.6); got != usage.OK {
		t.Errorf("zones in the wrong order: %q", got)
	}
}

func history(tokens ...int64) []usage.Point {
	var points []usage.Point
	for turn, n := range tokens {
		points = append(points, usage.Point{Turns: turn, Tokens: n})
	}
	return points
}

func TestGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		in   []usage.Point
		want int64
	}{
		"nothing":                  {nil, 0},
		"two points":               {history(10, 20), 0},
		"steady":                   {history(10_000, 13_100, 16_200, 19_300), 3_100},
		"one large output":         {history(10_000, 12_000, 14_000, 16_000, 18_000, 20_000, 70_000, 72_000), 2_000},
		"one turn was rewound":     {history(50_000, 53_000, 56_000, 20_000, 62_000, 65_000), 3_000},
		"shrinking":                {history(50_000, 40_000, 30_000), 0},
		"constant":                 {history(50_000, 50_000, 50_000), 0},
		"old growth is ignored":    {history(append(ramp(20, 20_000), ramp(12, 100)...)...), 100},
		"turns without a response": {[]usage.Point{{Turns: 0, Tokens: 0}, {Turns: 4, Tokens: 4_000}, {Turns: 8, Tokens: 8_000}}, 1_000},
		"points of one turn":       {[]usage.Point{{Tokens: 1}, {Tokens: 2}, {Tokens: 3}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := usage.Growth(c.in); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func ramp(n int, by int64) []int64 {
	var list []int64
	for i := range n {
		list = append(list, 100_000+int64(i)*by)
	}
	return list
}

func TestTurnsLeft(t *testing.T) {
	for name, c := range map[string]struct {
		tokens, limit, growth int64
		want                  int
		known                 bool
	}{
		"some":           {104_000, 148_000, 3_100, 14, true},
		"none":           {166_000, 167_000, 3_000, 0, true},
		"past the limit": {180_000, 167_000, 3_000, 0, true},
		"no growth":      {104_000, 148_000, 0, 0, false},
		"no limit":       {104_000, 0, 3_100, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, known := usage.TurnsLeft(c.tokens, c.limit, c.growth); got != c.want || known != c.known {
				t.Errorf("%d, %v, want %d, %v", got, known, c.want, c.known)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	for name, c := range map[string]struct {
		in   usage.Session
		want string
	}{
		"complete": {
			usage.Session{LastTokenEstimate: 104_000, LastPercentage: 0.52, Window: 200_000, Growth: 3_100, Limit: 148_000, Compacts: true, Output: 100},
			"[Strandline] [=====-----] 52% 104K/200K +3.1K/turn, ~14 turns to compaction",
		},
		"no trend yet": {
			usage.Session{LastTokenEstimate: 104_000, LastPercentage: 0.52, Window: 200_000},
			"[Strandline] [=====-----] 52% 104K/200K",
		},
		"an estimate": {
			usage.Session{LastTokenEstimate: 9_000, LastPercentage: 0.009, Window: 1_000_000, Estimated: true},
			"[Strandline] [----------] ~0% ~9K/1M",
		},
		"one turn": {
			usage.Session{LastTokenEstimate: 160_000, LastPercentage: 0.8, Window: 200_000, Growth: 5_000, Limit: 167_000, Compacts: true},
			"[Strandline] [========--] 80% 160K/200K +5K/turn, ~1 turn to compaction",
		},
		"the next one": {
			usage.Session{LastTokenEstimate: 166_000, LastPercentage: 0.83, Window: 200_000, Growth: 5_000, Limit: 167_000, Compacts: true},
			"[Strandline] [========--] 83% 166K/200K +5K/turn, compaction is next",
		},
		"compaction is off": {
			usage.Session{LastTokenEstimate: 160_000, LastPercentage: 0.8, Window: 200_000, Growth: 5_000, Limit: 177_000},
			"[Strandline] [========--] 80% 160K/200K +5K/turn, ~3 turns to the end of the window",
		},
		"more than full": {
			usage.Session{LastTokenEstimate: 260_000, LastPercentage: 1.3, Window: 200_000, Growth: 5_000, Limit: 200_000, Compacts: true},
			"[Strandline] [==========] 130% 260K/200K +5K/turn, compaction is next",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := usage.Summary(c.in); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReportsOfAFillingSession(t *testing.T) {
	f := newFixture(t)
	var reported []string
	for turn, tokens := range []int64{20_000, 100_000, 139_000, 141_000, 143_000, 149_999, 150_000, 158_000, 161_000, 169_000, 170_000, 171_000, 180_000, 139_000, 141_000} {
		f.turn(turn, tokens)
		for range 2 { // prompts
			if text := f.report(); text != "" {
				head, _, _ := strings.Cut(text, " +")
				reported = append(reported, strings.TrimPrefix(head, usage.ReportPrefix+" "))
			}
		}
	}
	want := []string{
		"[=======---] 70% 141K/200K", "[=======---] 75% 150K/200K", "[========--] 80% 161K/200K",
		"[========--] 85% 170K/200K", "[=========-] 90% 180K/200K", "[=======---] 70% 141K/200K",
	}
	if got := strings.Join(reported, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("reported\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	if s := f.state(); s.PruneCount != 2 || !s.WarningIssued {
		t.Errorf("%+v", s)
	}
}

func TestAdviceInTheLastZone(t *testing.T) {
	f := newFixture(t)
	f.turn(0, 150_000)
	if text := f.report(); strings.Contains(text, "\n") {
		t.Errorf("advice with a warning: %q", text)
	}
	f.turn(1, 172_000)
	for _, want := range []string{"archived", "7f3a12cd/", "short", "fresh session"} {
		if r := f.Report(session, ""); !strings.Contains(r.Text, want) {
			t.Errorf("%q does not contain %q", r.Text, want)
		}
	}
	f.watch(usage.Observation{Captured: f.captured, CaptureFailed: true})
	if r := f.Report(session, ""); strings.Contains(r.Text, "is archived") || !strings.Contains(r.Text, "doctor") {
		t.Errorf("after a failed capture: %q", r.Text)
	}
}

// The last response counts although its rows are not captured yet.
func TestReportReadsNewRows(t *testing.T) {
	row := func(tokens int) string {
		return fmt.Sprintf(`{"type":"assistant","isSidechain":false,"uuid":"u%d","message":{"role":"assistant","model":"claude-haiku-4-5",`+
			`"content":[],"usage":{"input_tokens":%d,"output_tokens":5}}}`, tokens, tokens) + "\n"
	}
	const boundary = `{"type":"system","subtype":"compact_boundary","uuid":"b1"}` + "\n"
	for rows, want := range map[string]string{
		row(150_000):                        "75% 150K/200K",
		row(150_000) + row(172_000):         "86% 172K/200K",
		row(172_000) + boundary:             "",
		boundary + row(30_000):              "",
		"torn\"}\n" + row(172_000) + "{\"t": "86% 172K/200K",
	} {
		f := newFixture(t)
		f.turn(0, 20_000)
		if err := os.WriteFile(f.path, append(bytes.Repeat([]byte("\n"), int(f.captured)), rows...), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := f.Report(session, f.path); !strings.Contains(r.Text, want) || (r.Text == "") != (want == "") {
			t.Errorf("%s: %q, want %q", rows, r.Text, want)
		}
		if s := f.state(); s.LastTokenEstimate != 20_000 {
			t.Errorf("the record has %d tokens", s.LastTokenEstimate)
		}
	}
}

// A report that was not injected, because another injector used the space, is due
// again.
func TestReportCountsWhenDelivered(t *testing.T) {
	f := newFixture(t)
	f.turn(0, 172_000)
	if r := f.Report(session, ""); r.Text == "" || r.Delivered == nil {
		t.Fatal("no report")
	}
	if r := f.Report(session, ""); r.Text == "" {
		t.Error("an undelivered report is not due again")
	}
	if s := f.state(); s.PruneCount != 0 || s.WarningIssued {
		t.Errorf("%+v", s)
	}
}

func TestReportModes(t *testing.T) {
	f := newFixture(t)
	f.turn(0, 50_000)
	f.Always = true
	if text := f.report(); text != "[Strandline] [==--------] 25% 50K/200K" {
		t.Errorf("always: %q", text)
	}
	f.turn(1, 172_000)
	if text := f.report(); !strings.Contains(text, "\n") {
		t.Errorf("always, in a new zone: %q", text)
	}
	if text := f.report(); text == "" || strings.Contains(text, "\n") {
		t.Errorf("always, again: %q", text)
	}
	f.Silent = true
	f.turn(2, 190_000)
	if text := f.report(); text != "" {
		t.Errorf("never: %q", text)
	}
}

func TestFormatTokens(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 950: "950", 1_000: "1K", 3_100: "3.1K", 9_960: "10K", 86_700: "86.7K", 99_949: "99.9K", 99_960: "100K", 104_499: "104K",
		999_499: "999K", 999_950: "1M", 1_000_000: "1M", 1_250_000: "1.2M", 20_000_000: "20M",
	} {
		if got := usage.FormatTokens(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestPercentIsRoundedDown(t *testing.T) {
	for part, want := range map[float64]int{0: 0, 0.0099: 0, 0.57: 57, 0.8499: 84, 0.85: 85, 0.29: 29, 1: 100, 1.3: 130} {
		if got := usage.Percent(part); got != want {
			t.Errorf("%v: %d, want %d", part, got, want)
		}
	}
}
