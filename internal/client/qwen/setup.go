package qwen

import "strandline/internal/transcript"

// hooks describes the events of Qwen Code 0.24.4. It adds the first 4,000 characters of the
// answer to PreCompact to its compaction's prompt, after it replaced < and > by entities.
func hooks() transcript.Hooks {
	return transcript.Hooks{Context: []string{"UserPromptSubmit", "SessionStart"}, Steers: 3800}
}

// setup lists what init writes into settings.json, which may hold comments.
func setup() transcript.Setup {
	return transcript.Setup{
		Files: []transcript.SetupFile{{
			Path: "settings.json", Milliseconds: true,
			Hooks: []transcript.Hook{
				{Event: "SessionStart", Timeout: 6},
				{Event: "UserPromptSubmit", Timeout: 5},
				{Event: "PostToolUse", Timeout: 5, Async: true},
				{Event: "Stop", Timeout: 5},
				{Event: "SubagentStop", Timeout: 5},
				{Event: "PreCompact", Timeout: 6},
				{Event: "PostCompact", Timeout: 5},
				{Event: "SessionEnd", Timeout: 5},
			},
			Servers: "mcpServers", Server: `{"command": ` + transcript.Program + `, "args": ["mcp"]}`,
		}},
		Off: []transcript.Switch{{File: "settings.json", Key: "disableAllHooks", Off: true}},
	}
}
