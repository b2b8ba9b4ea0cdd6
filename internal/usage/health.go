package usage

import (
	"encoding/json"
	"fmt"
	"path/filepath"
)

// healthVersion numbers the format of the memory's file.
//
//	1: four shares
const healthVersion = 1

// Health is how well the archive remembers, over everything that it holds. A
// share is nil where there is nothing to measure it by: nobody embeds, or
// nothing was restored yet.
type Health struct {
	// Time is when it was measured, in milliseconds since 1970.
	Time int64 `json:"time"`
	// Captured: bytes of the client's transcripts that are in the logs.
	Captured *Share `json:"captured,omitempty"`
	// Indexed: bytes of the logs that are in the index.
	Indexed *Share `json:"indexed,omitempty"`
	// Embedded: passages that have a vector, where an embedder is in use.
	Embedded *Share `json:"embedded,omitempty"`
	// Used: items given back to a context that the session used afterwards.
	Used *Share `json:"used,omitempty"`

	Version int `json:"version"`
}

// Share is a part of a whole.
type Share struct {
	Part int64 `json:"part"`
	Of   int64 `json:"of"`
}

// Value returns the share, from 0 to 1; false where the whole is nothing.
func (s *Share) Value() (float64, bool) {
	if s == nil || s.Of <= 0 {
		return 0, false
	}
	return min(max(float64(s.Part)/float64(s.Of), 0), 1), true
}

// Mean is the memory's health: the mean of the shares that are known, from 0 to
// 1; false where none is.
func (h Health) Mean() (float64, bool) {
	sum, n := 0.0, 0
	for _, s := range []*Share{h.Captured, h.Indexed, h.Embedded, h.Used} {
		if v, ok := s.Value(); ok {
			sum += v
			n++
		}
	}
	if n == 0 {
		return 0, false
	}
	return sum / float64(n), true
}

// Health reads the memory's health; false where there is none to be read.
func (f Store) Health() (Health, bool) {
	var h Health
	data, err := read(f.healthPath())
	return h, err == nil && json.Unmarshal(data, &h) == nil && h.Version == healthVersion
}

// WriteHealth replaces the memory's health.
func (f Store) WriteHealth(h Health) error {
	h.Version = healthVersion
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("write health: %w", err)
	}
	return write(f.healthPath(), data)
}

// healthPath lies in a folder of its own, where no session's file has its name.
func (f Store) healthPath() string { return filepath.Join(f.Dir, "memory", "health.json") }
