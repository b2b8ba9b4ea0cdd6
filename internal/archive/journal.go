package archive

import (
	"encoding/json"
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
	Nonce   string   `json:"nonce,omitempty"` // of the fence
	// Budget is the token budget of a replacement conversation; 0 if it is not
	// recorded, and for texts of hooks.
	Budget int `json:"budget,omitempty"`
}

// Injection is an InjectedFact with its session and time.
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
	// Of is the number of places that a compaction restored, if How is AccessUsed.
	// Refs are those that were used.
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
