package capture

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
)

// Pending is the list of sessions that a hook could not finish before its
// deadline: one small file each, so that any later process can take them up.
type Pending struct {
	Dir string
}

// PendingWork names a session to capture again, without a deadline.
type PendingWork struct {
	Session    string `json:"session"`
	Transcript string `json:"transcript"`
	Cwd        string `json:"cwd,omitempty"`
}

// Add notes a session; noting it twice is noting it once.
func (p Pending) Add(w PendingWork) error {
	if !archive.ValidID(w.Session) {
		return archive.Invalid(fmt.Sprintf("%q is no session id", archive.Clip(w.Session, 60)), "")
	}
	data, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("note pending session: %w", err)
	}
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return fmt.Errorf("note pending session: %w", err)
	}
	// Renamed into place: a reader never sees half a note.
	tmp, err := os.CreateTemp(p.Dir, ".note-*")
	if err != nil {
		return fmt.Errorf("note pending session: %w", err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(p.Dir, w.Session))
	}
	if err != nil {
		return fmt.Errorf("note pending session: %w", errors.Join(err, os.Remove(tmp.Name())))
	}
	return nil
}

// Any reports whether a session is noted.
func (p Pending) Any() bool {
	work, err := p.names()
	return err == nil && len(work) > 0
}

func (p Pending) names() ([]string, error) {
	entries, err := os.ReadDir(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list pending sessions: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// Take removes all notes and returns them. A note that is added while its
// session is worked on is there again for the next Take.
func (p Pending) Take() ([]PendingWork, error) {
	names, err := p.names()
	if err != nil {
		return nil, err
	}
	var out []PendingWork
	for _, name := range names {
		path := filepath.Join(p.Dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			continue // taken by another process
		}
		if err := os.Remove(path); err != nil {
			continue
		}
		var w PendingWork
		if json.Unmarshal(data, &w) == nil && w.Session == name {
			out = append(out, w)
		}
	}
	return out, nil
}
