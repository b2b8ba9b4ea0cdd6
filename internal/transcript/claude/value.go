package claude

import (
	"bytes"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

var errNoObject = errors.New("not a JSON object")

// plain returns the text of a raw string or number as valid UTF-8 and nil for any
// other value. Where nothing is escaped or invalid the result aliases raw.
func plain(raw []byte) []byte {
	if len(raw) == 0 {
		return nil
	}
	switch c := raw[0]; {
	case c == '"':
		if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
			return raw[1 : len(raw)-1]
		}
		out, _ := jsontext.AppendUnquote(nil, raw)
		return out
	case c == '-' || c >= '0' && c <= '9':
		return raw
	}
	return nil
}

// unquote returns the text of a raw string or number as valid UTF-8, "" for any
// other value.
func unquote(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	if raw[0] != '"' {
		return string(plain(raw))
	}
	// An error here means invalid UTF-8, which has been replaced by U+FFFD.
	out, _ := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw)
	return string(out)
}

// truth reports whether raw is true, or the string "true".
func truth(raw []byte) bool {
	return string(raw) == "true" || string(raw) == `"true"`
}

// integer returns the whole number in raw, also from a string or a fraction,
// and 0 for anything else or out of range.
func integer(raw []byte) int64 {
	f := number(raw)
	if !(f > -1<<62 && f < 1<<62) {
		return 0
	}
	return int64(f)
}

// number returns the number in raw, also from a string, and 0 for anything else.
func number(raw []byte) float64 {
	f, err := strconv.ParseFloat(string(plain(raw)), 64)
	if err != nil || f != f {
		return 0
	}
	return f
}

// span converts a count of units to a duration; absurd values give 0.
func span(raw []byte, unit time.Duration) time.Duration {
	d := number(raw) * float64(unit)
	if !(d > 0 && d < float64(100*365*24*time.Hour)) {
		return 0
	}
	return time.Duration(d)
}

// timestamp reads RFC 3339 text or milliseconds since 1970 as UTC; anything else
// gives the zero time.
func timestamp(raw []byte) time.Time {
	b := plain(raw)
	if len(raw) > 0 && raw[0] != '"' {
		if ms := integer(raw); ms > 0 && ms < 1<<43 {
			return time.UnixMilli(ms).UTC()
		}
		return time.Time{}
	}
	if t, ok := stamp(b); ok {
		return t
	}
	t, err := time.Parse(time.RFC3339Nano, string(b))
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return time.Time{}
	}
	return t.UTC()
}

// stamp reads the client's usual form, "2006-01-02T15:04:05.000Z", which stands
// on every row.
func stamp(b []byte) (time.Time, bool) {
	const form = "0000-00-00T00:00:00.000Z"
	if len(b) != len(form) {
		return time.Time{}, false
	}
	for i := range len(form) {
		if form[i] == '0' {
			if b[i] < '0' || b[i] > '9' {
				return time.Time{}, false
			}
		} else if b[i] != form[i] {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	// The last days of a month are left to the general parser, which knows them.
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 28 ||
		hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	milli := int(b[20]-'0')*100 + two(21)
	return time.Date(year, time.Month(month), day, hour, minute, second, milli*1e6, time.UTC), true
}
