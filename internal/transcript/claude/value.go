package claude

import (
	"strconv"
	"time"

	"strandline/internal/text"
)

// textOf returns the text of a JSON string or number as valid UTF-8, nil for any
// other value. It is a part of raw if nothing is escaped or invalid.
func textOf(raw []byte) []byte {
	switch {
	case len(raw) == 0:
	case raw[0] == '"':
		return text.Unquote(raw)
	case raw[0] == '-' || text.IsDigit(raw[0]):
		return raw
	}
	return nil
}

// stringOf is textOf as a string.
func stringOf(raw []byte) string { return string(textOf(raw)) }

// isTrue reports whether raw is true, or the string "true".
func isTrue(raw []byte) bool { return string(raw) == "true" || string(raw) == `"true"` }

// intOf returns the integer part of a number or of a numeric string, 0 for any
// other value or if out of range.
func intOf(raw []byte) int64 {
	f := floatOf(raw)
	if !(f > -1<<62 && f < 1<<62) {
		return 0
	}
	return int64(f)
}

// floatOf returns a number or the value of a numeric string, 0 for any other
// value.
func floatOf(raw []byte) float64 {
	f, err := strconv.ParseFloat(stringOf(raw), 64)
	if err != nil || f != f {
		return 0
	}
	return f
}

// durationOf returns a number of units as a duration, 0 if negative or longer than
// 100 years.
func durationOf(raw []byte, unit time.Duration) time.Duration {
	d := floatOf(raw) * float64(unit)
	if !(d > 0 && d < float64(100*365*24*time.Hour)) {
		return 0
	}
	return time.Duration(d)
}

// timeOf reads RFC 3339 text or milliseconds since 1970 as UTC. It returns the
// zero time for any other value and for years before 1970 or after 2200.
func timeOf(raw []byte) time.Time {
	if len(raw) > 0 && raw[0] != '"' {
		if ms := intOf(raw); ms > 0 && ms < 1<<43 {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, stringOf(raw))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return time.Time{}
	}
	return t.UTC()
}
