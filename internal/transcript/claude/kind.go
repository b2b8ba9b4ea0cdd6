package claude

import (
	"strings"

	"strandline/internal/archive"
)

// kindOf groups a tool by its name.
func kindOf(tool string) archive.CallKind {
	switch tool {
	case "Bash", "PowerShell":
		return archive.CallCommand
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return archive.CallEdit
	case "Read", "NotebookRead":
		return archive.CallRead
	case "Grep", "Glob", "LS":
		return archive.CallSearch
	case "Task", "Agent":
		return archive.CallAgent
	case "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "TodoRead":
		return archive.CallTask
	case "WebFetch", "WebSearch", "web_search", "web_fetch":
		return archive.CallWeb
	}
	return archive.CallOther
}

// isRecall reports whether a tool is Strandline's own, whose output is an old
// record and no news.
func isRecall(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") && strings.Contains(tool, "strandline")
}
