package app

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"strandline/internal/compact"
	"strandline/internal/transcript"
)

// unified returns changes of a file in unified form, and the number of lines that they
// add and remove. The hunks have no line numbers: a transcript holds only the text.
func unified(path string, changes []transcript.Change) (text string, added, removed int) {
	var b strings.Builder
	b.WriteString("--- " + path + "\n+++ " + path + "\n")
	for _, c := range changes {
		_, hunks, _ := bytes.Cut(diff.Diff("", wholeLines(c.Old), "", wholeLines(c.New)), []byte("\n@@"))
		for line := range strings.Lines("@@" + string(hunks)) {
			switch line[0] {
			case '@':
				line = "@@\n"
			case '+':
				added++
			case '-':
				removed++
			}
			b.WriteString(line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), added, removed
}

// passageChanges returns the changes in the passage of an edit, as far as it holds their text.
// Its first line names the tool and the file.
func passageChanges(passage string) (list []transcript.Change) {
	_, body, more := strings.Cut(passage, "\n")
	if !more {
		return nil
	}
	for i, part := range strings.Split("\n"+body, "\n--- old\n") {
		before, after, both := strings.Cut("\n"+part, "\n+++ new\n")
		before = strings.TrimPrefix(before, "\n")
		if i == 0 && !both { // a file that is written whole
			before, after = "", before
		}
		if before+after != "" {
			list = append(list, transcript.Change{Old: before, New: after})
		}
	}
	return list
}

// wholeLines returns a text that is empty or ends with a newline.
func wholeLines(s string) []byte {
	if s == "" || strings.HasSuffix(s, "\n") {
		return []byte(s)
	}
	return []byte(s + "\n")
}

// maxFunctions is the most functions that are named for a change.
const maxFunctions = 6

// changedFunctions returns the functions and types that a change in unified form declares
// or, as far as the hunks show, is in.
func changedFunctions(diff string) (names []string) {
	in := ""
	for i, line := range strings.Split(diff, "\n") {
		if i < 2 || line == "" || line == "@@" || line == " }" {
			in = ""
			continue
		}
		if name := compact.DeclaredName(line[1:]); name != "" {
			in = name
		}
		if in != "" && line[0] != ' ' && !slices.Contains(names, in) && len(names) < maxFunctions {
			names = append(names, in)
		}
	}
	return names
}
