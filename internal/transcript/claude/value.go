package claude

import (
	"strconv"
	"time"

	"strandline/internal/text"
)

// textOf returns the text of a JSON string or number as valid UTF-8, nil for any
// other value. It is a part of raw if nothing is escaped or invalid.
func textOf(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	switch c := raw[0]; {
	case c == '"':
		return text.Unquote(raw)
	case c == '-' || text.IsDigit(c):
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
	b := textOf(raw)
	if len(raw) > 0 && raw[0] != '"' {
		if ms := intOf(raw); ms > 0 && ms < 1<<43 {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	if t, ok := fastTime(b); ok {
		return t
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return time.Time{}
	}
	return t.UTC()
}

// fastTime reads the form of nearly every row, "2006-01-02T15:04:05.000Z".
func fastTime(b []byte) (time.Time, bool) {
	const form = "0000-00-00T00:00:00.000Z"
	if len(b) != len(form) {
		return time.Time{}, false
	}
	for i := range len(form) {
		if form[i] == '0' && !text.IsDigit(b[i]) || form[i] != '0' && b[i] != form[i] {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	// time.Parse checks the last days of a month.
	if year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 28 ||
		hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	milli := int(b[20]-'0')*100 + two(21)
	return time.Date(year, time.Month(month), day, hour, minute, second, milli*1e6, time.UTC), true
}
