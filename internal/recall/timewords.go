package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"strandline/internal/index/terms"
)

// A query may say when in plain words: "yesterday", "last week", "in March". They
// become limits if something is left to look for without them; a query of
// nothing but such words is looked for as it stands, and so are words in quotes.
// Where that finds nothing, they are words like any others.

// When is what a query said about time in plain words.
type When struct {
	Words string    `json:"words"` // as they were typed
	Since time.Time `json:"since"`
	Until time.Time `json:"until,omitzero"` // zero: no limit
}

// String says what was done, for a person.
func (w When) String() string {
	span := "since " + w.Since.Format(time.DateOnly)
	if !w.Until.IsZero() {
		span += " until " + w.Until.Format(time.DateOnly)
	}
	return `"` + w.Words + `" was read as time (` + span + "); in quotes it is looked for as text."
}

// anyTime returns the request with its words of time as words.
func (r Request) anyTime() Request {
	r.Text, r.When = r.Text+" "+r.When.Words, nil
	return r
}

// readTime takes the first words that say a time out of a query's pieces.
func readTime(pieces []string, now time.Time) (rest []string, when *When) {
	for i := range pieces {
		w, n := timeAt(pieces[i:], now)
		if n == 0 {
			continue
		}
		rest = slices.Delete(slices.Clone(pieces), i, i+n)
		if !saysSomething(rest) {
			return pieces, nil
		}
		w.Words = strings.Join(pieces[i:i+n], " ")
		return rest, &w
	}
	return pieces, nil
}

// saysSomething reports whether a word is left that is no stop word.
func saysSomething(pieces []string) bool {
	for _, t := range terms.Query(strings.Join(pieces, " ")) {
		if !terms.Stop(t.Text) {
			return true
		}
	}
	return false
}

// timeAt reads the time that words begin with and returns how many of them say
// it, 0 if none does.
func timeAt(words []string, now time.Time) (When, int) {
	at := func(i int) string {
		if i >= len(words) {
			return ""
		}
		return strings.TrimRight(strings.ToLower(words[i]), ",.;!?")
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch at(0) {
	case "today":
		return When{Since: midnight}, 1
	case "yesterday":
		return When{Since: midnight.AddDate(0, 0, -1), Until: midnight}, 1
	case "this":
		if since, ok := begun(at(1), now, midnight); ok {
			return When{Since: since}, 2
		}
	case "last":
		if w, ok := last(at(1), now, midnight); ok {
			return w, 2
		}
	case "in":
		// "may" and "march" are verbs; months are written with a capital.
		if m := month(strings.TrimRight(firstOf(words, 1), ",.;!?")); m > 0 {
			since, n := time.Date(now.Year(), m, 1, 0, 0, 0, 0, now.Location()), 2
			if year, err := strconv.Atoi(at(2)); err == nil && year >= 1970 && year <= now.Year() {
				since, n = since.AddDate(year-now.Year(), 0, 0), 3
			} else if since.After(now) {
				since = since.AddDate(-1, 0, 0)
			}
			return When{Since: since, Until: since.AddDate(0, 1, 0)}, n
		}
	}
	if at(2) == "ago" {
		if w, ok := ago(at(0), at(1), now, midnight); ok {
			return w, 3
		}
	}
	return When{}, 0
}

func firstOf(words []string, i int) string {
	if i >= len(words) {
		return ""
	}
	return words[i]
}

// begun returns when a span that is not over began. A week begins on Monday.
func begun(unit string, now, midnight time.Time) (time.Time, bool) {
	switch unit {
	case "morning":
		return midnight, true
	case "week":
		return midnight.AddDate(0, 0, -weekday(now)), true
	case "month":
		return midnight.AddDate(0, 0, 1-now.Day()), true
	case "year":
		return time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location()), true
	}
	return time.Time{}, false
}

// last reads what stands behind "last". People say "last week" on a Monday and
// mean the days before, on a Friday and mean those before Monday: it reaches from
// the beginning of the week before until now.
func last(unit string, now, midnight time.Time) (When, bool) {
	switch unit {
	case "night":
		return When{Since: midnight.Add(-6 * time.Hour), Until: midnight.Add(6 * time.Hour)}, true
	case "week":
		return When{Since: midnight.AddDate(0, 0, -weekday(now)-7)}, true
	case "month":
		return When{Since: midnight.AddDate(0, 0, 1-now.Day()).AddDate(0, -1, 0)}, true
	case "year":
		return When{Since: time.Date(now.Year()-1, 1, 1, 0, 0, 0, 0, now.Location())}, true
	}
	for d := range 7 {
		if strings.EqualFold(unit, time.Weekday(d).String()) {
			back := (int(now.Weekday())-d+6)%7 + 1
			since := midnight.AddDate(0, 0, -back)
			return When{Since: since, Until: since.AddDate(0, 0, 1)}, true
		}
	}
	return When{}, false
}

// weekday counts from Monday.
func weekday(t time.Time) int { return (int(t.Weekday()) + 6) % 7 }

// ago reads "2 days ago": that day, or the week or month around that moment. Hours
// and minutes reach until now.
func ago(number, unit string, now, midnight time.Time) (When, bool) {
	n, err := strconv.Atoi(number)
	if number == "a" || number == "an" || number == "one" {
		n, err = 1, nil
	}
	if err != nil || n < 1 || n > maxAge {
		return When{}, false
	}
	switch strings.TrimSuffix(unit, "s") {
	case "minute":
		return When{Since: now.Add(-time.Duration(n) * time.Minute)}, true
	case "hour":
		return When{Since: now.Add(-time.Duration(n) * time.Hour)}, true
	case "day":
		since := midnight.AddDate(0, 0, -n)
		return When{Since: since, Until: since.AddDate(0, 0, 1)}, true
	case "week":
		since := midnight.AddDate(0, 0, -7*n-3)
		return When{Since: since, Until: since.AddDate(0, 0, 7)}, true
	case "month":
		since := midnight.AddDate(0, -n, -15)
		return When{Since: since, Until: since.AddDate(0, 1, 0)}, true
	}
	return When{}, false
}

// month returns the month of a name with a capital letter, 0 if it is none.
func month(s string) time.Month {
	for m := time.January; m <= time.December; m++ {
		if s == m.String() {
			return m
		}
	}
	return 0
}
