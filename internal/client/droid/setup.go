package droid

import "strandline/internal/transcript"

// hooks describes the events, which are Claude Code's.
func hooks() transcript.Hooks {
	return transcript.Hooks{Context: []string{"UserPromptSubmit", "SessionStart"}}
}

// setup lists what init writes, in the form of Claude Code's settings.
func setup() transcript.Setup {
	return transcript.Setup{
		Files: []transcript.SetupFile{
			{Path: "settings.json", Hooks: []transcript.Hook{
				{Event: "SessionStart", Timeout: 6},
				{Event: "UserPromptSubmit", Timeout: 5},
				{Event: "PostToolUse", Timeout: 5},
				{Event: "Stop", Timeout: 5},
				{Event: "SubagentStop", Timeout: 5},
				{Event: "PreCompact", Timeout: 6},
				{Event: "SessionEnd", Timeout: 5},
			}},
			{Path: "mcp.json", Servers: "mcpServers", Server: `{"type": "stdio", "command": ` + transcript.Program + `, "args": ["mcp"]}`},
		},
		Off: []transcript.Switch{{File: "settings.json", Key: "hooksDisabled", Off: true}},
	}
}
