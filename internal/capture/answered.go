package capture

import (
	"time"

	"strandline/internal/state"
)

// OwnCompactions notes the sessions that Strandline compacted itself. The client calls
// its SessionStart hook right afterwards, before the transcript has the boundary;
// what that hook would restore is already in the context.
type OwnCompactions struct {
	Dir string // "state/compacted"; empty: nothing is noted
}

// answeredFor is the lifetime of a note. The hook follows within a second; an
// older note belongs to an answer that the client did not use.
const answeredFor = time.Minute

func (a OwnCompactions) store() state.Store { return state.Store{Dir: a.Dir, MaxAge: answeredFor} }

// Note records that the session was just compacted. It ignores invalid session
// IDs.
func (a OwnCompactions) Note(session string) error {
	if !state.ValidKey(session) {
		return nil
	}
	return a.store().Write(session, nil)
}

// Take reports whether the session was compacted within the last minute, and
// deletes the note.
func (a OwnCompactions) Take(session string, now time.Time) bool {
	_, ok, err := a.store().Take(session, now)
	return ok && err == nil
}
