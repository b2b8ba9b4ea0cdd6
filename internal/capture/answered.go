package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Answered notes that Strandline compacted a session itself. The client calls
// its SessionStart hook right afterwards, when the transcript does not hold the
// boundary yet; what that hook would restore is in the context already.
type Answered struct {
	Dir string // "state/compacted"; empty: nothing is noted
}

// answeredFor is how long a note counts. The hook follows within a second; a note
// that outlives it belongs to an answer that the client did not take.
const answeredFor = time.Minute

// path is the note's file, "" for what is no session.
func (a Answered) path(session string) string {
	name := strings.Replace(session, "~", ".", 1) // a sub-agent's
	if a.Dir == "" || !archive.ValidID(name) {
		return ""
	}
	return filepath.Join(a.Dir, name)
}

// Note says that the session was just compacted.
func (a Answered) Note(session string) error {
	path := a.path(session)
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return fmt.Errorf("note compaction: %w", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return fmt.Errorf("note compaction: %w", err)
	}
	return nil
}

// Take reports whether the session was compacted a moment ago, and forgets it.
func (a Answered) Take(session string, now time.Time) bool {
	path := a.path(session)
	if path == "" {
		return false
	}
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if err := os.Remove(path); err != nil {
		return false
	}
	return now.Sub(info.ModTime()) < answeredFor
}
