package index

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"strandline/internal/archive"
)

// Nanos returns a time as it is stored, in nanoseconds. The zero time is 0.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Instant returns the time that Nanos encoded, in UTC.
func Instant(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// EncodeList returns a list of strings as it is stored: JSON, or "" if it is empty.
func EncodeList(v []string) string {
	if len(v) == 0 {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil { // strings always marshal
		return ""
	}
	return string(b)
}

// DecodeList decodes the result of EncodeList.
func DecodeList(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if strings.HasPrefix(s, `["`) && strings.HasSuffix(s, `"]`) && strings.IndexByte(s, '\\') < 0 {
		return strings.Split(s[2:len(s)-2], `","`), nil // without escapes, like nearly all lists
	}
	var v []string
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	return v, nil
}

// Checksum returns a checksum of a passage's indexed text and paths, and of its kind, which
// is part of the ID. paths is the encoded list.
func Checksum(p *archive.Passage, paths string) int64 {
	var h xxhash.Digest
	h.Reset()
	for _, part := range []string{string(p.Kind), paths, p.Text} {
		_, _ = h.WriteString(part) // never fails
		_, _ = h.WriteString("\x00")
	}
	return int64(h.Sum64())
}
