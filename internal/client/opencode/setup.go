package opencode

import (
	_ "embed"

	"strandline/internal/transcript"
)

//go:embed plugin.ts
var plugin string

// setup lists the files of OpenCode 1.18.33.
func setup() transcript.Setup {
	return transcript.Setup{
		Folder: func(getenv func(string) string, home string) string {
			if all := transcript.Folders(getenv("XDG_CONFIG_HOME"), home, ".config", folder); len(all) > 0 {
				return all[0]
			}
			return ""
		},
		Files: []transcript.SetupFile{
			{Path: "plugins/strandline.ts", Whole: plugin, Part: transcript.SetupPart{Name: "plugin", Detail: "captures sessions, recalls, restores context after a compaction"}},
			{Path: "opencode.json", Servers: "mcp", Server: `{"type": "local", "command": [` + transcript.Program + `, "mcp"]}`},
		},
	}
}
