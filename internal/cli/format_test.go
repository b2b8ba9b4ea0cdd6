package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// noon is when everything in these tests happens.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 1049: "1.0 kB", 1050: "1.1 kB", 999_949: "999.9 kB",
		999_950: "1.0 MB", 1_000_000: "1.0 MB", 999_950_000: "1.0 GB", 2_345_678_901: "2.3 GB",
		1_500_000_000_000: "1.5 TB", 2_000_000_000_000_000: "2000.0 TB",
	} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0K", 167_000: "167.0K", 999_960: "1.0M", 12_345_678: "12.3M", 4_000_000_000: "4.0G"} {
		if got := tokens(n); got != want {
			t.Errorf("tokens(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 sessions", 1: "1 session", 2: "2 sessions"} {
		if got := count(n, "session"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAgo(t *testing.T) {
	east := time.FixedZone("east", 3*3600)
	for name, c := range map[string]struct {
		before time.Duration
		zone   *time.Location
		want   string
	}{
		"now":              {0, time.UTC, "just now"},
		"seconds":          {59 * time.Second, time.UTC, "just now"},
		"a minute":         {time.Minute, time.UTC, "1 min ago"},
		"almost an hour":   {59*time.Minute + 59*time.Second, time.UTC, "59 min ago"},
		"hours":            {23*time.Hour + 59*time.Minute, time.UTC, "23 h ago"},
		"a day":            {24 * time.Hour, time.UTC, "1 day ago"},
		"days":             {13 * 24 * time.Hour, time.UTC, "13 days ago"},
		"weeks":            {14 * 24 * time.Hour, time.UTC, "2026-11-06"},
		"in its own zone":  {15*24*time.Hour - 9*time.Hour, east, "2026-11-06"},
		"in the future":    {-time.Hour, time.UTC, "2026-11-20 13:00"},
		"the other's zone": {-time.Hour, east, "2026-11-20 16:00"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &commands{app: app.New(app.Options{Now: func() time.Time { return noon().In(c.zone) }})}
			if got := a.ago(noon().Add(-c.before)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	a := &commands{app: app.New(app.Options{Now: noon})}
	if a.ago(time.Time{}) != "-" || a.stamp(time.Time{}) != "-" {
		t.Error("a time that is not known is not a dash")
	}
}

func TestSince(t *testing.T) {
	for in, want := range map[string]time.Time{"": {}, "7d": noon().AddDate(0, 0, -7), "2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} {
		if got, err := recall.Since(in, noon()); err != nil || !got.Equal(want) {
			t.Errorf("since(%q) = %v, %v", in, got, err)
		}
	}
	if _, err := recall.Since("someday", noon()); archive.ErrorCode(err) != archive.CodeInvalid {
		t.Errorf("got %v", err)
	}
}

func TestPainter(t *testing.T) {
	for name, c := range map[string]struct {
		terminal bool
		env      map[string]string
		want     string
	}{
		"a terminal":             {true, nil, "\x1b[1mx\x1b[0m"},
		"no terminal":            {false, nil, "x"},
		"NO_COLOR":               {true, map[string]string{"NO_COLOR": "1"}, "x"},
		"a terminal without any": {true, map[string]string{"TERM": "dumb"}, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &commands{
				app: app.New(app.Options{Getenv: func(k string) string { return c.env[k] }}),
				env: Options{Terminal: func(io.Writer) (int, bool) { return 80, c.terminal }},
			}
			if got := a.paint().bold("x"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := a.paint().red(""); got != "" {
				t.Errorf("nothing is painted as %q", got)
			}
		})
	}
	// What the painter writes passes the screen, or it would show as "^[[1m".
	p := painter{on: true}
	for _, painted := range []string{p.bold("x"), p.dim("x"), p.red("x"), p.green("x"), p.yellow("x"), p.kind("x"), colorSequence(colorMatch)} {
		if text.EscapeTerminal(painted, isOwnColor) != painted {
			t.Errorf("%q does not pass", painted)
		}
	}
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	clock := noon()
	terminal := true
	a := &commands{
		app: app.New(app.Options{Now: func() time.Time { return clock }}),
		env: Options{Stderr: &out, Terminal: func(io.Writer) (int, bool) { return 100, terminal }},
	}
	at := func(done int, bytes int64) capture.Progress {
		return capture.Progress{Done: done, Jobs: 4, Bytes: bytes, TotalBytes: 4_000_000}
	}
	p := a.newProgress("importing")
	clock = clock.Add(time.Second)
	p.capture(at(1, 1_000_000))
	clock = clock.Add(redraw / 2)
	p.capture(at(2, 2_000_000)) // too soon after the other
	clock = clock.Add(redraw)
	p.capture(at(3, 3_000_000))
	p.capture(at(4, 4_000_000)) // the last one is always drawn
	p.end()
	want := "\rimporting [██████░░░░░░░░░░░░░░░░░░]  25%  1/4 files  1.0 MB  1.0 MB/s  3s left" +
		"\rimporting [██████████████████░░░░░░]  75%  3/4 files  3.0 MB  2.7 MB/s         " +
		"\rimporting [████████████████████████] 100%  4/4 files  4.0 MB  3.6 MB/s\n"
	if out.String() != want {
		t.Errorf("got\n%q\nwant\n%q", out.String(), want)
	}

	out.Reset()
	narrow := &progress{app: a, label: "importing", live: true, width: 30, start: noon()}
	narrow.capture(at(4, 4_000_000))
	if line := strings.TrimPrefix(out.String(), "\r"); text.Cells(line) > 29 {
		t.Errorf("%d cells on a terminal of 30: %q", text.Cells(line), line)
	}

	// An empty import, one without a terminal, and one for a script.
	out.Reset()
	a.newProgress("importing").end()
	a.json = true
	a.newProgress("importing").capture(at(4, 4_000_000))
	a.json = false
	terminal = false
	a.newProgress("importing").capture(at(4, 4_000_000))
	if out.Len() > 0 {
		t.Errorf("drawn: %q", out.String())
	}
	terminal = true
	a.newProgress("importing").capture(capture.Progress{})
	if !strings.Contains(out.String(), "100%") {
		t.Errorf("nothing to do is done: %q", out.String())
	}
}
