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
// being summarized, and keeps what its person asked for with it: no later hook is
// told.
func (u Underway) Begin(subject, asked string) error {
	path := u.path(subject)
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(u.Dir, 0o700); err != nil {
		return fmt.Errorf("begin compaction: %w", err)
	}
	if err := os.WriteFile(path, []byte(archive.Clip(asked, maxAsked)), 0o600); err != nil {
		return fmt.Errorf("begin compaction: %w", err)
	}
	return nil
}

// maxAsked is the most that is kept of what a person asked for, in bytes.
const maxAsked = 64 << 10

// End says that the subject is summarized, and returns what its person asked for,
// "" when that was long ago. To end what has not begun is no error.
func (u Underway) End(subject string, now time.Time) (asked string, err error) {
	path := u.path(subject)
	if path == "" {
		return "", nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("end compaction: %w", err)
	}
	data, err := os.ReadFile(path)
	if err := errors.Join(err, os.Remove(path)); err != nil {
		return "", fmt.Errorf("end compaction: %w", err)
	}
	if now.Sub(info.ModTime()) >= underwayFor {
		return "", nil
	}
	return string(data), nil
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
