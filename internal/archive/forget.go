package archive

import "strings"

// JournalForget records that a session is deleted for good. Its ID is ForgetID's, so
// there is one entry per session. Data is ForgetFact.
const JournalForget JournalKind = "forget"

// ForgetFact is the data of a JournalForget entry. Entry and fact hold nothing of the
// session but its ID and the time.
type ForgetFact struct {
	Why string `json:"why"` // ForgetAsked, ForgetOld
}

// The reasons why a session is deleted.
const (
	ForgetAsked = "asked"     // by a person
	ForgetOld   = "retention" // by retention.delete
)

// ForgetID returns the ID of the journal entry that a session is deleted.
func ForgetID(session string) string { return "forget:" + session }

// JournalForgetPart records that a turn or a step is deleted for good. Its ID begins with
// ForgetPartID's. Data is Part.
const JournalForgetPart JournalKind = "forget_part"

// Part identifies the rows of a deleted turn or step in any copy of the transcript,
// without their content: by the IDs of rows, responses and calls, the times of prompts,
// and, for lines without an ID, by hashes with a salt of this part. A reader of the archive
// who guesses such a whole line can confirm the guess.
type Part struct {
	Turn int    `json:"turn"`
	Step int    `json:"step"` // -1: the whole turn
	Head string `json:"head"` // key of the row before the others
	Salt string `json:"salt"`
	// Sessions hold the rows: the session itself and its forks.
	Sessions []string `json:"sessions"`
	Keys     []string `json:"keys"`
	// Files are the side files and sub-agents' runs that only this part uses.
	Files []string `json:"files,omitempty"`
}

// ForgetPartID returns the prefix of the ID of the journal entry that a turn or a step is
// deleted.
func ForgetPartID(r Ref) string {
	return "forget:" + r.Session + strings.TrimPrefix(r.Handle(), ShortID(r.Session))
}
