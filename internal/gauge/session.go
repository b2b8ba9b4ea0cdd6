package gauge

// maxHistory is how many points a session's history keeps, the newest ones.
const maxHistory = 50

// sessionVersion numbers the format of a session's file.
//
//	1: the figures of the autopilot, what was captured, the window as told
const sessionVersion = 1

// Session is what is known of a session's context window. Names and units of the
// first fields are those of the older tools whose scripts read such a file.
type Session struct {
	SessionID string `json:"sessionId"`
	// LastTokenEstimate is how many tokens stand in the window. It is exact unless
	// Estimated says otherwise; 0 until something is known.
	LastTokenEstimate int64 `json:"lastTokenEstimate"`
	// LastPercentage is the part of the window that they take: 0.43.
	LastPercentage float64 `json:"lastPercentage"`
	// PruneCount is how often the session entered the zone in which the window
	// should be used sparingly.
	PruneCount int `json:"pruneCount"`
	// WarningIssued says that a report was given since the window was last empty.
	WarningIssued bool `json:"warningIssued"`
	// LastCheck is when the figures were last looked at, in milliseconds since 1970.
	LastCheck int64 `json:"lastCheck"`
	// History holds the last 50 points since the window was last cut, oldest first.
	History []Point `json:"history"`

	// Estimated says that the tokens were estimated from characters, since no
	// response has counted them yet.
	Estimated bool `json:"estimated,omitempty"`
	// Model is the model of the last response.
	Model string `json:"model,omitempty"`
	// Window is the size of the context window in tokens, 0 while it is not known.
	Window int64 `json:"window,omitempty"`
	// WindowFrom says who told: "client", "model", "config" or "observed".
	WindowFrom string `json:"windowFrom,omitempty"`
	// Told is the window as the client last told the statusline, 0 when it did not.
	Told int64 `json:"told,omitempty"`
	// ToldModel is the model that Told belongs to.
	ToldModel string `json:"toldModel,omitempty"`
	// Seen is the most tokens that ever stood in the window at once.
	Seen int64 `json:"seen,omitempty"`
	// Threshold is where the client compacts by itself, 0 where it does not watch;
	// Hard is where it stops sending. Both in tokens.
	Threshold int64 `json:"threshold,omitempty"`
	Hard      int64 `json:"hard,omitempty"`
	// Growth is how many tokens a turn adds, 0 while too little is known.
	Growth int64 `json:"growth,omitempty"`
	// Zone is "ok", "warning" or "optimize".
	Zone string `json:"zone,omitempty"`
	// ReportedZone and ReportedStep are what was last reported: the zone, and how
	// many steps of five percent above its beginning.
	ReportedZone string `json:"reportedZone,omitempty"`
	ReportedStep int    `json:"reportedStep,omitempty"`

	// Captured is how many bytes of the transcript are in the log.
	Captured int64 `json:"captured,omitempty"`
	// Doubt says that the last capture or its indexing did not succeed.
	Doubt bool `json:"doubt,omitempty"`

	Version int `json:"version"`
}

// Point is the state of a window after a response.
type Point struct {
	TS     int64   `json:"ts"` // milliseconds since 1970
	Tokens int64   `json:"tokens"`
	Pct    float64 `json:"pct"`   // part of the window, as LastPercentage
	Turns  int     `json:"turns"` // index of the turn, from 0
}

// Append adds a point and forgets the oldest above 50. A point of the same turn
// takes the older one's place: growth is counted by the turn.
func (s *Session) Append(p Point) {
	if n := len(s.History); n > 0 && s.History[n-1].Turns == p.Turns {
		s.History[n-1] = p
		return
	}
	s.History = append(s.History, p)
	if over := len(s.History) - maxHistory; over > 0 {
		s.History = append([]Point(nil), s.History[over:]...)
	}
}

// sane reports whether the figures can be believed.
func (s *Session) sane() bool {
	return s.Version == sessionVersion && s.LastTokenEstimate >= 0 && s.LastPercentage >= 0 &&
		s.Window >= 0 && s.PruneCount >= 0 && s.Captured >= 0 && len(s.History) <= maxHistory
}
