package claude

import (
	"path/filepath"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// Name is the name of Claude Code in the archive.
const Name = "claude"

// Client describes Claude Code, whose rows are the common form. It takes every file of
// lines of JSON whose name can be a session's id.
func Client() transcript.Client {
	return transcript.Client{
		Name: Name, Title: "Claude Code",
		Roots: func(getenv func(string) string, home string) []string {
			return transcript.Folders(getenv("CLAUDE_CONFIG_DIR"), home, ".claude", "projects")
		},
		File: func(path string) (string, bool) {
			session, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
			return session, ok && archive.ValidID(session)
		},
		Resume: []string{"claude", "--resume"},
		Start:  []string{"claude"},
		Hooks: transcript.Hooks{
			Known: []string{
				"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion",
				"SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PreModelSwitch",
				"PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
				"ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged",
				"DirectoryAdded", "MessageDisplay",
			},
			Context: []string{"UserPromptSubmit", "SessionStart", "PostToolUse", "Stop"}, Steers: 10_000, Blocks: true, Summarizer: true,
		},
		Setup: transcript.Setup{Files: []transcript.SetupFile{{Path: "settings.json", Main: true, Hooks: hooks()}}},
	}
}

// hooks lists the hooks. The client waits for all but the asynchronous ones, so the
// timeouts are short; the hook's own deadline is much shorter. Hooks without an answer are
// asynchronous, except before the client reads what they store (SubagentStop and PostCompact
// at a compaction) and at its end, when it kills asynchronous ones.
func hooks() []transcript.Hook {
	return []transcript.Hook{
		{Event: "SessionStart", Timeout: 6},
		{Event: "UserPromptSubmit", Timeout: 5},
		{Event: "PostToolUse", Matcher: "*", Timeout: 5, Async: true},
		{Event: "Stop", Timeout: 5, Async: true},
		{Event: "StopFailure", Timeout: 5, Async: true},
		{Event: "SubagentStop", Timeout: 5},
		{Event: "PreCompact", Timeout: 6},
		{Event: "PostCompact", Timeout: 5},
		{Event: "SessionEnd", Timeout: 5},
	}
}
