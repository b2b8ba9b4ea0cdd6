package usage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Store are the files of one archive.
type Store struct {
	Dir string // "<archive>/state"
}

// maxFile is the size in bytes above which a file is none of ours.
const maxFile = 256 << 10

// lockWait is how long a change waits for another; one takes less than a
// millisecond.
const lockWait = 100 * time.Millisecond

// Session reads a session's file; false where there is none to be read.
func (f Store) Session(id string) (Session, bool) {
	path := f.path(id)
	if path == "" {
		return Session{}, false
	}
	data, err := read(path)
	if err != nil {
		return Session{}, false
	}
	var s Session
	if s.parse(data) != nil || !s.sane() || s.SessionID != id {
		return Session{}, false
	}
	return s, true
}

// Update changes a session's file: it reads it, or begins a new one, calls change
// and writes what came out unless change returns false. Two updates never mix. A
// sub-agent's session has no file, and its update does nothing.
func (f Store) Update(ctx context.Context, id string, change func(s *Session) bool) (err error) {
	path := f.path(id)
	if path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := state.WaitLock(ctx, filepath.Join(f.Dir, "gauge.lock"), false)
	if err != nil {
		return fmt.Errorf("change state of session: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	s, ok := f.Session(id)
	if !ok {
		s = Session{SessionID: id}
	}
	if !change(&s) {
		return nil
	}
	s.Version = sessionVersion
	data, err := s.encodeJSON()
	if err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return write(path, data)
}

// Sweep removes the files of sessions that were last written before a time, and
// the temporary files of killed processes. It returns the number of files.
func (f Store) Sweep(before time.Time) (int, error) {
	return state.Store{Dir: f.Dir, Ext: ".json"}.Sweep(before)
}

// path is a session's file, "" for what is no session of its own.
func (f Store) path(id string) string {
	if f.Dir == "" || !archive.ValidID(id) {
		return ""
	}
	return filepath.Join(f.Dir, id+".json")
}

func read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	var data []byte
	if err == nil {
		// A file is never changed in place, so this is all of it.
		data = make([]byte, min(max(info.Size(), 0), maxFile))
		_, err = io.ReadFull(file, data)
	}
	return data, errors.Join(err, file.Close())
}

// write puts a file in place of another in one step. After a power failure it
// may be empty, and then the next event writes it anew.
func write(path string, data []byte) error {
	if err := state.Replace(path, append(data, '\n')); err != nil {
		return fmt.Errorf("write state: %w", err)
	}
	return nil
}
