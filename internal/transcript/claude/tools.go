package claude

import (
	"strings"

	"strandline/internal/archive"
)

// kindOf returns the kind of a tool: of Claude Code's, then of the tools of the clients
// whose rows are translated. A name means the same in all of them.
func kindOf(tool string) archive.CallKind {
	switch tool {
	case "Bash", "PowerShell",
		"bash", "powershell", "shell", "Shell", "exec_command", "shell_command", "local_shell", "Execute",
		"run_shell_command", "developer__shell", "terminal", "run_command", "run_commands", "run_terminal_cmd", "run_terminal_command", "execute_command":
		return archive.CallCommand
	case "Edit", "Write", "MultiEdit", "NotebookEdit",
		"edit", "write", "multiedit", "create", "Create", "editor", "apply_patch", "ApplyPatch", "replace", "edit_file",
		"write_file", "WriteFile", "write_to_file", "create_file", "delete_file", "Delete", "str_replace", "StrReplace",
		"StrReplaceFile", "str_replace_editor", "replace_in_file", "search_replace", "apply_diff", "insert_content",
		"developer__text_editor", "text_editor", "replace_file_content", "multi_replace_file_content", "create_new_file", "edit_existing_file", "single_find_and_replace":
		return archive.CallEdit
	case "Read", "NotebookRead",
		"read", "view", "read_file", "read_files", "read_many_files", "ReadFile", "view_image", "view_file":
		return archive.CallRead
	case "Grep", "Glob", "LS",
		"grep", "glob", "ls", "list", "find", "rg", "grep_search", "search_file_content", "file_search", "search_files",
		"list_files", "list_directory", "list_dir", "search_codebase", "find_path", "codebase_search", "SemanticSearch":
		return archive.CallSearch
	case "Task", "Agent",
		"task", "agent", "subagent", "spawn_agent", "spawn_subagent":
		return archive.CallAgent
	case "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TodoWrite", "TodoRead",
		"todowrite", "todoread", "todo_write", "write_todos", "update_todo", "update_plan", "SetTodoList", "TodoList":
		return archive.CallTask
	case "WebFetch", "WebSearch", "web_search", "web_fetch",
		"webfetch", "websearch", "fetch", "google_web_search", "FetchUrl", "FetchURL", "SearchWeb":
		return archive.CallWeb
	}
	return archive.CallOther
}

// isRecall reports whether a tool is one of Strandline's, whose output repeats
// archived sessions.
func isRecall(tool string) bool { return strings.Contains(tool, "strandline") }

// The members of a tool's input that have the same meaning under the names of several
// clients.

func (in input) path() string {
	return in.text("file_path", "notebook_path", "path", "filePath", "absolute_path", "target_file", "filepath", "AbsolutePath", "TargetFile")
}

func (in input) oldText() string {
	return in.text("old_string", "old_source", "oldText", "old_text", "old_str", "oldString", "TargetContent")
}

func (in input) newText() string {
	return in.text("new_string", "new_source", "newText", "new_text", "new_str", "newString", "ReplacementContent")
}

func (in input) content() string { return in.text("content", "file_text", "contents", "CodeContent") }

// hasContent reports whether the input has a file's whole content, which may be empty.
func (in input) hasContent() bool {
	return in.value("content") != nil || in.value("file_text") != nil || in.value("contents") != nil || in.value("CodeContent") != nil
}

// commandOf returns the command line of a shell's input. Several are separated by
// newlines, the arguments of one by spaces.
func (s *scanner) commandOf(in input) string {
	if line := in.text("command", "script", "cmd", "CommandLine"); line != "" {
		return line
	}
	if raw := in.value("commands"); raw != nil {
		return strings.Join(s.texts(raw), "\n")
	}
	return strings.Join(s.texts(in.value("command")), " ")
}
