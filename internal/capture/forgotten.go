package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Forgotten are the sessions that were deleted for good, one small file each, so
// that a hook asks by one look at a name. The journal holds the same facts; a lost
// file is made anew from it.
type Forgotten struct {
	Dir string // "<archive>/forgotten"
}

// The contents of a file of Forgotten.
const (
	forgetBegun = "begun\n"
	forgetDone  = "done\n"
)

// Has reports that a session, or the parent of a sub-agent's session or of an older
// generation, was forgotten.
func (f Forgotten) Has(session string) bool {
	path := f.path(session)
	if path == "" {
		return false
	}
	_, err := os.Lstat(path)
	return err == nil
}

// Begin notes that a session is being forgotten. From now on nothing captures it.
func (f Forgotten) Begin(session string) error { return f.write(session, forgetBegun) }

// Done notes that nothing of a session is left.
func (f Forgotten) Done(session string) error { return f.write(session, forgetDone) }

// List returns what was forgotten; open says that it is not done yet.
func (f Forgotten) List() (sessions map[string]bool, err error) {
	entries, err := os.ReadDir(f.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list what was forgotten: %w", err)
	}
	sessions = map[string]bool{}
	for _, e := range entries {
		if !archive.ValidID(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(f.Dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("list what was forgotten: %w", err)
		}
		sessions[e.Name()] = string(data) != forgetDone
	}
	return sessions, nil
}

// path is the file of a session, "" for what no session is called.
func (f Forgotten) path(session string) string {
	session = archive.Owner(session)
	if f.Dir == "" || !archive.ValidID(session) {
		return ""
	}
	return filepath.Join(f.Dir, session)
}

func (f Forgotten) write(session, text string) error {
	path := f.path(session)
	if path == "" {
		return archive.Invalid(fmt.Sprintf("%q is no session id", archive.Clip(session, 60)), "")
	}
	err := os.MkdirAll(f.Dir, 0o700)
	if err == nil {
		// A torn file is one that is not done, which is where it was.
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		return fmt.Errorf("note a forgotten session: %w", err)
	}
	return nil
}

// Forgotten are the sessions that this archive must not take in again.
func (c *Capture) Forgotten() Forgotten {
	return Forgotten{Dir: filepath.Join(c.Layout.Root, "forgotten")}
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
