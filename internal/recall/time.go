package recall

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

// When is a time that a query states in words: "yesterday", "last week", "in March".
// It limits the search, unless the query has no other words or nothing is found; then
// its words are searched as text, as quoted words always are.
type When struct {
	Words string    `json:"words"` // as typed
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: no limit
}

// String returns a note for the user.
func (w When) String() string {
	span := "since " + w.Since.Format(time.DateOnly)
	if !w.Until.IsZero() {
		span += " until " + w.Until.Format(time.DateOnly)
	}
	return `"` + w.Words + `" was read as time (` + span + "); in quotes it is searched as text."
}

// cutTime removes the first time words from a query's words, if others remain.
func cutTime(words []string, now time.Time) (rest []string, when *When) {
	for i := range words {
		w, n := parseTimeWords(words[i:], now)
		if n == 0 {
			continue
		}
		rest = slices.Delete(slices.Clone(words), i, i+n)
		meaningful := func(t archive.Term) bool { return !terms.Stop(t.Text) }
		if !slices.ContainsFunc(terms.Query(strings.Join(rest, " ")), meaningful) {
			return words, nil
		}
		w.Words = strings.Join(words[i:i+n], " ")
		return rest, &w
	}
	return words, nil
}

// parseTimeWords parses a time at the start of words and returns the number of words
// used, 0 if there is none.
func parseTimeWords(words []string, now time.Time) (When, int) {
	const punctuation = ",.;!?"
	var typed, three [3]string
	for i := range min(len(words), 3) {
		typed[i] = strings.TrimRight(words[i], punctuation)
		three[i] = strings.ToLower(typed[i])
	}
	midnight := midnightOf(now)
	switch three[0] {
	case "today":
		return When{Since: midnight}, 1
	case "yesterday":
		return day(midnight, 1), 1
	case "this":
		if start, _ := period(three[1], midnight); !start.IsZero() {
			return When{Since: start}, 2
		}
	case "last":
		if w := last(three[1], midnight); !w.Since.IsZero() {
			return w, 2
		}
	case "in":
		// Months are capitalised: "may" and "march" are verbs.
		if m := month(typed[1]); m > 0 {
			since, n := time.Date(now.Year(), m, 1, 0, 0, 0, 0, now.Location()), 2
			if year, err := strconv.Atoi(three[2]); err == nil && year >= 1970 && year <= now.Year() {
				since, n = since.AddDate(year-now.Year(), 0, 0), 3
			} else if since.After(now) {
				since = since.AddDate(-1, 0, 0)
			}
			return When{Since: since, Until: since.AddDate(0, 1, 0)}, n
		}
	}
	if three[2] == "ago" {
		if w := ago(three[0], three[1], now); !w.Since.IsZero() {
			return w, 3
		}
	}
	return When{}, 0
}

func midnightOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// day is the day that began back days before a midnight.
func day(midnight time.Time, back int) When {
	since := midnight.AddDate(0, 0, -back)
	return When{Since: since, Until: since.AddDate(0, 0, 1)}
}

// period returns the start of the current week, month or year and of the previous one,
// or the start of this morning. A week starts on Monday.
func period(unit string, midnight time.Time) (start, previous time.Time) {
	switch unit {
	case "morning":
		return midnight, time.Time{}
	case "week":
		start = midnight.AddDate(0, 0, -(int(midnight.Weekday())+6)%7)
		return start, start.AddDate(0, 0, -7)
	case "month":
		start = midnight.AddDate(0, 0, 1-midnight.Day())
		return start, start.AddDate(0, -1, 0)
	case "year":
		start = time.Date(midnight.Year(), 1, 1, 0, 0, 0, 0, midnight.Location())
		return start, start.AddDate(-1, 0, 0)
	}
	return start, previous
}

// last returns the time of "last" unit. "Last week" can mean the past days or the
// week before this Monday, so it reaches from the start of the previous week to now.
func last(unit string, midnight time.Time) When {
	if unit == "night" {
		return When{Since: midnight.Add(-6 * time.Hour), Until: midnight.Add(6 * time.Hour)}
	}
	for d := range 7 {
		if strings.EqualFold(unit, time.Weekday(d).String()) {
			return day(midnight, (int(midnight.Weekday())-d+6)%7+1)
		}
	}
	_, previous := period(unit, midnight)
	return When{Since: previous}
}

// ago returns the time of "2 days ago": that day, or the week or month around it.
// Hours and minutes reach until now.
func ago(number, unit string, now time.Time) When {
	n, err := strconv.Atoi(number)
	if number == "a" || number == "an" || number == "one" {
		n, err = 1, nil
	}
	if err != nil || n < 1 || n > maxAge {
		return When{}
	}
	midnight := midnightOf(now)
	switch strings.TrimSuffix(unit, "s") {
	case "minute":
		return When{Since: now.Add(-time.Duration(n) * time.Minute)}
	case "hour":
		return When{Since: now.Add(-time.Duration(n) * time.Hour)}
	case "day":
		return day(midnight, n)
	case "week":
		since := midnight.AddDate(0, 0, -7*n-3)
		return When{Since: since, Until: since.AddDate(0, 0, 7)}
	case "month":
		since := midnight.AddDate(0, -n, -15)
		return When{Since: since, Until: since.AddDate(0, 1, 0)}
	}
	return When{}
}

// month returns the month of a capitalised name, or 0.
func month(s string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if s == m.String() {
			return m
		}
	}
	return 0
}

// Since parses the start of a time range as ParseTime does; "" is the zero time.
func Since(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return ParseTime(s, now)
}

// Until parses the end of a time range, exclusive: as ParseTime does, but a day or a month
// is included whole. "" is the zero time.
func Until(s string, now time.Time) (time.Time, error) {
	t, err := Since(s, now)
	if err != nil || s == "" {
		return t, err
	}
	s = strings.ToLower(strings.TrimSpace(s))
	switch {
	case len(s) == len("2006-01") && s[4] == '-':
		return clamp(t.AddDate(0, 1, 0)), nil
	case len(s) == len(time.DateOnly) && s[4] == '-', s == "today", s == "yesterday":
		return clamp(t.AddDate(0, 0, 1)), nil
	}
	return t, nil
}

// ParseTime parses a point in the past: an age (90s, 30m, 2h, 7d, 3w, 6mo, 1y),
// "today", "yesterday", a month (2026-11), a date (2026-11-01) or an RFC 3339 time,
// with or without seconds and zone. Days begin at midnight in the location of now.
func ParseTime(s string, now time.Time) (time.Time, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "now":
		return now, nil
	case "today":
		return midnightOf(now), nil
	case "yesterday":
		return midnightOf(now).AddDate(0, 0, -1), nil
	}
	if t, ok := parseAge(s, now); ok {
		return clamp(t), nil
	}
	upper := strings.ToUpper(s)
	for _, layout := range []string{time.DateOnly, "2006-01", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.ParseInLocation(layout, upper, now.Location()); err == nil {
			return clamp(t), nil
		}
	}
	return time.Time{}, archive.Invalid(fmt.Sprintf("%q is not a time", archive.Clip(s, 40)), "write an age such as 7d, 2h or 3w, or a date such as 2026-11-01")
}

// clamp limits t to the range of a store's times: nanoseconds since 1970 in 64 bits.
func clamp(t time.Time) time.Time {
	sorted := []time.Time{time.Unix(0, 0), t, time.Unix(0, math.MaxInt64)}
	slices.SortFunc(sorted, time.Time.Compare)
	return sorted[1].In(t.Location())
}

// maxAge is the largest number in an age; it prevents overflow.
const maxAge = 100_000

// parseAge parses a number with a unit and returns the time that long before now.
func parseAge(s string, now time.Time) (time.Time, bool) {
	digits := len(s) - len(strings.TrimLeft(s, digits))
	n, err := strconv.Atoi(s[:digits])
	unit, ok := map[string]struct {
		exact        time.Duration
		days, months int
	}{
		"s": {exact: time.Second}, "m": {exact: time.Minute}, "min": {exact: time.Minute}, "h": {exact: time.Hour},
		"d": {days: 1}, "w": {days: 7}, "mo": {months: 1}, "y": {months: 12},
	}[s[digits:]]
	if err != nil || n > maxAge || !ok {
		return time.Time{}, false
	}
	if unit.exact > 0 {
		return now.Add(-time.Duration(n) * unit.exact), true
	}
	return now.AddDate(0, -n*unit.months, -n*unit.days), true
}
