package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
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
