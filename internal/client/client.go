// Package client lists the clients whose transcripts the archive reads. Each has a package
// of its own below this one; Claude Code, whose rows are the common form, is
// transcript/claude.
package client

import (
	"strandline/internal/client/amp"
	"strandline/internal/client/antigravity"
	"strandline/internal/client/cline"
	"strandline/internal/client/codex"
	"strandline/internal/client/continuecli"
	"strandline/internal/client/copilot"
	"strandline/internal/client/crush"
	"strandline/internal/client/cursor"
	"strandline/internal/client/droid"
	"strandline/internal/client/gemini"
	"strandline/internal/client/goose"
	"strandline/internal/client/grok"
	"strandline/internal/client/kimi"
	"strandline/internal/client/opencode"
	"strandline/internal/client/pi"
	"strandline/internal/client/qwen"
	"strandline/internal/client/roo"
	"strandline/internal/client/zed"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// All lists the clients, Claude Code last: it takes the transcripts that no other one takes.
func All() []transcript.Client {
	return []transcript.Client{
		codex.Client(),
		pi.Client(),
		qwen.Client(),
		copilot.Client(),
		gemini.Client(),
		droid.Client(),
		kimi.Client(),
		cline.Client(),
		cursor.Client(),
		roo.Client(),
		amp.Client(),
		continuecli.Client(),
		antigravity.Client(),
		grok.Client(),
		opencode.Client(),
		goose.Client(),
		crush.Client(),
		zed.Client(),
		claude.Client(),
	}
}
