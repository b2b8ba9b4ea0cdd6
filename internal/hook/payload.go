package hook

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// payload is what hooks say on stdin, as far as it is used here. Every field may
// be missing, and unknown ones are passed over.
type payload struct {
	event        string
	session      string
	transcript   string
	cwd          string
	source       string // SessionStart: startup, resume, clear, compact, fork
	trigger      string // PreCompact: manual, auto
	instructions string // PreCompact: the text behind /compact
	prompt       string // UserPromptSubmit
	agentID      string
	agentType    string
	lastMessage  string // SubagentStop
	taskID       string // TaskCreated, TaskCompleted
	taskSubject  string
	taskText     string
	toolName     string // PostToolUse

	contextTokens int64 // SessionStart: what a resumed or forked session brings
}

// parsePayload reads what can be read: a payload that was cut off, or holds
// other types than expected, gives the fields that came before and around.
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
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return p
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			return p
		}
		if name.String() == "context_tokens" && dec.PeekKind() == '0' {
			value, err := dec.ReadToken()
			if err != nil {
				return p
			}
			if n, err := value.Int(); err == nil {
				p.contextTokens = n
			}
			continue
		}
		field := fields[name.String()]
		if field == nil || dec.PeekKind() != '"' {
			if dec.SkipValue() != nil {
				return p
			}
			continue
		}
		value, err := dec.ReadToken()
		if err != nil {
			return p
		}
		*field = value.String()
	}
}
