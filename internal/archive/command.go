package archive

import (
	"slices"
	"strings"
)

// CommandKey returns the part of a shell command that is the same in every run: the
// first line without leading cd commands, redirections, pipes and trailing echo commands.
func CommandKey(cmd string) string {
	cmd, _, _ = strings.Cut(cmd, "\n")
	cmd = CommandText(cmd)
	for _, end := range []string{" 2>&1", " | ", " > ", "; echo", " && echo"} {
		if at := strings.Index(cmd, end); at > 0 {
			cmd = cmd[:at]
		}
	}
	return strings.TrimSpace(cmd)
}

// CommandText returns a shell command on one line, without leading cd commands.
func CommandText(cmd string) string {
	for strings.HasPrefix(cmd, "cd ") {
		_, rest, ok := strings.Cut(cmd, "&&")
		if !ok {
			break
		}
		cmd = strings.TrimSpace(rest)
	}
	return strings.Join(strings.Fields(cmd), " ")
}

// Subject identifies the subject of a call, to match a failure with the call that fixed
// it: the file, or the command without its options. It is "" if there is none.
func Subject(c Call) string {
	if c.Kind != CallCommand {
		if len(c.Files) > 0 {
			return string(c.Kind) + " " + c.Files[0]
		}
		return ""
	}
	key := CommandKey(c.Command)
	if at := strings.LastIndex(key, "git "); at == 0 || at > 0 && key[at-1] == ' ' {
		// An interrupted rebase continues with other options.
		if verb, _, _ := strings.Cut(key[at+len("git "):], " "); verb != "" && verb[0] >= 'a' && verb[0] <= 'z' {
			return "git " + verb
		}
	}
	return key
}

// checkWords is the number of leading words that name the action of a command: a program,
// its runner and a script's name.
const checkWords = 5

// IsCheck reports whether a command tests or builds something, by the names and first
// arguments of its programs. Quoted text and programs that only show or move files do not
// count.
func IsCheck(cmd string) bool {
	for part := range strings.FieldsFuncSeq(unquoted(cmd), func(r rune) bool { return r == '&' || r == ';' || r == '|' || r == '\n' }) {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") { // variables
			words = words[1:]
		}
		if len(words) == 0 || showsOrMoves(words[0]) {
			continue
		}
		if slices.ContainsFunc(words[:min(len(words), checkWords)], namesCheck) {
			return true
		}
	}
	return false
}

// namesCheck reports whether a part of a word, such as "test" in "test:unit", names a
// test or a build.
func namesCheck(word string) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(word), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch part {
		case "test", "tests", "pytest", "build", "lint", "vet", "check", "make", "cargo", "tsc", "compile", "mypy", "ruff", "gradle", "mvn",
			"golangci", "typecheck", "vitest", "jest", "eslint", "clippy", "tox", "nox", "rspec", "phpunit", "bazel", "ctest", "cmake", "ninja":
			return true
		}
	}
	return false
}

// unquoted returns a command without its quoted parts.
func unquoted(cmd string) string {
	if !strings.ContainsAny(cmd, "\"'") {
		return cmd
	}
	out := make([]byte, 0, len(cmd))
	var quote byte
	for i := 0; i < len(cmd); i++ {
		switch c := cmd[i]; {
		case quote != 0 && c == '\\' && quote == '"':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// showsOrMoves reports whether a program only shows, searches or moves files.
func showsOrMoves(program string) bool {
	switch program {
	case "git", "gh", "grep", "rg", "ag", "cat", "ls", "sed", "awk", "head", "tail", "find", "echo", "printf", "cd", "jq", "curl", "wget", "wc",
		"mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "tree", "diff", "sort", "which", "less", "pwd", "test", "[":
		return true
	}
	return false
}

// IsAgentTool reports whether a passage's label names a tool that starts sub-agents.
func IsAgentTool(label string) bool { return label == "Agent" || label == "Task" }

// AgentCall splits the first line of such a tool's passage, "Task <type> ·
// <description> · <prompt>". Missing parts are "".
func AgentCall(line, label string) (agentType, description string) {
	parts := strings.SplitN(strings.TrimSpace(strings.TrimPrefix(line, label)), " · ", 3)
	if len(parts) > 1 {
		description = parts[1]
	}
	return parts[0], description
}
