package recall

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"strandline/internal/archive"
)

// ParseTime reads a point in the past: an age (90s, 30m, 2h, 7d, 3w, 6mo, 1y),
// "today", "yesterday", a month (2026-11), a date (2026-11-01) or a time in RFC
// 3339, with or without seconds and zone. Days begin at midnight where now is.
func ParseTime(s string, now time.Time) (time.Time, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if t, ok := age(s, now); ok {
		return within(t), nil
	}
	upper := strings.ToUpper(s)
	for _, layout := range []string{time.DateOnly, "2006-01", "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.ParseInLocation(layout, upper, now.Location()); err == nil {
			return within(t), nil
		}
	}
	return time.Time{}, archive.Invalid(fmt.Sprintf("%q is not a time", archive.Clip(s, 40)), "write an age such as 7d, 2h or 3w, or a date such as 2026-11-01")
}

// within brings a time into what a store can hold, nanoseconds from 1970 in 64
// bits: no session is older, and none as new as the end.
func within(t time.Time) time.Time {
	first, last := time.Unix(0, 0), time.Unix(0, math.MaxInt64)
	switch {
	case t.Before(first):
		return first.In(t.Location())
	case t.After(last):
		return last.In(t.Location())
	}
	return t
}

// maxAge bounds the number of an age, so that no arithmetic can overflow.
const maxAge = 100_000

// age reads a number with a unit and counts back from now.
func age(s string, now time.Time) (time.Time, bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n > maxAge {
		return time.Time{}, false
	}
	switch s[digits:] {
	case "s":
		return now.Add(-time.Duration(n) * time.Second), true
	case "m", "min":
		return now.Add(-time.Duration(n) * time.Minute), true
	case "h":
		return now.Add(-time.Duration(n) * time.Hour), true
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	case "mo":
		return now.AddDate(0, -n, 0), true
	case "y":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
