package task

import "strandline/internal/state"

// Mark is the state that hooks keep between two checks of a session's segments. It
// is derived: a lost mark costs one more check.
type Mark struct {
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

// Marks stores the mark of each session.
type Marks struct {
	Dir string // "<archive>/state/segments"
}

// maxMark is the largest file in bytes that is read.
const maxMark = 4096

func (m Marks) store() state.Store { return state.Store{Dir: m.Dir, Ext: ".json", MaxSize: maxMark} }

// Read returns the mark of a session, or the zero mark if there is none or it is
// damaged.
func (m Marks) Read(session string) (mark Mark) {
	if err := m.store().ReadJSON(session, &mark); err != nil || mark.Checked < 0 {
		return Mark{}
	}
	return mark
}

// Write replaces the mark of a session.
func (m Marks) Write(session string, mark Mark) error { return m.store().WriteJSON(session, mark) }

// Reset deletes the mark of a session, so that the next hook checks the session.
func (m Marks) Reset(session string) error { return m.store().Delete(session) }
