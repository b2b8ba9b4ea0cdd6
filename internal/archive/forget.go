package archive

import "strings"

// JournalForget says that a session is deleted for good. Its ID is ForgetID's, so a
// session is forgotten once. Data is ForgetFact.
const JournalForget JournalKind = "forget"

// ForgetFact is the data of a JournalForget entry. It holds nothing of the session
// but what stands in the entry already: its id and the time.
type ForgetFact struct {
	Why string `json:"why"` // ForgetAsked, ForgetOld
}

// Why a session is deleted.
const (
	ForgetAsked = "asked"     // by a person
	ForgetOld   = "retention" // by retention.delete
)

// ForgetID is the identity of the fact that a session is deleted.
func ForgetID(session string) string { return "forget:" + session }

// JournalForgetPart says that a turn or a step is deleted for good. Its ID begins
// with ForgetPartID's. Data is Part.
const JournalForgetPart JournalKind = "forget_part"

// Part is a turn or a step that was deleted. It names its rows so that they are
// known in any copy of the transcript, and holds nothing of what they said: ids of
// rows, of responses and of calls, times of prompts, and, of lines without an id,
// sums with a salt of this part's own. Whoever has the archive and guesses such a
// line whole, can tell that it was right.
type Part struct {
	Turn int    `json:"turn"`
	Step int    `json:"step"` // -1: the whole turn
	Head string `json:"head"` // key of the row that the rest follows
	Salt string `json:"salt"`
	// Sessions are those that hold the rows: the session itself, and its forks.
	Sessions []string `json:"sessions"`
	Keys     []string `json:"keys"`
	// Files are side files, and runs of sub-agents, that belong to it alone.
	Files []string `json:"files,omitempty"`
}

// ForgetPartID begins the identity of the fact that a turn or a step is deleted.
func ForgetPartID(r Ref) string {
	return "forget:" + r.Session + strings.TrimPrefix(r.Handle(), ShortID(r.Session))
}
