package hook

import (
	"cmp"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/sessionlog"
	"strandline/internal/text"
)

// payload holds the fields of an event's payload that are used here. Every field
// may be empty.
type payload struct {
	client string // as in Env

	Event      string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	AgentID    string `json:"agent_id"`
	AgentType  string `json:"agent_type"`
	// SessionStart: startup, resume, clear, compact, fork
	Source        string `json:"source"`
	ContextTokens int64  `json:"context_tokens"`         // of a resumed or forked session
	Trigger       string `json:"trigger"`                // PreCompact: manual, auto
	Instructions  string `json:"custom_instructions"`    // PreCompact: the argument of /compact
	Prompt        string `json:"prompt"`                 // UserPromptSubmit
	LastMessage   string `json:"last_assistant_message"` // SubagentStop
	TaskID        string `json:"task_id"`                // TaskCreated, TaskCompleted
	TaskSubject   string `json:"task_subject"`           // as TaskID
	TaskText      string `json:"task_description"`       // as TaskID
	ToolName      string `json:"tool_name"`              // PostToolUse

	// Fields that only other clients send, which read the same settings.
	CursorVersion string `json:"cursor_version"`
	Conversation  string `json:"conversation_id"`
	Camel         string `json:"conversationId"`
	CamelSession  string `json:"sessionId"`
}

// foreign returns why a payload is not of the client that the settings belong to, "" if
// it may be.
func (p payload) foreign() string {
	switch {
	case p.client != "":
		return "" // the client's own settings name it
	case p.CursorVersion != "", p.Conversation != "":
		return "the payload is Cursor's"
	case p.Camel != "", p.CamelSession != "" && p.Session == "":
		return "the payload has other names"
	case p.Event != "" && !slices.Contains(clientEvents(), p.Event):
		return "the event " + archive.Clip(p.Event, 40) + " is unknown"
	case p.Session != "" && p.Transcript == "":
		return "the payload names no transcript"
	}
	return ""
}

// clientEvents lists the client's events. A function, because a package-level slice
// would be built at every start.
func clientEvents() []string {
	return []string{
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
		"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch",
		"PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange",
		"WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded", "MessageDisplay",
	}
}

// parsePayload reads the known fields. Truncated JSON gives the fields before the
// end; a value of another type than expected is skipped.
func parsePayload(data []byte) (p payload) {
	_ = text.NewJSONReader(data).Decode(&p) // see above
	return p
}

// sideEvent reports whether the session's folder is listed at this event.
// Listing it at every prompt would slow down long sessions.
func (p payload) sideEvent() bool {
	return slices.Contains([]string{"SubagentStop", "Stop", "StopFailure", "PreCompact", "SessionEnd"}, p.Event) ||
		p.Event == "SessionStart" && p.AgentID != "" // of a sub-agent whose context was compacted
}

// needsIndex reports whether the index is opened even if the transcript has no
// new bytes: to answer the event, or to sync the journal.
func (p payload) needsIndex() bool {
	return !slices.Contains([]string{"PostToolUse", "PostCompact"}, p.Event)
}

// indexesLater reports whether new bytes are only logged and left to the catch-up. The user
// waits for the answer to a prompt, and it needs none of them: they are in the context. The
// end of a turn has no answer, and starts a catch-up anyway. The end of a session is indexed:
// a session that follows at once names it.
func (p payload) indexesLater() bool { return p.Event == "UserPromptSubmit" || p.Event == "Stop" }

// haste returns what the capture leaves to the catch-up that a prompt and Stop start.
// Nothing is left at the start of a session, after a crash perhaps, and before a compaction.
func (p payload) haste() sessionlog.Haste {
	return sessionlog.Haste{Quick: p.Event != "SessionStart" && p.Event != "PreCompact", Unsynced: p.Event == "UserPromptSubmit"}
}

// takesContext reports whether the client adds the response to this event to the
// context.
func (p payload) takesContext() bool {
	events := []string{"UserPromptSubmit", "SessionStart", "PostToolUse", "Stop"}
	if p.client != "" {
		events = events[:2]
	}
	return slices.Contains(events, p.Event)
}

// endsTurn reports whether a catch-up is started at this event, after which the client
// writes its last rows. It starts first and waits for them.
func (p payload) endsTurn() bool { return p.Event == "Stop" || p.Event == "SessionEnd" }

// changes reports whether a tool of the main conversation may have changed something.
func (p payload) changes() bool {
	return p.AgentID == "" && p.Event == "PostToolUse" && slices.Contains([]string{"Bash", "Write", "Edit"}, p.ToolName)
}

// answersCompaction reports whether the response to this event steers a compaction or
// restores the context after one.
func (p payload) answersCompaction() bool {
	return p.Event == "PreCompact" || p.Event == "SessionStart" && p.Source == "compact"
}

// subject returns the session whose context the event is about. For a sub-agent
// the payload holds the parent's session id and transcript, and the agent's id.
func (p payload) subject() string {
	if !archive.ValidID(p.AgentID) {
		return p.Session
	}
	return p.Session + "~" + p.AgentID
}

// agent returns the id of the sub-agent whose own transcript the payload names, "" for
// none. Claude Code names that of the parent.
func (p payload) agent() string {
	if p.client == "" || !archive.ValidID(p.AgentID) {
		return ""
	}
	return p.AgentID
}

// transcriptID returns the id in the name of the transcript.
func (p payload) transcriptID() string { return cmp.Or(p.agent(), p.Session) }

// steers reports whether the client adds the response at PreCompact to the prompt of its
// compaction, and accepts a decision to block it.
func (p payload) steers() bool { return p.client == "" }

// keepsPrompts reports whether the client's compaction leaves the user's prompts in the
// context, as that of Codex does.
func (p payload) keepsPrompts() bool { return p.client == "codex" }

// role returns the role that a sub-agent's restored context is made for.
func (p payload) role() compact.Role {
	if !archive.ValidID(p.AgentID) {
		return compact.RoleNone
	}
	return compact.RoleOf(p.AgentType)
}

// isSummarizer reports whether the event is the end of the client's summarizer,
// which runs as a sub-agent without a type.
func (p payload) isSummarizer() bool {
	return p.client == "" && p.Event == "SubagentStop" && p.AgentType == "" && p.LastMessage != ""
}
