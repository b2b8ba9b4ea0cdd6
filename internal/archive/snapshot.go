package archive

import (
	"strings"
	"time"
)

// JournalSnapshot is the state of a session's work at a time, posted over HTTP. Data is
// SnapshotFact.
const JournalSnapshot JournalKind = "snapshot"

// RecordKind is the kind of the entries about the records of a table that programs post
// over HTTP. Data is RecordFact.
func RecordKind(table string) JournalKind { return JournalKind(recordPrefix + table) }

const recordPrefix = "record/"

// IsRecord reports whether the kind is that of a record.
func (k JournalKind) IsRecord() bool { return strings.HasPrefix(string(k), recordPrefix) }

// RecordTables lists the tables of records.
func RecordTables() []string {
	return []string{"projects", "sessions", "requests", "tasks", "subtasks", "actions", "messages", "agent-contexts"}
}

// NoSession is the session of records that belong to none.
const NoSession = "records"

// RecordFact is the data of an entry about a record: some of its fields. Later entries
// replace fields of earlier ones.
type RecordFact struct {
	ID     string         `json:"id"`
	Fields map[string]any `json:"fields"`
}

// SnapshotFact is the data of a JournalSnapshot entry. All fields are optional.
type SnapshotFact struct {
	Trigger   string            `json:"trigger,omitempty"` // "manual", "proactive", "pre-compact" …
	AgentID   string            `json:"agent_id,omitempty"`
	AgentType string            `json:"agent_type,omitempty"`
	Summary   string            `json:"summary,omitempty"`
	Tasks     []SnapshotTask    `json:"tasks,omitempty"`
	Agents    []SnapshotAgent   `json:"agents,omitempty"`
	Messages  []SnapshotMessage `json:"messages,omitempty"` // oldest first
	Actions   []SnapshotAction  `json:"actions,omitempty"`  // oldest first
	Files     []string          `json:"files,omitempty"`
	Decisions []string          `json:"decisions,omitempty"`
	Next      []string          `json:"next,omitempty"` // next steps
	// Skills are those that the agent is to load again after a compaction.
	Skills []string `json:"skills_to_restore,omitempty"`
	// Wave is the state of the current wave of sub-agents, and Hierarchy the tree of
	// requests and tasks; both are JSON as it was posted.
	Wave      any `json:"wave_state,omitempty"`
	Hierarchy any `json:"hierarchy,omitempty"`
	// Fills names the parts that follow from the archive and were not posted: tasks,
	// agents, messages, actions, files.
	Fills []string `json:"filled,omitempty"`
}

// Posted returns the snapshot without the parts that follow from the archive.
func (f SnapshotFact) Posted() SnapshotFact {
	for _, part := range f.Fills {
		switch part {
		case "tasks":
			f.Tasks = nil
		case "agents":
			f.Agents = nil
		case "messages":
			f.Messages = nil
		case "actions":
			f.Actions = nil
		case "files":
			f.Files = nil
		}
	}
	return f
}

// SnapshotTask is a task.
type SnapshotTask struct {
	ID          string   `json:"id"`
	Parent      string   `json:"parent,omitempty"` // ID of the task that contains it
	Subject     string   `json:"subject"`
	Description string   `json:"description,omitempty"`
	Status      string   `json:"status,omitempty"` // "pending", "in_progress", "completed", "blocked" …
	Owner       string   `json:"owner,omitempty"`  // agent
	BlockedBy   []string `json:"blocked_by,omitempty"`
}

// SnapshotAgent is a running agent.
type SnapshotAgent struct {
	ID     string `json:"id"`
	Type   string `json:"type,omitempty"`
	Status string `json:"status,omitempty"`
	Task   string `json:"task,omitempty"`
	Result string `json:"result,omitempty"`
}

// SnapshotMessage is a message of one agent to another, or to all.
type SnapshotMessage struct {
	From string    `json:"from,omitempty"`
	To   string    `json:"to,omitempty"`
	Text string    `json:"text"`
	Time time.Time `json:"time,omitzero"`
	// Topic is the kind of message, such as "task.completed"; Priority is from 0 to 10.
	Topic    string `json:"topic,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// Payload is the content of a message that is not a text: JSON as it was posted.
	Payload any `json:"payload,omitempty"`
}

// SnapshotAction is a tool call.
type SnapshotAction struct {
	Tool    string    `json:"tool,omitempty"`
	Command string    `json:"command,omitempty"`
	File    string    `json:"file,omitempty"`
	Exit    *int      `json:"exit,omitempty"`
	Failed  bool      `json:"failed,omitempty"`
	Error   string    `json:"error,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Time    time.Time `json:"time,omitzero"`
}

// EachText applies change to every text of the snapshot that a person or a model wrote.
func (f *SnapshotFact) EachText(change func(string) string) {
	f.Summary, f.AgentID, f.AgentType = change(f.Summary), change(f.AgentID), change(f.AgentType)
	for i := range f.Tasks {
		t := &f.Tasks[i]
		t.Subject, t.Description, t.Owner = change(t.Subject), change(t.Description), change(t.Owner)
	}
	for i := range f.Agents {
		a := &f.Agents[i]
		a.ID, a.Type, a.Task, a.Result = change(a.ID), change(a.Type), change(a.Task), change(a.Result)
	}
	for i := range f.Messages {
		m := &f.Messages[i]
		m.From, m.To, m.Text, m.Topic = change(m.From), change(m.To), change(m.Text), change(m.Topic)
		m.Payload = ChangeTexts(m.Payload, change)
	}
	for i := range f.Actions {
		a := &f.Actions[i]
		a.Tool, a.Command, a.File, a.Error, a.Agent = change(a.Tool), change(a.Command), change(a.File), change(a.Error), change(a.Agent)
	}
	f.Wave, f.Hierarchy = ChangeTexts(f.Wave, change), ChangeTexts(f.Hierarchy, change)
	for _, list := range [][]string{f.Files, f.Decisions, f.Next, f.Skills} {
		for i := range list {
			list[i] = change(list[i])
		}
	}
}
