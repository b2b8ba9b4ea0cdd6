package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/archive"
)

// Underway notes whose context the client is about to summarize. The end of its
// summarizer comes under the main session's id, and names an agent of its own:
// which of the session's sub-agents the summary is of stands in no payload.
type Underway struct {
	Dir string // "state/compacting"; empty: nothing is noted
}

// underwayFor is how long a note counts: a summary takes up to a minute and a
// half, and a compaction that was given up leaves its note behind.
const underwayFor = 5 * time.Minute

// path is the note's file, "" for what is no session.
func (u Underway) path(subject string) string { return Answered(u).path(subject) }

// Begin says that the subject, a session or a sub-agent's "<session>~<agent>", is
// being summarized.
func (u Underway) Begin(subject string) error {
	if err := Answered(u).Note(subject); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

// End says that the subject is summarized. To end what has not begun is no error.
func (u Underway) End(subject string) error {
	path := u.path(subject)
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end compaction: %w", err)
	}
	return nil
}

// Of returns whose summary has come under a session's id: the session's own, or
// that of its one sub-agent that is being summarized. It is "" when several are,
// for then nothing tells.
func (u Underway) Of(session string, now time.Time) string {
	if u.path(session) == "" {
		return session
	}
	entries, err := os.ReadDir(u.Dir)
	if err != nil {
		return session
	}
	subject, found := session, 0
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), session)
		if !ours || rest != "" && (rest[0] != '.' || !archive.ValidID(rest[1:])) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if now.Sub(info.ModTime()) >= underwayFor {
			_ = os.Remove(filepath.Join(u.Dir, e.Name())) // the next look tries again
			continue
		}
		found++
		subject = strings.Replace(session+rest, ".", "~", 1)
	}
	if found > 1 {
		return ""
	}
	return subject
}
