package task

import (
	"slices"
	"strings"

	"strandline/internal/text"
)

// sentences splits prose into sentences and list entries. It skips code blocks.
func sentences(body string) (out []string) {
	text.ProseLines(body, func(line string, code bool) {
		if line = text.TrimMarkdown(text.OneLine(line)); code || len(line) < 12 || strings.HasSuffix(line, ":") {
			return
		}
		text.Sentences(line, func(s string) { out = append(out, strings.ReplaceAll(s, "**", "")) })
	})
	return out
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// Scores of sentences.
const (
	decisionScore = 1.2 // a decision or a reason
	resultScore   = 0.8
)

// outcomeScore scores a sentence by its words: decisionScore for a decision or a reason,
// plus resultScore for a result; 0 for mere progress.
func outcomeScore(s string) (score float64) {
	s = strings.ToLower(s)
	if containsAny(s, "because", "root cause", "the problem was", "the issue was", "the problem is", "the issue is", "caused by", "turns out",
		"decided", "instead of", "rather than", "so that", "the reason", "the fix", "must ", "never ", "workaround") {
		score += decisionScore
	}
	if containsAny(s, "fixed", "resolved", "passes", "pass now", "passing", "all tests", "now works", "works now", "implemented", "completed",
		"created", "added", "removed", "renamed", "replaced", "updated", "no longer", "merged", "committed", "done") {
		score += resultScore
	}
	return score
}

// isAnnouncement reports whether a sentence only announces the next step.
func isAnnouncement(s string) bool {
	return text.HasAnyPrefix(s, "Let me", "Let's", "Now ", "I'll", "I will", "I need", "I should", "Good", "Great", "Perfect", "First,", "Next,", "Also ",
		"Looking at", "Let us", "I can see", "I see", "Excellent")
}

// isHousekeeping reports whether a command says nothing about the work.
func isHousekeeping(cmd string) bool {
	return strings.HasSuffix(cmd, "|| true") ||
		text.HasAnyPrefix(cmd, "git add", "git status", "git push", "git checkout", "git diff", "git log", "ls", "cat ", "pwd", "echo ", "mkdir ", "chmod ", "sleep ")
}

// isToolMisuse reports whether an error is the client's own, about the use of a tool.
func isToolMisuse(message string) bool {
	return containsAny(message, "has not been read yet", "has been modified since read", "String to replace not found", "Cancelled: parallel tool call")
}

// isDeclaration reports whether a line of code or of a document introduces a name.
func isDeclaration(line string) bool {
	return text.HasAnyPrefix(line, "func ", "type ", "class ", "def ", "async def ", "const ", "interface ", "struct ", "enum ", "impl ", "fn ",
		"export ", "public ", "function ", "@", "# ", "## ", "### ", "CREATE ", "pub ")
}
