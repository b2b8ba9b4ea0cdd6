package capture

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"strandline/internal/state"
)

// HookCalls stores when a session's hooks were called, so that a guard leaves the capture
// to them. Dir is "state/hooked"; if it is empty, nothing is stored.
type HookCalls struct{ Dir string }

const (
	// callResolution is the age at which a stored call is written again.
	callResolution = time.Minute
	// callLifetime is how long a call shows that the session has hooks. A tool can run for
	// long before the next.
	callLifetime = time.Hour
)

// Note stores a call. It ignores invalid session IDs.
func (c HookCalls) Note(session string, now time.Time) error {
	if !state.ValidKey(session) || c.age(session, now) < callResolution {
		return nil
	}
	return state.Store{Dir: c.Dir}.Write(session, nil)
}

// Recent reports whether a hook of the session was called within the last hour.
func (c HookCalls) Recent(session string, now time.Time) bool {
	return c.age(session, now) < callLifetime
}

func (c HookCalls) age(session string, now time.Time) time.Duration {
	info, err := os.Stat(state.Store{Dir: c.Dir}.Path(session))
	if err != nil {
		return callLifetime
	}
	return now.Sub(info.ModTime())
}

// WorkOf returns the session that a file of the client belongs to. side reports that it is
// not the transcript but a file in the session's folder; ok is false for any other file.
func WorkOf(path string) (w PendingWork, side, ok bool) {
	dir := filepath.Dir(path)
	if folder := filepath.Base(dir); folder == agentFolder || folder == sideFolder {
		side, path = true, filepath.Dir(dir)+TranscriptExt
	}
	name := strings.TrimSuffix(filepath.Base(path), TranscriptExt)
	if _, err := TranscriptSource(path, name, ""); err != nil {
		return w, false, false
	}
	return PendingWork{Session: name, Transcript: path}, side, true
}
