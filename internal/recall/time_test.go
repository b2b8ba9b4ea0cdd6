package recall_test

import (
	"strings"
	"testing"
	"time"

	"strandline/internal/recall"
)

// now is a Friday, 2026-11-20.
func TestParseReadsTimeWords(t *testing.T) {
	never := time.Time{}
	for _, test := range []struct {
		in, text, words string // words is empty without a time
		since, until    time.Time
	}{
		{"retry yesterday", "retry", "yesterday", day(2026, 11, 19), day(2026, 11, 20)},
		{"what broke today?", "what broke", "today?", day(2026, 11, 20), never},
		{"this morning the lock broke", "the lock broke", "this morning", day(2026, 11, 20), never},
		{"retry This Week", "retry", "This Week", day(2026, 11, 16), never},
		{"retry last week", "retry", "last week", day(2026, 11, 9), never},
		{"retry last month", "retry", "last month", day(2026, 10, 1), never},
		{"retry last year", "retry", "last year", day(2025, 1, 1), never},
		{"retry last night", "retry", "last night", day(2026, 11, 19).Add(18 * time.Hour), day(2026, 11, 20).Add(6 * time.Hour)},
		{"retry last friday", "retry", "last friday", day(2026, 11, 13), day(2026, 11, 14)},
		{"retry last thursday", "retry", "last thursday", day(2026, 11, 19), day(2026, 11, 20)},
		{"retry 2 days ago", "retry", "2 days ago", day(2026, 11, 18), day(2026, 11, 19)},
		{"retry an hour ago", "retry", "an hour ago", now.Add(-time.Hour), never},
		{"retry 3 weeks ago", "retry", "3 weeks ago", day(2026, 10, 27), day(2026, 11, 3)},
		{"retry in March", "retry", "in March", day(2026, 3, 1), day(2026, 4, 1)},
		{"retry in December", "retry", "in December", day(2025, 12, 1), day(2026, 1, 1)},
		{"retry in March 2024 again", "retry again", "in March 2024", day(2024, 3, 1), day(2024, 4, 1)},
		{"nothing but time: yesterday", "nothing but time:", "yesterday", day(2026, 11, 19), day(2026, 11, 20)},
		{"only the first: yesterday last week", "only the first: last week", "yesterday", day(2026, 11, 19), day(2026, 11, 20)},

		{"yesterday", "yesterday", "", never, never},
		{"what was it yesterday", "what was it yesterday", "", never, never},
		{`retry "yesterday"`, `retry "yesterday"`, "", never, never},
		{`retry "last week"`, `retry "last week"`, "", never, never},
		{"the last test", "the last test", "", never, never},
		{"this function", "this function", "", never, never},
		{"in may run in march order", "in may run in march order", "", never, never},
		{"0 days ago retry", "0 days ago retry", "", never, never},
		{"999999999999999999999 days ago retry", "999999999999999999999 days ago retry", "", never, never},
		{"2 lines ago retry", "2 lines ago retry", "", never, never},
		{"retry last", "retry last", "", never, never},
		{"retry in", "retry in", "", never, never},
	} {
		req := parsed(t, test.in)
		var got recall.When
		if req.When != nil {
			got = *req.When
		}
		if req.Text != test.text || got.Words != test.words || !got.Since.Equal(test.since) || !got.Until.Equal(test.until) {
			t.Errorf("%q: text %q, when %+v", test.in, req.Text, got)
		}
	}
	if req := parsed(t, "retry yesterday since:7d"); req.When != nil || req.Text != "retry yesterday" {
		t.Errorf("beside a filter: %+v", req)
	}
}

func TestSearchLimitsByTimeWords(t *testing.T) {
	s := newStore(said(alpha, 99, 0, "the retry policy"), said(alpha, 10, 0, "the retry policy of old"), said(alpha, 9, 0, "a backoff, last week or so"))
	res := mustSearch(t, s, parsed(t, "retry today"))
	if got := handles(res.Hits); got != "aaaaaaaa/99.0" || res.When == nil {
		t.Errorf("hits %s, when %+v", got, res.When)
	}
	if want := `"today" was read as time (since 2026-11-20); in quotes it is searched as text.`; res.When.String() != want {
		t.Errorf("%s, want %s", res.When, want)
	}
	// Without hits in that time, the words are searched as text.
	res = mustSearch(t, s, parsed(t, "backoff today"))
	if got := handles(res.Hits); got != "aaaaaaaa/9.0" || res.When != nil {
		t.Errorf("hits %s, when %+v", got, res.When)
	}
	// An explicit limit takes precedence.
	req := parsed(t, "policy today")
	req.Since = day(2026, 11, 1)
	if got := strings.Fields(handles(mustSearch(t, s, req).Hits)); len(got) != 2 {
		t.Errorf("hits %s", got)
	}
}
