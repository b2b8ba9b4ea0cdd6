package copilot

import (
	_ "embed"

	"strandline/internal/transcript"
)

// hooks is the file of hooks. Their names in Pascal case give payloads the form of Claude
// Code's. None of these events can deny a tool.
//
//go:embed hooks.json
var hooks string

// setup lists the files of Copilot CLI 1.0.102.
func setup() transcript.Setup {
	return transcript.Setup{
		Files: []transcript.SetupFile{
			{Path: "hooks/strandline.json", Whole: hooks, Part: transcript.SetupPart{Name: "hooks", Detail: "capture, recall, restored context"}},
			{Path: "mcp-config.json", Servers: "mcpServers", Server: `{"type": "local", "command": ` + transcript.Program + `, "args": ["mcp"], "tools": ["*"]}`},
		},
		Off: []transcript.Switch{{File: "settings.json", Key: "disableAllHooks", Off: true}},
	}
}
