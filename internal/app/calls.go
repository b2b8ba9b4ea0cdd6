package app

import "strandline/internal/archive"

// Call is one use of a tool.
type Call struct {
	Handle     string   `json:"handle"` // of its step
	ToolID     string   `json:"tool_id"`
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Command    string   `json:"command,omitempty"`
	Files      []string `json:"files,omitempty"`
	Exit       *int     `json:"exit,omitempty"`
	Failed     bool     `json:"failed,omitempty"`
	Error      string   `json:"error,omitempty"` // the line that says why
	DurationMS int64    `json:"duration_ms,omitempty"`
}

// Calls are those of a turn or a step, in order.
func Calls(list []archive.Call) []Call {
	out := make([]Call, 0, len(list))
	for _, c := range list {
		out = append(out, Call{
			Handle: archive.Ref{Session: c.Session, Turn: c.Turn, Step: c.Step}.Handle(), ToolID: c.ToolID, Name: c.Name, Kind: string(c.Kind),
			Command: c.Command, Files: c.Files, Exit: c.Exit, Failed: c.Failed, Error: c.Error, DurationMS: c.Duration.Milliseconds(),
		})
	}
	return out
}
