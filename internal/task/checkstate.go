package task

import "strandline/internal/state"

// CheckState is the state that hooks keep between two checks of a session's segments. It
// is derived: a lost one costs one more check.
type CheckState struct {
	// Checked is the session's number of steps at the last check.
	Checked int `json:"checked_step"`
	// Pending is the number of segments without a summary at the last check.
	Pending int `json:"pending"`
	// Crossed is the usage threshold, in percent, that was exceeded at the last check.
	Crossed int `json:"crossed"`
	// Reminded is the usage threshold, in percent, of the last reminder to the model;
	// 0 once the usage has fallen below all thresholds.
	Reminded int `json:"reminded_at"`
}

// CheckStates stores the check state of each session.
type CheckStates struct {
	Dir string // "<archive>/state/segments"
}

// maxCheckState is the largest file in bytes that is read.
const maxCheckState = 4096

func (s CheckStates) store() state.Store {
	return state.Store{Dir: s.Dir, Ext: ".json", MaxSize: maxCheckState}
}

// Read returns the check state of a session, or the zero value if there is none or it is
// damaged.
func (s CheckStates) Read(session string) (c CheckState) {
	if err := s.store().ReadJSON(session, &c); err != nil || c.Checked < 0 {
		return CheckState{}
	}
	return c
}

// Write replaces the check state of a session.
func (s CheckStates) Write(session string, c CheckState) error {
	return s.store().WriteJSON(session, c)
}

// Reset deletes the check state of a session, so that the next hook checks the session.
func (s CheckStates) Reset(session string) error { return s.store().Delete(session) }
