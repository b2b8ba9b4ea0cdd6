package usage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
	"strandline/internal/text"
)

// Store holds the usage records of an archive:
//
//	<session>.json      Session, written by hooks and the statusline
//	memory/health.json  Health, written by hooks and maintenance
type Store struct {
	Dir string // "<archive>/state"
}

// maxFile is the most bytes read of a file.
const maxFile = 256 << 10

// lockWait limits the wait for another update, which takes less than 1 ms.
const lockWait = 100 * time.Millisecond

func (f Store) sessions() state.Store {
	return state.Store{Dir: f.Dir, Ext: ".json", MaxSize: maxFile, Lock: "gauge.lock"}
}

func (f Store) memory() state.Store {
	return state.Store{Dir: filepath.Join(f.Dir, "memory"), Ext: ".json", MaxSize: maxFile}
}

// Session returns a session's record; false if there is none or it is invalid.
// Sub-agents have none.
func (f Store) Session(id string) (Session, bool) {
	data, err := f.sessions().Read(id)
	if err != nil || !archive.ValidID(id) {
		return Session{}, false
	}
	return decodeSession(data, id)
}

// Since returns the records that were written since a time, in the order of their IDs.
func (f Store) Since(when time.Time) ([]Session, error) {
	names, err := f.sessions().Recent(when)
	var list []Session
	for _, id := range names {
		if s, ok := f.Session(id); ok {
			list = append(list, s)
		}
	}
	return list, err
}

// encode returns the JSON of a session as encoding/json does, and a newline.
func (s *Session) encode() ([]byte, error) {
	b, err := text.EncodeJSON(s)
	return append(b, '\n'), err
}

// decode reads the JSON of a session. It skips unknown names.
func (s *Session) decode(data []byte) error {
	r := text.NewJSONReader(data)
	return errors.Join(r.Decode(s), r.End())
}

func decodeSession(data []byte, id string) (s Session, ok bool) {
	if s.decode(data) != nil || !s.valid() || s.SessionID != id {
		return Session{}, false
	}
	return s, true
}

// Update reads a session's record, or creates one, calls change, and writes the
// result unless change returns false. Updates are serialized between processes.
// Update does nothing for a sub-agent's session.
func (f Store) Update(ctx context.Context, id string, change func(s *Session) bool) error {
	if !archive.ValidID(id) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return f.sessions().Update(ctx, id, func(old []byte) ([]byte, error) {
		s, ok := decodeSession(old, id)
		if !ok {
			s = Session{SessionID: id}
		}
		if !change(&s) {
			return nil, nil
		}
		s.Version = sessionVersion
		data, err := s.encode()
		if err != nil {
			return nil, fmt.Errorf("encode usage of session %s: %w", id, err)
		}
		return data, nil
	})
}

// Sweep deletes the records of sessions that were last written before a time, and
// temporary files of that age. It returns the number of deleted files.
func (f Store) Sweep(before time.Time) (int, error) { return f.sessions().Sweep(before) }

// Health returns the archive's health; false if there is none or it is invalid.
func (f Store) Health() (h Health, ok bool) {
	return h, f.memory().ReadJSON("health", &h) == nil && h.Version == healthVersion
}

// WriteHealth replaces the archive's health.
func (f Store) WriteHealth(h Health) error {
	h.Version = healthVersion
	data, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encode health: %w", err)
	}
	return f.memory().Write("health", append(data, '\n'))
}

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
