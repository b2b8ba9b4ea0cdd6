package usage

// healthVersion numbers the format of the health file.
//
//	1: four shares
const healthVersion = 1

// Health measures how complete and useful the archive is, over all sessions. A
// share is nil if there is nothing to measure.
type Health struct {
	// Time of the measurement, in milliseconds since 1970.
	Time int64 `json:"time"`
	// Captured: bytes of the client's transcripts that are in the logs.
	Captured *Share `json:"captured,omitempty"`
	// Indexed: bytes of the logs that are in the index.
	Indexed *Share `json:"indexed,omitempty"`
	// Embedded: passages that have a vector, if an embedder is configured.
	Embedded *Share `json:"embedded,omitempty"`
	// Used: restored items that the session used afterwards.
	Used *Share `json:"used,omitempty"`

	Version int `json:"version"`
}

// Share is a part of a whole.
type Share struct {
	Part int64 `json:"part"`
	Of   int64 `json:"of"`
}

// Value returns the share, from 0 to 1; false if the whole is 0.
func (s *Share) Value() (float64, bool) {
	if s == nil || s.Of <= 0 {
		return 0, false
	}
	return min(max(float64(s.Part)/float64(s.Of), 0), 1), true
}

// Mean returns the mean of the known shares, from 0 to 1; false if none is known.
func (h Health) Mean() (float64, bool) {
	sum, n := 0.0, 0
	for _, s := range []*Share{h.Captured, h.Indexed, h.Embedded, h.Used} {
		if v, ok := s.Value(); ok {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1)), n > 0
}
