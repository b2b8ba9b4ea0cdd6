package pi

import (
	_ "embed"

	"strandline/internal/transcript"
)

// extension is the module that Pi loads. The MCP server and the hooks are in it.
//
//go:embed extension.ts
var extension string

// setup lists the files of Pi 1.5.2.
func setup() transcript.Setup {
	return transcript.Setup{Files: []transcript.SetupFile{{
		Path: "extensions/strandline.ts", Whole: extension,
		Part: transcript.SetupPart{Name: "extension", Detail: "capture, recall, MCP tools; replaces compactions"},
	}}}
}
