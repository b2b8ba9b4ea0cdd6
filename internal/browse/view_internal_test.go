package browse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
)

func TestScreens(t *testing.T) {
	nothing := func(more recall.Result) func() *fake { return func() *fake { return &fake{more: more} } }
	for name, c := range map[string]struct {
		archive       func() *fake
		width, height int
		query         string
		keys          []string
	}{
		"begin-80x24":          {withHits, 80, 24, "", nil},
		"hits-80x24":           {withHits, 80, 24, "retry policy", nil},
		"hits-120x40":          {withHits, 120, 40, "retry policy", nil},
		"hits-40x12":           {withHits, 40, 12, "retry policy", nil},
		"hits-20x5":            {withHits, 20, 5, "retry policy", nil},
		"wide-runes-80x24":     {withHits, 80, 24, "retry policy", []string{"down", "down"}},
		"long-lines-80x24":     {withHits, 80, 24, "retry policy", []string{"down", "down", "down", "pgdown"}},
		"related-120x40":       {withHits, 120, 40, "retry policy", []string{"tab", "p", "G"}},
		"opened-80x24":         {withHits, 80, 24, "retry policy", []string{"down", "enter"}},
		"opened-40x12":         {withHits, 40, 12, "retry policy", []string{"enter"}},
		"keys-80x24":           {withHits, 80, 24, "retry policy", []string{"tab"}},
		"nothing-80x24":        {nothing(recall.Result{Elsewhere: true, Others: []recall.OtherProject{{Project: "notes", Hits: 3}}, InAgents: true, Rewound: true}), 80, 24, "nowhere", []string{"ctrl+t"}},
		"nothing-recent-80x24": {nothing(recall.Result{}), 80, 24, "nowhere", []string{"ctrl+t", "ctrl+t"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := screenOf(t, c.archive(), c.width, c.height, c.query)
			press(m, c.keys...)
			golden(t, name, shown(t, m))
		})
	}
}

func TestEmptyArchiveShowsHelp(t *testing.T) {
	m := screenOf(t, &fake{}, 80, 24, "")
	m.opt.Sessions = 0
	wantShown(t, m, "0 sessions to search", "No sessions are archived yet.", "strandline import")
}

// At any size the content fits the screen and the selected hit is visible.
func TestEverySizeFits(t *testing.T) {
	m := screenOf(t, withHits(), 80, 24, "retry policy")
	press(m, "down", "down", "down")
	for width := 1; width <= 130; width += 3 {
		for height := 1; height <= 40; height++ {
			m.Update(windowOf(width, height))
			got := shown(t, m)
			if width >= minWidth && height >= minHeight+1 && !strings.Contains(got, "▌") {
				t.Fatalf("%d x %d does not show the selected hit:\n%s", width, height, got)
			}
		}
	}
	press(m, "enter")
	for width := 1; width <= 130; width += 7 {
		for height := 1; height <= 40; height += 3 {
			m.Update(windowOf(width, height))
			shown(t, m)
		}
	}
}

func TestStatusShowsRelaxedQueries(t *testing.T) {
	for want, more := range map[string]recall.Result{
		"no match of the quoted phrase": {Relaxed: recall.RelaxedPhrase},
		"prefix matches only":           {Relaxed: recall.RelaxedPrefix},
		"more in other projects":        {Elsewhere: true},
		"http/m: no answer in time":     {Notes: []string{"http/m: no answer in time"}},
	} {
		f := withHits()
		f.more = more
		wantShown(t, screenOf(t, f, 100, 24, "retry"), "1 of 5 hits · "+want)
	}
	f := withHits()
	f.hits = f.hits[4:]
	wantShown(t, screenOf(t, f, 100, 24, "retry"), "1 of 1 hit · no exact match; these may be related", "Authentication failures", "^[]0;owned^G")
	if len(f.read) > 0 {
		t.Error("a summary was read from the log")
	}
}

func TestErrorMessages(t *testing.T) {
	f := withHits()
	f.err = archive.NotFound("no project named \"x\"", "`strandline projects` lists them")
	f.hits = nil
	m := screenOf(t, f, 80, 24, "project:x retry")
	wantShown(t, m, `no project named "x"`, "`strandline projects` lists them")
	f.err = fmt.Errorf("read\nthe index")
	press(m, "ctrl+p")
	wantShown(t, m, "read the index")

	f = withHits()
	f.readErr = archive.NotFound("the log was deleted", "")
	wantShown(t, screenOf(t, f, 80, 24, "retry"), "7f3a12cd/8", "the log was deleted")
	f = withHits()
	f.blocks = nil
	wantShown(t, screenOf(t, f, 80, 24, "retry"), "no text")
}

func TestTextStartsAtTheHit(t *testing.T) {
	m := screenOf(t, withHits(), 80, 24, "retry policy")
	got := shown(t, m)
	if strings.Contains(got, "Now look at the retry") || !strings.Contains(got, "TestRetryPolicy -count=300") {
		t.Errorf("the text does not start at the hit:\n%s", got)
	}
	if strings.Contains(got, "an attachment") {
		t.Error("an attachment is shown")
	}
	if content := m.View().Content; !strings.Contains(content, "\x1b[1;33mRetry\x1b[m") {
		t.Errorf("the search terms are not highlighted: %q", content)
	}
}

func TestAge(t *testing.T) {
	for ago, want := range map[time.Duration]string{
		0: "now", 90 * time.Second: "1 min", 119 * time.Minute: "1 h", 47 * time.Hour: "1 d", 99 * 24 * time.Hour: "99 d",
		100 * 24 * time.Hour: "2026-08-12", -time.Hour: "2026-11-20",
	} {
		if got := age(noon(), noon().Add(-ago)); got != want {
			t.Errorf("%v: %q, want %q", ago, got, want)
		}
	}
	if got := age(noon(), time.Time{}); got != "-" {
		t.Errorf("no time: %q", got)
	}
}
