package capture

import (
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/state"
)

// PendingCompactions notes the sessions and sub-agents that the client is about to
// summarize. When its summarizer ends, the payload has the main session's ID and a
// new agent ID; it does not say which sub-agent the summary belongs to.
type PendingCompactions struct {
	Dir string // "state/compacting"; empty: nothing is noted
}

// underwayFor is the lifetime of a note. A summary takes up to 90 seconds; an
// older note belongs to a compaction that was cancelled.
const underwayFor = 5 * time.Minute

// maxAsked is the most bytes stored of the user's instructions.
const maxAsked = 64 << 10

func (u PendingCompactions) store() state.Store { return state.Store{Dir: u.Dir, MaxAge: underwayFor} }

// Begin notes that the subject, a session or a sub-agent's "<session>~<agent>", is
// being summarized, and stores the user's instructions, which no later hook
// receives. It ignores invalid IDs.
func (u PendingCompactions) Begin(subject, asked string) error {
	if !state.ValidKey(subject) {
		return nil
	}
	return u.store().Write(subject, []byte(archive.Clip(asked, maxAsked)))
}

// End deletes the subject's note and returns the user's instructions, or "" if
// there is no note or it has expired.
func (u PendingCompactions) End(subject string, now time.Time) (asked string, err error) {
	data, _, err := u.store().Take(subject, now)
	return string(data), err
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
