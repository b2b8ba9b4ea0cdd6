package hook

import (
	"slices"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// payload holds the fields of an event's payload that are used here. Every field
// may be empty.
type payload struct {
	event, session, transcript, cwd string
	agentID, agentType              string
	source                          string // SessionStart: startup, resume, clear, compact, fork
	trigger                         string // PreCompact: manual, auto
	instructions                    string // PreCompact: the argument of /compact
	prompt                          string // UserPromptSubmit
	lastMessage                     string // SubagentStop
	taskID, taskSubject, taskText   string // TaskCreated, TaskCompleted
	toolName                        string // PostToolUse
	contextTokens                   int64  // SessionStart of a resumed or forked session: its context size
}

// parsePayload reads the known fields. Truncated JSON gives the fields before the
// end; a value of another type than expected is skipped.
func parsePayload(data []byte) payload {
	var p payload
	fields := map[string]*string{
		"hook_event_name":        &p.event,
		"session_id":             &p.session,
		"transcript_path":        &p.transcript,
		"cwd":                    &p.cwd,
		"source":                 &p.source,
		"trigger":                &p.trigger,
		"custom_instructions":    &p.instructions,
		"prompt":                 &p.prompt,
		"agent_id":               &p.agentID,
		"agent_type":             &p.agentType,
		"last_assistant_message": &p.lastMessage,
		"task_id":                &p.taskID,
		"task_subject":           &p.taskSubject,
		"task_description":       &p.taskText,
		"tool_name":              &p.toolName,
	}
	r := text.NewJSONReader(data)
	r.Object(func(name []byte) {
		switch field := fields[string(name)]; {
		case field != nil && r.IsString():
			*field = r.Text()
		case string(name) == "context_tokens":
			p.contextTokens = int64(r.Int())
		default:
			r.Skip()
		}
	})
	return p
}

// sideEvent reports whether the session's folder is listed at this event.
// Listing it at every prompt would slow down long sessions.
func (p payload) sideEvent() bool {
	return slices.Contains([]string{"SubagentStop", "Stop", "StopFailure", "PreCompact", "SessionEnd"}, p.event) ||
		p.event == "SessionStart" && p.agentID != "" // of a sub-agent whose context was compacted
}

// needsIndex reports whether the index is opened even if the transcript has no
// new bytes: to answer the event, to sync the journal, or to index at the end of
// a turn what a killed hook had only logged.
func (p payload) needsIndex() bool {
	return !slices.Contains([]string{"UserPromptSubmit", "PostToolUse", "PostCompact"}, p.event)
}

// takesContext reports whether the client adds the response to this event to the
// context.
func (p payload) takesContext() bool {
	return slices.Contains([]string{"UserPromptSubmit", "PostToolUse", "Stop", "SessionStart"}, p.event)
}

// endsWork reports whether finished work is looked for at this event: at the end
// of a turn and after tools that change something.
func (p payload) endsWork() bool {
	changes := slices.Contains([]string{"Bash", "Write", "Edit"}, p.toolName)
	return p.agentID == "" && (p.event == "Stop" || p.event == "PostToolUse" && changes)
}

// subject returns the session whose context the event is about. For a sub-agent
// the payload holds the parent's session id and transcript, and the agent's id.
func (p payload) subject() string {
	if !archive.ValidID(p.agentID) {
		return p.session
	}
	return p.session + "~" + p.agentID
}

// role returns the role that a sub-agent's restored context is made for.
func (p payload) role() compact.Role {
	if !archive.ValidID(p.agentID) {
		return compact.RoleNone
	}
	return compact.RoleOf(p.agentType)
}

// isSummarizer reports whether the event is the end of the client's summarizer,
// which runs as a sub-agent without a type.
func (p payload) isSummarizer() bool {
	return p.event == "SubagentStop" && p.agentType == "" && p.lastMessage != ""
}
