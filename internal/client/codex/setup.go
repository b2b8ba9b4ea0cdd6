package codex

import "strandline/internal/transcript"

// context is how many tokens of four bytes Codex takes of what a hook adds, instead
// of 2,500: the restored context is limited in UTF-16 units, of up to three bytes each.
const context = 8000

// setup lists the files of Codex 0.169.0. It kills hooks of SessionEnd after 3 seconds.
func setup() transcript.Setup {
	return transcript.Setup{
		Files: []transcript.SetupFile{
			{Path: "hooks.json", Hooks: []transcript.Hook{
				{Event: "SessionStart", Timeout: 6, Context: context},
				{Event: "UserPromptSubmit", Timeout: 5, Context: context},
				{Event: "PostToolUse", Timeout: 5, Async: true},
				{Event: "Stop", Timeout: 5},
				{Event: "SubagentStop", Timeout: 5},
				{Event: "PreCompact", Timeout: 6},
				{Event: "PostCompact", Timeout: 5},
				{Event: "SessionEnd", Timeout: 3},
			}},
			{Path: "config.toml", Trust: true, Servers: "mcp_servers", Server: "command = " + transcript.Program + "\nargs = [\"mcp\"]\n"},
		},
		Note: "Codex runs hooks only after you trust them, once: start `codex`, which asks to review them, and choose \"Trust all\" (later: /hooks)",
		Off:  []transcript.Switch{{File: "config.toml", Key: "features.hooks", Off: false}},
	}
}
