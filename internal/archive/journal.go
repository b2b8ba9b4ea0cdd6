package archive

import (
	"encoding/json"
	"strings"
	"time"
)

// JournalKind is the kind of a fact that is not in a transcript.
type JournalKind string

// The kinds of journal entry.
const (
	// JournalSummary is a client's summary of a compaction that a hook reports before
	// the transcript contains it. Data is SummaryFact.
	JournalSummary JournalKind = "summary"
	// JournalInjected records a text that was injected into a context. Data is InjectedFact.
	JournalInjected JournalKind = "injected"
	// JournalAccess records places that were injected or used. Data is AccessFact.
	JournalAccess JournalKind = "access"
	// JournalMerge merges one project key into another. Data is MergeFact.
	JournalMerge JournalKind = "merge"
	// JournalTask is a task hook's payload. Data is TaskFact.
	JournalTask JournalKind = "task"
)

// JournalEntry is one fact, identified by ID: replaying an entry changes nothing.
type JournalEntry struct {
	Version int             `json:"v"` // 1
	ID      string          `json:"id"`
	Time    time.Time       `json:"t"`
	Kind    JournalKind     `json:"kind"`
	Session string          `json:"session,omitempty"`
	Data    json.RawMessage `json:"data"`
}

// SummaryFact is the data of a JournalSummary entry.
type SummaryFact struct {
	Source string `json:"source"` // "SubagentStop" or "PostCompact"
	Text   string `json:"text"`   // as the client sent it
}

// InjectedFact is the data of a JournalInjected entry.
type InjectedFact struct {
	Event   string   `json:"event"` // hook event and source, "SessionStart/compact"
	Chars   int      `json:"chars"` // UTF-16 units
	Handles []string `json:"handles,omitempty"`
	// Nonce identifies the content of each injected record, which recognizes it without
	// the key of its signature; "" in entries of earlier versions.
	Nonce string `json:"nonce,omitempty"`
	// Budget is the token budget of a replacement conversation; 0 if it is not
	// recorded, and for texts of hooks.
	Budget int `json:"budget,omitempty"`
}

// Injection is an InjectedFact with its session and time.
type Injection struct {
	ID, Session string
	Time        time.Time
	InjectedFact
}

// AccessFact is the data of a JournalAccess entry.
type AccessFact struct {
	Refs []Ref  `json:"refs"`
	How  string `json:"how"` // AccessRestored, AccessRecalled, AccessUsed
	// Of is the number of places that a compaction restored, if How is AccessUsed.
	// Refs are those that were used.
	Of int `json:"of,omitempty"`
}

// MergeFact is the data of a JournalMerge entry. The latest one of a key counts; one that
// merges a key into itself takes the earlier ones back.
type MergeFact struct {
	From string `json:"from"` // project key that is no longer used
	Into string `json:"into"`
}

// TaskFact is the data of a JournalTask entry.
type TaskFact struct {
	Event       string `json:"event"` // "TaskCreated", "TaskCompleted"
	TaskID      string `json:"task_id"`
	Subject     string `json:"subject,omitempty"`
	Description string `json:"description,omitempty"`
}

// The kinds of access, the values of AccessFact.How.
const (
	AccessRestored = "restored" // in the restored context after a compaction
	AccessRecalled = "recalled" // found by a search or by automatic recall
	AccessUsed     = "used"     // restored, and used by the work that followed
)

// Access is one access of the model to a place.
type Access struct {
	Ref
	Time time.Time
	How  string
}

// Feedback counts the places that compactions restored, and the use of them.
type Feedback struct {
	Compactions int // that were measured and restored at least one place
	Given, Used int // places
}

// RefsOf returns the places of one session among handles. It ignores handles of other
// sessions and invalid ones.
func RefsOf(session string, handles []string) []Ref {
	var refs []Ref
	for _, text := range handles {
		h, err := ParseHandle(text)
		if err == nil && h.Turn >= 0 && h.Session == ShortID(session) {
			refs = append(refs, Ref{Session: session, Turn: h.Turn, Step: h.Step})
		}
	}
	return refs
}

// JournalForget records that a session is deleted for good. Its ID is ForgetID's, so
// there is one entry per session. Data is ForgetFact.
const JournalForget JournalKind = "forget"

// ForgetFact is the data of a JournalForget entry. Entry and fact hold nothing of the
// session but its ID, the time and hashes of its rows' random UUIDs.
type ForgetFact struct {
	Why string `json:"why"` // ForgetAsked, ForgetOld
	// Rows are the hashes, as capture.ForgottenRows returns them. Older entries have
	// none.
	Rows []byte `json:"rows,omitempty"`
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
	Head string `json:"head"` // key of the part's first row
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

// JournalTaught records which kinds of names were needed after a compaction, or after any
// other line of a session. Data is TaughtFact.
const JournalTaught JournalKind = "taught"

// Tally is the weight of the names that were expected to be needed after a line, and of
// those that were.
type Tally struct {
	Expected float64 `json:"expected"`
	Needed   float64 `json:"needed"`
}

// TaughtFact is the data of a JournalTaught entry. It contains no names.
type TaughtFact struct {
	Line   int              `json:"line"`   // of the compaction
	Known  time.Time        `json:"known"`  // time of the last line that was examined
	Shapes map[string]Tally `json:"shapes"` // empty if too few names were needed
}

// JournalNote records a note of the user, or that one is forgotten. Data is NoteFact; the
// entry's session is NoteSession.
const JournalNote JournalKind = "note"

// NoteSession is the session of the entries about notes, which belong to no session.
const NoteSession = "notes"

// NoteFact is the data of a JournalNote entry.
type NoteFact struct {
	ID      string `json:"id"`
	Text    string `json:"text,omitempty"`
	Project string `json:"project,omitempty"` // key; "" for every project
	Gone    bool   `json:"gone,omitempty"`    // the note is forgotten
}

// Note is a note of the user.
type Note struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"` // redacted
	Time    time.Time `json:"time"`
	Project Project   `json:"-"` // zero for every project
}

// In reports whether the note applies to a project.
func (n Note) In(key string) bool { return n.Project.Key == "" || n.Project.Key == key }
