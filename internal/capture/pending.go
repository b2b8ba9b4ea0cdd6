package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// Pending stores the sessions that a hook deferred because of its deadline, one small
// file each. Any later process can take them.
type Pending struct{ Dir string }

// PendingWork names a session to capture again, without a deadline.
type PendingWork struct {
	Client     string `json:"client,omitempty"` // as in Source
	Session    string `json:"session"`
	Transcript string `json:"transcript"`
	Cwd        string `json:"cwd,omitempty"`
}

func (p Pending) store() state.Store { return state.Store{Dir: p.Dir} }

// taken holds the sessions that a process is working on.
func (p Pending) taken() state.Store { return state.Store{Dir: filepath.Join(p.Dir, "taken")} }

// Add adds a session, once.
func (p Pending) Add(w PendingWork) error { return p.store().WriteJSON(w.Session, w) }

// Any reports whether a session is deferred or being worked on.
func (p Pending) Any() bool { return p.Others("") }

// Others reports whether a session except for the given one is deferred or being worked
// on.
func (p Pending) Others(session string) bool {
	for _, s := range []state.Store{p.store(), p.taken()} {
		names, err := s.Names(time.Time{})
		if err != nil {
			return false
		}
		if slices.ContainsFunc(names, func(n string) bool { return n != session }) {
			return true
		}
	}
	return false
}

// List returns the deferred sessions without taking them.
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

// Take returns all deferred sessions, including those taken by a process that was
// killed. The caller calls Done for each. A session added meanwhile is left for the
// next Take.
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
		if !ok && !p.taken().Has(name) {
			continue // another process has done it
		}
		if !ok {
			w = PendingWork{Session: name} // damaged: returned for Done only
		}
		out = append(out, w)
	}
	return out, err
}

// Done removes a taken session.
func (p Pending) Done(w PendingWork) error { return p.taken().Delete(w.Session) }

// readWork reads one session's file. It returns false if it is damaged.
func readWork(s state.Store, session string) (w PendingWork, ok bool) {
	err := s.ReadJSON(session, &w)
	return w, err == nil && w.Session == session
}

// PendingCompactions stores the sessions and sub-agents that the client is about to
// summarize. When its summarizer ends, the payload has the main session's ID and a
// new agent ID; it does not say which sub-agent the summary belongs to.
// Dir is "state/compacting"; if it is empty, nothing is stored. Lifetime is that of an
// entry, 0 for five minutes.
type PendingCompactions struct {
	Dir      string
	Lifetime time.Duration
}

// pendingLifetime is the lifetime of a pending compaction. A summary takes up to 90
// seconds; an older one was cancelled.
const pendingLifetime = 5 * time.Minute

// maxInstructions is the maximum length of the stored instructions in bytes.
const maxInstructions = 64 << 10

func (u PendingCompactions) store() state.Store {
	return state.Store{Dir: u.Dir, MaxAge: cmp.Or(u.Lifetime, pendingLifetime)}
}

// Begin records that the subject, a session or a sub-agent's "<session>~<agent>", is
// being summarized, with the user's instructions, which no later hook receives. It
// ignores invalid IDs.
func (u PendingCompactions) Begin(subject, instructions string) error {
	if !state.ValidKey(subject) {
		return nil
	}
	return u.store().Write(subject, []byte(archive.Clip(instructions, maxInstructions)))
}

// End removes the subject and returns the user's instructions, or "" if the subject is
// not stored or has expired.
func (u PendingCompactions) End(subject string, now time.Time) (instructions string, err error) {
	data, _, err := u.store().Take(subject, now)
	return string(data), err
}

// Has reports whether the subject is stored.
func (u PendingCompactions) Has(subject string, now time.Time) bool {
	names, err := u.store().Names(now)
	return err == nil && slices.Contains(names, subject)
}

// Subject returns the subject of a summary that arrived under a session's ID: the
// session, or its one sub-agent that is being summarized. It returns "" if several
// are.
func (u PendingCompactions) Subject(session string, now time.Time) string {
	names, err := u.store().Names(now)
	if err != nil || !state.ValidKey(session) {
		return session
	}
	subject, found := session, 0
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, session)
		if !ok || rest != "" && rest[0] != '.' {
			continue
		}
		found++
		subject = session + strings.Replace(rest, ".", "~", 1)
	}
	if found > 1 {
		return ""
	}
	return subject
}

// OwnCompactions stores the sessions that Strandline just compacted. The client calls
// its SessionStart hook directly afterwards, before the transcript has the boundary;
// the hook must not restore context again.
// Dir is "state/compacted"; if it is empty, nothing is stored.
type OwnCompactions struct{ Dir string }

// ownLifetime is the lifetime of an entry. The hook follows within a second; an older
// entry belongs to a compaction that the client did not use.
const ownLifetime = time.Minute

func (a OwnCompactions) store() state.Store { return state.Store{Dir: a.Dir, MaxAge: ownLifetime} }

// Note records that the session was just compacted. It ignores invalid session
// IDs.
func (a OwnCompactions) Note(session string) error {
	if !state.ValidKey(session) {
		return nil
	}
	return a.store().Write(session, nil)
}

// Take reports whether the session was compacted within the last minute, and removes
// it.
func (a OwnCompactions) Take(session string, now time.Time) bool {
	_, ok, err := a.store().Take(session, now)
	return ok && err == nil
}
