package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// nanos is how a time is stored; the zero time is 0.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// list is how a list of strings is stored.
func list(v []string) string {
	if len(v) == 0 {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil { // strings always marshal
		return ""
	}
	return string(b)
}

func unlist(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if strings.HasPrefix(s, `["`) && strings.HasSuffix(s, `"]`) && strings.IndexByte(s, '\\') < 0 {
		return strings.Split(s[2:len(s)-2], `","`), nil // nothing is escaped, as in nearly all lists
	}
	var v []string
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	return v, nil
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
