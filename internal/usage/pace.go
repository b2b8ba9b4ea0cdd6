package usage

import (
	"time"

	"strandline/internal/state"
)

// Limits of automatic compactions of one session: more than paceLimit within paceWindow
// are a loop, in which each compaction refills the context that the next one compacts.
const (
	paceLimit  = 3
	paceWindow = 10 * time.Minute
)

// AsideNotice informs the user and the model that Strandline stepped aside.
const AsideNotice = "Strandline: this conversation was compacted automatically more than 3 times in 10 minutes, so the client compacts it alone and nothing is restored " +
	"until that stops. Everything is archived: `strandline search` finds it."

// Pace counts automatic compactions. When they follow each other too fast, Strandline
// steps aside: the client compacts itself and nothing is restored, until fewer than
// paceLimit happened within paceWindow. Dir holds one file per session ("state/pace");
// if it is empty, nothing is counted.
type Pace struct{ Dir string }

// pace is the state of one session.
type pace struct {
	Times []time.Time `json:"times"` // of the last compactions, oldest first
	Aside bool        `json:"aside"` // the last one was left to the client
	Told  bool        `json:"told"`  // a response said so
}

func (p Pace) store() state.Store { return state.Store{Dir: p.Dir, Ext: ".json", MaxAge: paceWindow} }

// Begin counts a compaction that is about to happen and reports whether it is left to
// the client. One that the user asked for is not, and does not count.
func (p Pace) Begin(session, trigger string, now time.Time) (aside bool, err error) {
	if p.store().Path(session) == "" {
		return false, nil
	}
	var s pace
	if p.store().ReadJSON(session, &s) != nil {
		s = pace{} // missing or damaged
	}
	if trigger == "manual" {
		if !s.Aside {
			return false, nil
		}
		s.Aside = false
		return false, p.store().WriteJSON(session, s)
	}
	for len(s.Times) > 0 && now.Sub(s.Times[0]) >= paceWindow {
		s.Times = s.Times[1:]
	}
	s.Aside = len(s.Times) >= paceLimit
	s.Told = s.Told && s.Aside
	s.Times = append(s.Times, now)
	if excess := len(s.Times) - paceLimit - 1; excess > 0 {
		s.Times = s.Times[excess:]
	}
	return s.Aside, p.store().WriteJSON(session, s)
}

// Aside reports whether the session's last compaction was left to the client. first is
// true in the first report until the pace is normal again.
func (p Pace) Aside(session string, now time.Time) (aside, first bool, err error) {
	var s pace
	known := p.store().Path(session) != "" && p.store().ReadJSON(session, &s) == nil
	if !known || !s.Aside || now.Sub(s.Times[len(s.Times)-1]) >= paceWindow {
		return false, false, nil
	}
	if s.Told {
		return true, false, nil
	}
	s.Told = true
	return true, true, p.store().WriteJSON(session, s)
}
