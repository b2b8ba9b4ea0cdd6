package archive

import (
	"encoding/json"
	"time"
)

// JournalKind names a kind of fact that stands in no transcript.
type JournalKind string

// The kinds of journal entry.
const (
	// JournalSummary is a client's summary of a compaction as a hook told it,
	// before the transcript holds it. Data is SummaryFact.
	JournalSummary JournalKind = "summary"
	// JournalInjected says what was put into a context. Data is InjectedFact.
	JournalInjected JournalKind = "injected"
	// JournalAccess says which places were given to the model. Data is AccessFact.
	JournalAccess JournalKind = "access"
	// JournalMerge makes one project key stand for another. Data is MergeFact.
	JournalMerge JournalKind = "merge"
	// JournalTask is a task hook's payload. Data is TaskFact.
	JournalTask JournalKind = "task"
)

// JournalEntry is one fact. Its identity is ID: an entry that is replayed is
// the same row.
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
	Text   string `json:"text"`   // as the client gave it
}

// InjectedFact is the data of a JournalInjected entry.
type InjectedFact struct {
	Event   string   `json:"event"` // hook event and source, "SessionStart/compact"
	Chars   int      `json:"chars"` // UTF-16 units
	Handles []string `json:"handles,omitempty"`
	Nonce   string   `json:"nonce,omitempty"` // of the fence
	// Budget is the room that a conversation of ours had, in tokens; 0 where it
	// is not on record, and for what hooks inject.
	Budget int `json:"budget,omitempty"`
}

// Injection is an InjectedFact with the session and the time it is about.
type Injection struct {
	ID      string
	Session string
	Time    time.Time
	InjectedFact
}

// AccessFact is the data of a JournalAccess entry.
type AccessFact struct {
	Refs []Ref  `json:"refs"`
	How  string `json:"how"` // AccessRestored, AccessRecalled, AccessUsed
	// Of counts the places that a compaction gave back, where How is
	// AccessUsed and Refs are those of them that were used.
	Of int `json:"of,omitempty"`
}

// MergeFact is the data of a JournalMerge entry.
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
