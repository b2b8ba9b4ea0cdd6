package task

import (
	"strings"

	"strandline/internal/text"
)

// sentences splits prose into sentences and list entries; what stands between
// code fences is left out.
func sentences(body string) (out []string) {
	text.ProseLines(body, func(line string, code bool) {
		if line = text.TrimMarkdown(text.OneLine(line)); code || len(line) < 12 || strings.HasSuffix(line, ":") {
			return
		}
		text.Sentences(line, func(s string) { out = append(out, strings.ReplaceAll(s, "**", "")) })
	})
	return out
}

// signal is what the words of a sentence say for its being a decision, a cause
// or a result. A sentence that only reports progress gives 0.
func signal(s string) (worth float64) {
	s = strings.ToLower(s)
	for _, w := range []string{
		"because", "root cause", "the problem was", "the issue was", "the problem is", "the issue is", "caused by", "turns out",
		"decided", "instead of", "rather than", "so that", "the reason", "the fix", "must ", "never ", "workaround",
	} {
		if strings.Contains(s, w) {
			worth += 1.2
			break
		}
	}
	for _, w := range []string{
		"fixed", "resolved", "passes", "pass now", "passing", "all tests", "now works", "works now", "implemented", "completed",
		"created", "added", "removed", "renamed", "replaced", "updated", "no longer", "merged", "committed", "done",
	} {
		if strings.Contains(s, w) {
			worth += 0.8
			break
		}
	}
	return worth
}

// announces reports whether a sentence only tells what is done next.
func announces(s string) bool {
	for _, p := range []string{
		"Let me", "Let's", "Now ", "I'll", "I will", "I need", "I should", "Good", "Great", "Perfect", "First,", "Next,", "Also ",
		"Looking at", "Let us", "I can see", "I see", "Excellent",
	} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// housekeeping reports whether a command says nothing about the work.
func housekeeping(cmd string) bool {
	for _, p := range []string{"git add", "git status", "git push", "git checkout", "git diff", "git log", "ls", "cat ", "pwd", "echo ", "mkdir ", "chmod ", "sleep "} {
		if strings.HasPrefix(cmd, p) {
			return true
		}
	}
	return strings.HasSuffix(cmd, "|| true")
}

// formality reports whether an error is the client's own, about the use of a
// tool.
func formality(text string) bool {
	for _, s := range []string{"has not been read yet", "has been modified since read", "String to replace not found", "Cancelled: parallel tool call"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// declares reports whether a line of code or of a document introduces a name.
func declares(s string) bool {
	for _, p := range []string{
		"func ", "type ", "class ", "def ", "async def ", "const ", "interface ", "struct ", "enum ", "impl ", "fn ",
		"export ", "public ", "function ", "@", "# ", "## ", "### ", "CREATE ", "pub ",
	} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
