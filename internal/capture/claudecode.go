// Package claudecode tells the capture how Claude Code writes: where its
// sub-agents' facts stand, how a folder becomes a name, and what reads its
// transcripts.
package capture

import (
	"strandline/internal/archive"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// ClaudeCode returns what the capture needs to know of the client. Redact removes
// secrets from every text before it leaves the reader; nil leaves texts as they
// stand.
func ClaudeCode(redact func(string) string) Client {
	return Client{
		Name: "claude",
		Reader: func(base archive.Session, cur archive.Cursor) (transcript.Reader, error) {
			return claude.NewReader(base, cur, claude.Options{Redact: redact})
		},
		Peek: func(head []byte) Facts {
			f := claude.Peek(head)
			return Facts{Session: f.SessionID, Agent: f.AgentID, Cwd: f.Cwd, First: f.First}
		},
		Agent: claude.AgentMeta,
		Rows:  claude.Rows,
		ForgottenRow:  claude.ForgottenRow,
		Slug:  claude.Slug,
	}
}
