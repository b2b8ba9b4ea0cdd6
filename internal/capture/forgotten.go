package capture

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// ForgottenSessions stores the sessions that were deleted for good, one small file each,
// so that a hook needs one file lookup. A lost file is rebuilt from the journal.
type ForgottenSessions struct {
	Dir string // "<archive>/forgotten"
}

func (f ForgottenSessions) store() state.Store { return state.Store{Dir: f.Dir} }

// The contents of a file of Forgotten.
const (
	forgetBegun = "begun\n"
	forgetDone  = "done\n"
)

// Has reports whether a session, or the parent of a sub-agent's session or of an
// older generation, was forgotten.
func (f ForgottenSessions) Has(session string) bool { return f.store().Has(archive.Owner(session)) }

// Begin notes that a session is being forgotten. From now on nothing captures it.
func (f ForgottenSessions) Begin(session string) error { return f.write(session, forgetBegun) }

// Done notes that nothing of a session is left.
func (f ForgottenSessions) Done(session string) error { return f.write(session, forgetDone) }

// List returns the forgotten sessions. The value is true while the deletion is
// unfinished.
func (f ForgottenSessions) List() (sessions map[string]bool, err error) {
	names, err := f.store().Names(time.Time{})
	sessions = map[string]bool{}
	for _, name := range names {
		data, err := f.store().Read(name)
		if err != nil {
			return nil, fmt.Errorf("list forgotten sessions: %w", err)
		}
		sessions[name] = string(data) != forgetDone
	}
	return sessions, err
}

func (f ForgottenSessions) write(session, text string) error {
	return f.store().Write(archive.Owner(session), []byte(text))
}

// Forgotten are the sessions that this archive must not take in again.
func (c *Capture) Forgotten() ForgottenSessions {
	return ForgottenSessions{Dir: filepath.Join(c.Layout.Root, "forgotten")}
}

// SessionOf returns the client's session that a log belongs to: for a sub-agent's
// log its parent, which is in the header where an older client kept the run beside
// the transcripts.
func (c *Capture) SessionOf(e sessionlog.Entry) string {
	if e.Client != c.Client.Name || e.Rel != "" || !strings.HasPrefix(e.Session, agentPrefix) {
		return e.Session
	}
	r, err := sessionlog.OpenReader(e.Path)
	if err != nil {
		return e.Session // nothing says whose it is
	}
	h := r.Header()
	if r.Close() != nil || h.Agent == "" {
		return e.Session
	}
	return h.Session
}
