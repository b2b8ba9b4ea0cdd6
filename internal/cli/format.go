package cli

import (
	"fmt"
	"time"

	"strandline/internal/recall"
	"strandline/internal/text"
)

// size formats a number of bytes.
func size(n int64) string { return text.Size(n) }

// tokens formats a number of tokens.
func tokens(n int64) string { return text.TokenCount(n) }

// count writes a number with its noun.
func count(n int, noun string) string { return text.Count(n, noun) }

// oneLine makes a text fit for a cell of a table.
func oneLine(s string) string { return text.OneLine(text.Visible(s)) }

// stamp formats a time for people, in the zone of the clock.
func (a *commands) stamp(t time.Time) string { return a.format(t, "2006-01-02 15:04") }

func (a *commands) format(t time.Time, layout string) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(a.app.Now().Location()).Format(layout)
}

// ago formats a time for people: near ones by their distance.
func (a *commands) ago(t time.Time) string {
	const day = 24 * time.Hour
	switch d := a.app.Now().Sub(t); {
	case t.IsZero(), d < 0:
		return a.stamp(t)
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < day:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 14*day:
		return count(int(d/day), "day") + " ago"
	}
	return a.format(t, time.DateOnly)
}

// since reads a --since value.
func (a *commands) since(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return recall.ParseTime(s, a.app.Now())
}
