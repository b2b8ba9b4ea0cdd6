package gemini

import (
	"bytes"

	"strandline/internal/transcript"
)

// hooks describes the events of Gemini CLI 0.61.0. PreCompress comes before every request,
// whether it compresses or not, and nothing after it: rows tell. A prompt that begins with what
// a hook of SessionStart added is left out when the session is resumed, so that none is added,
// and the event of a resumed session names a stub.
func hooks() transcript.Hooks {
	return transcript.Hooks{
		Events:    map[string]string{"BeforeAgent": "UserPromptSubmit", "AfterTool": "PostToolUse", "AfterAgent": "Stop"},
		Context:   []string{"UserPromptSubmit", "PostToolUse"},
		Compacted: func(rows []byte) bool { return bytes.Contains(rows, []byte(snapshot)) },
	}
}

// setup lists what init writes into settings.json, which may hold comments.
func setup() transcript.Setup {
	return transcript.Setup{
		Files: []transcript.SetupFile{{
			Path: "settings.json", Milliseconds: true,
			Hooks: []transcript.Hook{
				{Event: "BeforeAgent", Timeout: 6},
				{Event: "AfterTool", Timeout: 6},
				{Event: "AfterAgent", Timeout: 5},
				{Event: "SessionEnd", Timeout: 5},
			},
			Servers: "mcpServers", Server: `{"command": ` + transcript.Program + `, "args": ["mcp"]}`,
		}},
		Off: []transcript.Switch{{File: "settings.json", Key: "hooksConfig.enabled", Off: false}},
	}
}
