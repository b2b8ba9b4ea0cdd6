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
	"strandline/internal/state"
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
	if err := state.Replace(filepath.Join(p.Dir, w.Session), data); err != nil {
		return fmt.Errorf("note pending session: %w", err)
	}
	return nil
}

// Any reports whether a session is noted or being worked on.
func (p Pending) Any() bool {
	noted, err := names(p.Dir)
	if err != nil || len(noted) > 0 {
		return err == nil
	}
	taken, err := names(p.taken(""))
	return err == nil && len(taken) > 0
}

// List returns what is noted and takes nothing.
func (p Pending) List() ([]PendingWork, error) {
	noted, err := names(p.Dir)
	if err != nil {
		return nil, err
	}
	var out []PendingWork
	for _, name := range noted {
		if w, ok := note(filepath.Join(p.Dir, name), name); ok {
			out = append(out, w)
		}
	}
	return out, nil
}

// Take moves all notes aside and returns them, with those that an earlier taker
// was killed over; the caller calls Done for each. A note that is added meanwhile
// is there for the next Take.
func (p Pending) Take() ([]PendingWork, error) {
	noted, err := names(p.Dir)
	if err != nil {
		return nil, err
	}
	if len(noted) > 0 {
		if err := os.MkdirAll(p.taken(""), 0o700); err != nil {
			return nil, fmt.Errorf("take pending sessions: %w", err)
		}
	}
	for _, name := range noted {
		if err := os.Rename(filepath.Join(p.Dir, name), p.taken(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("take pending sessions: %w", err)
		}
	}
	taken, err := names(p.taken(""))
	if err != nil {
		return nil, err
	}
	var out []PendingWork
	for _, name := range taken {
		w, ok := note(p.taken(name), name)
		if !ok {
			w = PendingWork{Session: name} // nothing can be done about it: for Done
		}
		out = append(out, w)
	}
	return out, nil
}

// Done removes the note of a session that was taken.
func (p Pending) Done(w PendingWork) error {
	if err := state.Remove(p.taken(w.Session)); err != nil {
		return fmt.Errorf("remove note of session %s: %w", w.Session, err)
	}
	return nil
}

// taken is where notes are while they are worked on.
func (p Pending) taken(name string) string { return filepath.Join(p.Dir, "taken", name) }

// note reads one note; a damaged one is none.
func note(path, session string) (PendingWork, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return PendingWork{}, false
	}
	var w PendingWork
	return w, json.Unmarshal(data, &w) == nil && w.Session == session
}

// names lists the notes in a folder.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
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
