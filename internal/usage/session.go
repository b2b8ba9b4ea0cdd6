package usage

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
	// ClientWindow is the window as the client last told the statusline, 0 when it did not.
	ClientWindow int64 `json:"told,omitempty"`
	// ClientModel is the model that Told belongs to.
	ClientModel string `json:"toldModel,omitempty"`
	// MaxTokens is the most tokens that ever stood in the window at once.
	MaxTokens int64 `json:"seen,omitempty"`
	// Threshold is where the client compacts by itself, 0 where it does not watch;
	// Hard is where it stops sending. Both in tokens.
	Threshold int64 `json:"threshold,omitempty"`
	Hard      int64 `json:"hard,omitempty"`
	// Limit is where something happens to a session that grows: a compaction if
	// Compacts, else the client stops sending.
	Limit    int64 `json:"next,omitempty"`
	Compacts bool  `json:"compacts,omitempty"`
	// Growth is how many tokens a turn adds, 0 while too little is known.
	Growth int64 `json:"growth,omitempty"`
	// Zone is "ok", "warning" or "optimize".
	Zone string `json:"zone,omitempty"`
	// ReportedZone and ReportedStep are what was last reported: the zone, and how
	// many steps of five percent above its beginning.
	ReportedZone string `json:"reportedZone,omitempty"`
	ReportedStep int    `json:"reportedStep,omitempty"`

	// Output is how many tokens the last response added, which stand in the window
	// from the next request on.
	Output int64 `json:"output,omitempty"`
	// Line is the transcript line of the response that counted last, CutLine that of
	// the last compaction, both of the log's Generation; Counted says that a response
	// counted since the cut.
	Line           int  `json:"line,omitempty"`
	CompactionLine int  `json:"cutLine,omitempty"`
	Generation     int  `json:"generation,omitempty"`
	Counted        bool `json:"counted,omitempty"`
	// Base and Chars are what an estimate is made of: the tokens that the client
	// says a cut left, and the characters since, up to the byte CharsTo.
	Base    int64 `json:"base,omitempty"`
	Chars   int64 `json:"chars,omitempty"`
	CharsTo int64 `json:"charsTo,omitempty"`

	// Captured is how many bytes of the transcript are in the log.
	Captured int64 `json:"captured,omitempty"`
	// CaptureFailed says that the last capture or its indexing did not succeed.
	CaptureFailed bool `json:"doubt,omitempty"`

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

// Reset empties the window, at a compaction: nothing has been counted in it, warned
// of or reported since.
func (s *Session) Reset() {
	s.LastTokenEstimate, s.LastPercentage, s.Output, s.Growth = 0, 0, 0, 0
	s.PruneCount, s.WarningIssued, s.ReportedZone, s.ReportedStep = 0, false, "", 0
	s.History, s.Counted, s.Estimated, s.Base, s.Chars = nil, false, true, 0, 0
}

// sane reports whether the figures can be believed.
func (s *Session) sane() bool {
	return s.Version == sessionVersion && s.LastTokenEstimate >= 0 && s.LastPercentage >= 0 &&
		s.Window >= 0 && s.ClientWindow >= 0 && s.Chars >= 0 && s.PruneCount >= 0 && s.Captured >= 0 && len(s.History) <= maxHistory
}
