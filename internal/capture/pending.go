package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"strandline/internal/state"
)

// Pending lists the sessions that a hook could not finish before its deadline: one
// small file each. Any later process can take them.
type Pending struct {
	Dir string
}

// PendingWork names a session to capture again, without a deadline.
type PendingWork struct {
	Session    string `json:"session"`
	Transcript string `json:"transcript"`
	Cwd        string `json:"cwd,omitempty"`
}

func (p Pending) store() state.Store { return state.Store{Dir: p.Dir} }

// taken holds the notes that are being worked on.
func (p Pending) taken() state.Store { return state.Store{Dir: filepath.Join(p.Dir, "taken")} }

// Add notes a session, once.
func (p Pending) Add(w PendingWork) error { return p.store().WriteJSON(w.Session, w) }

// Any reports whether a session is noted or being worked on.
func (p Pending) Any() bool {
	for _, s := range []state.Store{p.store(), p.taken()} {
		if names, err := s.Names(time.Time{}); err != nil || len(names) > 0 {
			return err == nil
		}
	}
	return false
}

// List returns the noted sessions without taking them.
func (p Pending) List() ([]PendingWork, error) {
	names, err := p.store().Names(time.Time{})
	var out []PendingWork
	for _, name := range names {
		if w, ok := readWork(p.store(), name); ok {
			out = append(out, w)
		}
	}
	return out, err
}

// Take returns all notes, including those of a process that was killed over them,
// and moves them aside; the caller calls Done for each. A note that is added
// meanwhile is left for the next Take.
func (p Pending) Take() ([]PendingWork, error) {
	noted, err := p.store().Names(time.Time{})
	if err == nil && len(noted) > 0 {
		err = os.MkdirAll(p.taken().Dir, 0o700)
	}
	for _, name := range noted {
		if err == nil {
			err = os.Rename(p.store().Path(name), p.taken().Path(name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // another process took it
		}
	}
	if err != nil {
		return nil, fmt.Errorf("take pending sessions: %w", err)
	}
	taken, err := p.taken().Names(time.Time{})
	var out []PendingWork
	for _, name := range taken {
		w, ok := readWork(p.taken(), name)
		if !ok {
			w = PendingWork{Session: name} // damaged: returned for Done only
		}
		out = append(out, w)
	}
	return out, err
}

// Done removes the note of a session that was taken.
func (p Pending) Done(w PendingWork) error { return p.taken().Delete(w.Session) }

// readWork reads one note. It returns false for a damaged one.
func readWork(s state.Store, session string) (w PendingWork, ok bool) {
	err := s.ReadJSON(session, &w)
	return w, err == nil && w.Session == session
}
