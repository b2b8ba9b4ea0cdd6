// Package usage measures how full a session's context window is, how fast it
// fills, and when the client will compact it.
//
// The tokens in the window are the input, cache_read and cache_creation tokens of
// the main conversation's last response, as the client counts them. Until a
// response reports usage they are estimated at one token per 3.5 characters. The
// window's size is, in this order, what the client reported to the statusline, the
// model's, the configured one, or the smallest that holds the tokens seen so far.
//
// Hooks keep one small JSON file per session, so that the statusline and the next
// prompt need no index. The files are derived: a missing, damaged or newer file
// counts as missing, and the next event rebuilds it.
package usage

import "slices"

// maxHistory is the most points that a session's history keeps.
const maxHistory = 50

// sessionVersion numbers the format of a session's file.
//
//	1: usage, forecast, captured bytes, window as reported by the client
const sessionVersion = 1

// Session is the usage record of a session. The fields up to History have the
// names and units of older tools whose scripts read such a file.
type Session struct {
	SessionID string `json:"sessionId"`
	// LastTokenEstimate is the number of tokens in the window, 0 if unknown. It is
	// exact unless Estimated is set.
	LastTokenEstimate int64 `json:"lastTokenEstimate"`
	// LastPercentage is the used share of the window: 0.43.
	LastPercentage float64 `json:"lastPercentage"`
	// PruneCount counts the reports of the optimize zone.
	PruneCount int `json:"pruneCount"`
	// WarningIssued is set by a report and cleared by a compaction.
	WarningIssued bool `json:"warningIssued"`
	// LastCheck is the time of the last update, in milliseconds since 1970.
	LastCheck int64 `json:"lastCheck"`
	// History holds the last 50 points since the last compaction, oldest first.
	History []Point `json:"history"`

	// Estimated is set if the tokens were estimated from characters.
	Estimated bool `json:"estimated,omitempty"`
	// Model is the model of the last response.
	Model string `json:"model,omitempty"`
	// Window is the size of the context window in tokens, 0 if unknown.
	Window int64 `json:"window,omitempty"`
	// WindowFrom is the source of Window: "client", "model", "config" or "observed".
	WindowFrom string `json:"windowFrom,omitempty"`
	// ClientWindow is the window that the client last reported to the statusline for
	// ClientModel; 0 if it did not.
	ClientWindow int64 `json:"told,omitempty"`
	// ClientLimit is the number of tokens at which the client compacts, if its transcript
	// names the window.
	ClientLimit int64  `json:"toldLimit,omitempty"`
	ClientModel string `json:"toldModel,omitempty"`
	// MaxTokens is the largest number of tokens ever in the window.
	MaxTokens int64 `json:"seen,omitempty"`
	// Threshold is the number of tokens at which the client compacts, 0 if it does not
	// watch the usage. Hard is the number at which it stops sending.
	Threshold int64 `json:"threshold,omitempty"`
	Hard      int64 `json:"hard,omitempty"`
	// Limit is the number of tokens at which the client acts next: it compacts if
	// Compacts is set, else it stops sending.
	Limit    int64 `json:"next,omitempty"`
	Compacts bool  `json:"compacts,omitempty"`
	// Growth is the number of tokens that a turn adds, 0 if unknown.
	Growth int64 `json:"growth,omitempty"`
	// Zone is "ok", "warning" or "optimize".
	Zone string `json:"zone,omitempty"`
	// ReportedZone and ReportedStep describe the last report: the zone, and the
	// number of five percent steps above the warning.
	ReportedZone string `json:"reportedZone,omitempty"`
	ReportedStep int    `json:"reportedStep,omitempty"`

	// Output is the number of tokens of the last response, which are in the window
	// from the next request on.
	Output int64 `json:"output,omitempty"`
	// Line is the transcript line of the last counted response and CompactionLine
	// that of the last compaction, both in the log's Generation. Counted is set if a
	// response was counted since then.
	Line           int  `json:"line,omitempty"`
	CompactionLine int  `json:"cutLine,omitempty"`
	Generation     int  `json:"generation,omitempty"`
	Counted        bool `json:"counted,omitempty"`
	// Base and Chars are the terms of an estimate: the tokens that the last compaction
	// left, and the characters since, up to the byte CharsTo.
	Base    int64 `json:"base,omitempty"`
	Chars   int64 `json:"chars,omitempty"`
	CharsTo int64 `json:"charsTo,omitempty"`

	// Captured is the number of transcript bytes in the log.
	Captured int64 `json:"captured,omitempty"`
	// CaptureFailed is set if the last capture or its indexing failed.
	CaptureFailed bool `json:"doubt,omitempty"`

	Version int `json:"version"`
}

// Point is the usage after a response.
type Point struct {
	TS     int64   `json:"ts"` // milliseconds since 1970
	Tokens int64   `json:"tokens"`
	Pct    float64 `json:"pct"`   // share of the window, as LastPercentage
	Turns  int     `json:"turns"` // index of the turn, from 0
}

// Append adds a point to the history. It replaces the last point if that is of the
// same turn, and drops the oldest above 50.
func (s *Session) Append(p Point) {
	if n := len(s.History); n > 0 && s.History[n-1].Turns == p.Turns {
		s.History[n-1] = p
		return
	}
	s.History = append(s.History, p)
	s.History = slices.Clone(s.History[max(len(s.History)-maxHistory, 0):])
}

// Reset empties the window, for a compaction: tokens, history and reports.
func (s *Session) Reset() {
	s.LastTokenEstimate, s.LastPercentage, s.Output, s.Growth = 0, 0, 0, 0
	s.PruneCount, s.WarningIssued, s.ReportedZone, s.ReportedStep = 0, false, "", 0
	s.History, s.Counted, s.Estimated, s.Base, s.Chars = nil, false, true, 0, 0
}

// valid reports whether the figures are plausible.
func (s *Session) valid() bool {
	return s.Version == sessionVersion && s.LastTokenEstimate >= 0 && s.LastPercentage >= 0 &&
		s.Window >= 0 && s.ClientWindow >= 0 && s.ClientLimit >= 0 && s.Chars >= 0 && s.PruneCount >= 0 && s.Captured >= 0 && len(s.History) <= maxHistory
}
