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
	for _, words := range programs(unquoted(cmd)) {
		if showsOrMoves(words[0]) {
			continue
		}
		if slices.ContainsFunc(words[:min(len(words), checkWords)], namesCheck) {
			return true
		}
	}
	return false
}

// programs splits a shell command into its programs with their arguments, without
// leading assignments.
func programs(cmd string) (list [][]string) {
	for part := range strings.FieldsFuncSeq(cmd, func(r rune) bool { return r == '&' || r == ';' || r == '|' || r == '\n' }) {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		if len(words) > 0 {
			list = append(list, words)
		}
	}
	return list
}

// MayChange reports whether a command that names a file may change it. It is false if
// each program that names the file only shows it, stages it or checks it.
func MayChange(cmd, file string) bool {
	plain := strings.ReplaceAll(unquoted(cmd), "2>&1", "")
	quoted := !strings.Contains(plain, file)
	for _, words := range programs(plain) {
		if all := strings.Join(words, " "); (quoted || strings.Contains(all, file)) && !onlyReads(words, all) {
			return true
		}
	}
	return false
}

// onlyReads reports whether a program, all with its arguments, changes no file of a work tree.
func onlyReads(words []string, all string) bool {
	option := func(name string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, name) })
	}
	if strings.Contains(strings.NewReplacer("2>/dev/null", "", ">/dev/null", "", "> /dev/null", "").Replace(all), ">") {
		return false
	}
	switch words[0] {
	case "git":
		verb := ""
		if len(words) > 1 {
			verb = words[1]
		}
		switch verb {
		case "checkout", "restore", "apply", "am", "reset", "revert", "rm", "mv", "stash", "clean", "merge", "pull", "rebase", "cherry-pick", "switch":
			return false
		}
		return true
	case "sed", "perl":
		return words[0] == "sed" && !option("-i") && !option("--in-place")
	case "find":
		return !option("-delete") && !option("-exec")
	case "rm", "cp", "mv", "touch", "chmod", "ln":
		return false
	case "go":
		return len(words) > 1 && words[1] != "fmt" && words[1] != "generate" && words[1] != "fix"
	}
	if option("--fix") || option("--write") || option("-w") {
		return false
	}
	return showsOrMoves(words[0]) || slices.ContainsFunc(words[:min(len(words), checkWords)], namesCheck)
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
func IsAgentTool(label string) bool {
	return slices.Contains([]string{"Agent", "Task", "task", "agent", "subagent", "spawn_agent", "spawn_subagent"}, label)
}

// AgentCall splits the first line of such a tool's passage, "Task <type> ·
// <description> · <prompt>". Missing parts are "".
func AgentCall(line, label string) (agentType, description string) {
	parts := strings.SplitN(strings.TrimSpace(strings.TrimPrefix(line, label)), " · ", 3)
	if len(parts) > 1 {
		description = parts[1]
	}
	return parts[0], description
}
