package hook

import (
	"cmp"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/sessionlog"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// payload holds the fields of an event's payload that are used here. Every field
// may be empty.
type payload struct {
	client string // its name
	hooks  transcript.Hooks

	Event      string `json:"hook_event_name"` // by Claude Code's name
	named      string // by the client's name
	late       bool   // the client compacted, and this is the first event whose answer it adds
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
	case p.hooks.Known == nil:
		return "" // no other client reads its settings
	case p.CursorVersion != "", p.Conversation != "":
		return "the payload is Cursor's"
	case p.Camel != "", p.CamelSession != "" && p.Session == "":
		return "the payload has other names"
	case p.Event != "" && !slices.Contains(p.hooks.Known, p.Event):
		return "the event " + archive.Clip(p.Event, 40) + " is unknown"
	case p.Session != "" && p.Transcript == "":
		return "the payload names no transcript"
	}
	return ""
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
	return p.late || !slices.Contains([]string{"PostToolUse", "PostCompact"}, p.Event)
}

// indexesLater reports whether new bytes are only logged and left to the catch-up. The user
// waits for the answer to a prompt, and it needs none of them: they are in the context. The
// end of a turn has no answer, and starts a catch-up anyway. The end of a session is indexed:
// a session that follows at once names it.
func (p payload) indexesLater() bool {
	return !p.late && (p.Event == "UserPromptSubmit" || p.Event == "Stop")
}

// haste returns what the capture leaves to the catch-up that a prompt and Stop start.
// Nothing is left at the start of a session, after a crash perhaps, and before a compaction.
func (p payload) haste() sessionlog.Haste {
	return sessionlog.Haste{Quick: p.Event != "SessionStart" && p.Event != "PreCompact", Unsynced: p.Event == "UserPromptSubmit"}
}

// takesContext reports whether the client adds the response to this event to the
// context.
func (p payload) takesContext() bool { return slices.Contains(p.hooks.Context, p.Event) }

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
	return p.Event == "PreCompact" || p.afterCompaction()
}

// afterCompaction reports whether the response restores the context after a compaction.
func (p payload) afterCompaction() bool {
	return p.late || p.Event == "SessionStart" && p.Source == "compact"
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
// none.
func (p payload) agent() string {
	if !p.hooks.OwnAgents || !archive.ValidID(p.AgentID) {
		return ""
	}
	return p.AgentID
}

// transcriptID returns the id in the name of the transcript.
func (p payload) transcriptID() string { return cmp.Or(p.agent(), p.Session) }

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
	return p.hooks.Summarizer && p.Event == "SubagentStop" && p.AgentType == "" && p.LastMessage != ""
}

// sessionIn returns the session's id as the client's transcripts name it. Gemini CLI begins
// their names with a part of the id in the payload.
func sessionIn(c transcript.Client, p payload) string {
	if c.File != nil && p.Transcript != "" {
		if id, ok := c.File(p.Transcript); ok && id != "" && strings.HasPrefix(p.Session, id) {
			return id
		}
	}
	return p.Session
}
