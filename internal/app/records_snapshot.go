package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
)

// PostedSnapshot is a snapshot as earlier programs post it.
type PostedSnapshot struct {
	Session   string          `json:"session_id"`
	Trigger   string          `json:"trigger"`
	AgentID   string          `json:"agent_id"`
	AgentType string          `json:"agent_type"`
	Summary   string          `json:"context_summary"`
	Tasks     []postedTask    `json:"active_tasks"`
	Files     []string        `json:"modified_files"`
	Decisions []string        `json:"key_decisions"`
	Agents    []postedAgent   `json:"agent_states"`
	Wave      any             `json:"wave_state"`
	Messages  []postedMessage `json:"recent_messages"`
	Actions   []postedAction  `json:"recent_actions"`
	Hierarchy any             `json:"hierarchy"`
	Skills    []string        `json:"skills_to_restore"`
}

type postedTask struct {
	ID          any      `json:"id"`
	Description string   `json:"description"`
	Status      string   `json:"status"`
	AgentType   string   `json:"agent_type"`
	BlockedBy   []string `json:"blocked_by,omitempty"`
}

type postedAgent struct {
	ID      string `json:"agent_id"`
	Type    string `json:"agent_type"`
	Status  string `json:"status"`
	Summary string `json:"summary"`
}

// postedMessage is an object, or a text.
type postedMessage struct {
	From     string `json:"from_agent"`
	To       string `json:"to_agent"`
	Topic    string `json:"topic"`
	Priority int    `json:"priority"`
	Content  any    `json:"content"`
	Payload  any    `json:"payload,omitempty"`
	At       any    `json:"created_at"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *postedMessage) UnmarshalJSON(data []byte) error {
	type object postedMessage
	return objectOr(data, (*object)(m), func(s string) { m.Content = s })
}

// postedAction is an object, or a text.
type postedAction struct {
	Tool  string   `json:"tool_name"`
	Input string   `json:"input"`
	Exit  *int     `json:"exit_code"`
	Files []string `json:"file_paths"`
	At    any      `json:"created_at"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *postedAction) UnmarshalJSON(data []byte) error {
	type object postedAction
	return objectOr(data, (*object)(x), func(s string) { x.Input = s })
}

// objectOr decodes an object, or a text.
func objectOr(data []byte, object any, set func(string)) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		set(s)
		return nil
	}
	if err := json.Unmarshal(data, object); err != nil {
		return fmt.Errorf("neither an object nor a text: %w", err)
	}
	return nil
}

// Draft converts the snapshot. Tasks without a description are left out.
func (p PostedSnapshot) Draft() SnapshotDraft {
	f := archive.SnapshotFact{
		Trigger: cmp.Or(p.Trigger, "auto"), AgentID: p.AgentID, AgentType: p.AgentType, Summary: p.Summary, Files: p.Files, Decisions: p.Decisions,
		Wave: p.Wave, Hierarchy: p.Hierarchy, Skills: p.Skills,
	}
	seen := map[string]bool{}
	for i, t := range p.Tasks {
		id := fmt.Sprint(t.ID)
		if t.ID == nil || seen[id] {
			id = fmt.Sprintf("#%d", i)
		}
		if seen[id] = true; t.Description != "" {
			f.Tasks = append(f.Tasks, archive.SnapshotTask{ID: id, Subject: t.Description, Status: t.Status, Owner: t.AgentType, BlockedBy: t.BlockedBy})
		}
	}
	for _, a := range p.Agents {
		f.Agents = append(f.Agents, archive.SnapshotAgent{ID: a.ID, Type: a.Type, Status: a.Status, Task: a.Summary})
	}
	for _, m := range p.Messages {
		one := archive.SnapshotMessage{From: m.From, To: m.To, Topic: m.Topic, Priority: m.Priority, Payload: m.Payload, Time: postedTime(m.At)}
		if s, ok := m.Content.(string); ok {
			one.Text = s
		} else if one.Payload == nil {
			one.Payload = m.Content
		}
		if one.Text != "" || one.Payload != nil {
			f.Messages = append(f.Messages, one)
		}
	}
	for _, x := range p.Actions {
		one := archive.SnapshotAction{Tool: x.Tool, Command: x.Input, Exit: x.Exit, Failed: x.Exit != nil && *x.Exit != 0, Time: postedTime(x.At)}
		if len(x.Files) > 0 {
			one.File = x.Files[0]
		}
		f.Actions = append(f.Actions, one)
	}
	return SnapshotDraft{Session: p.Session, SnapshotFact: f}
}

func postedTime(v any) time.Time {
	s, _ := v.(string)
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at
}

// NewPostedSnapshot converts a snapshot to the form of earlier programs.
func NewPostedSnapshot(session string, f archive.SnapshotFact, at time.Time) Record {
	rec := Record{
		"session_id": session, "trigger": f.Trigger, "saved_at": stamp(at), "context_summary": f.Summary, "modified_files": append([]string{}, f.Files...),
		"key_decisions": append([]string{}, f.Decisions...), "wave_state": f.Wave, "hierarchy": f.Hierarchy, "skills_to_restore": append([]string{}, f.Skills...),
		"active_tasks": archive.Convert(f.Tasks, func(t archive.SnapshotTask) postedTask {
			return postedTask{ID: t.ID, Description: t.Subject, Status: t.Status, AgentType: t.Owner, BlockedBy: t.BlockedBy}
		}),
		"agent_states": archive.Convert(f.Agents, func(a archive.SnapshotAgent) postedAgent {
			return postedAgent{ID: a.ID, Type: a.Type, Status: a.Status, Summary: cmp.Or(a.Result, a.Task)}
		}),
		"recent_messages": archive.Convert(f.Messages, func(m archive.SnapshotMessage) postedMessage {
			out := postedMessage{From: m.From, To: m.To, Topic: m.Topic, Priority: m.Priority, Content: m.Payload, At: stamp(m.Time)}
			if m.Text != "" {
				out.Content, out.Payload = m.Text, m.Payload
			}
			return out
		}),
		"recent_actions": archive.Convert(f.Actions, func(x archive.SnapshotAction) postedAction {
			out := postedAction{Tool: x.Tool, Input: x.Command, Exit: x.Exit, Files: []string{x.File}, At: stamp(x.Time)}
			out.Files = slices.DeleteFunc(out.Files, func(s string) bool { return s == "" })
			return out
		}),
	}
	return rec
}
