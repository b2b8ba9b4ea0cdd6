package compact

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// maxFiles is the number of files in a record. The last ten that were used are
// 77 % of those that a session uses after a compaction.
const maxFiles = 10

// file is the content of a file as far as the conversation shows it.
type file struct {
	path    string
	handle  string // of the last use
	content string
	line    int      // of the first line of content; 0: the content is complete
	kept    bool     // the kept messages show all of it
	pending []string // texts of edits that could not be applied
	order   int      // of the last use
}

// fileTracker follows the files of a conversation.
type fileTracker struct {
	at    map[string]*file
	order int
}

func (t *fileTracker) touch(path, handle string) *file {
	f := t.at[path]
	if f == nil {
		f = &file{path: path}
		t.at[path] = f
	}
	t.order++
	f.order = t.order
	if handle != "" {
		f.handle = handle
	}
	return f
}

// follow applies a call and its result. kept reports that both are among the kept
// messages.
func (t *fileTracker) follow(u *transcript.ToolUse, r *transcript.ToolResult, handle string, kept bool) {
	if u.Path == "" || r == nil || r.Failed {
		return
	}
	f := t.touch(u.Path, handle)
	switch {
	case u.Kind == archive.CallRead:
		f.read(u, r, kept)
	case u.Kind != archive.CallEdit:
	case kept:
		f.kept = f.kept || u.Whole
	case u.Whole:
		*f = file{path: f.path, handle: f.handle, order: f.order, content: u.Content}
	default:
		for _, c := range u.Changes {
			f.apply(c)
		}
	}
}

// read takes the result of a reading tool, unless it is a part of a file whose
// content is complete.
func (f *file) read(u *transcript.ToolUse, r *transcript.ToolResult, kept bool) {
	content, ok := trimLineNumbers(r.Text)
	switch {
	case !ok:
	case kept:
		f.kept = f.kept || u.Line == 0
	case u.Line > 0 && f.content != "" && f.line == 0:
	default:
		f.content, f.line, f.pending = content, u.Line, nil
	}
}

// apply applies an edit.
func (f *file) apply(c transcript.Change) {
	switch {
	case c.Old == "" || !strings.Contains(f.content, c.Old):
		if c.New != "" {
			f.pending = append(f.pending, c.New)
		}
	case c.All:
		f.content = strings.ReplaceAll(f.content, c.Old, c.New)
	default:
		f.content = strings.Replace(f.content, c.Old, c.New, 1)
	}
}

// trimLineNumbers removes the line numbers of a listing. It reports false for any
// other result, such as the notice that a file is unchanged.
func trimLineNumbers(listing string) (string, bool) {
	lines := strings.Split(listing, "\n")
	numbered := false
	for i, l := range lines {
		lines[i] = trimLineNumber(l)
		numbered = numbered || lines[i] != l
	}
	if !numbered {
		return "", false
	}
	for len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "<system-reminder>") || len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n"), true
}

// The labels between a file's path, its content and its later edits.
const (
	labelFrom      = ", from line "
	labelWhole     = ", complete"
	oldLabelWhole  = ", whole" // in records of earlier versions
	labelPending   = "… later edits:"
	labelTruncated = "… (truncated; read the file for the rest)"
)

// addRecorded adds a file from an earlier record.
func (t *fileTracker) addRecorded(q quote) {
	head, content, _ := strings.Cut(q.text, "\n")
	path, line := head, 0
	if p, rest, ok := strings.Cut(head, labelFrom); ok {
		path = p
		if _, err := fmt.Sscanf(rest, "%d", &line); err != nil {
			line = 1
		}
	}
	path = strings.TrimSuffix(strings.TrimSuffix(path, labelWhole), oldLabelWhole)
	if rest, cut := strings.CutSuffix(content, "\n"+labelTruncated); cut {
		content, line = rest, max(line, 1)
	}
	f := t.touch(path, q.handle)
	content, pending, _ := strings.Cut(content, "\n"+labelPending+"\n")
	f.content, f.line = content, line
	if pending != "" {
		f.pending = []string{pending}
	}
}

// recent returns the files used last whose content the kept messages do not show,
// newest first.
func (t *fileTracker) recent() []*file {
	all := slices.SortedFunc(maps.Values(t.at), func(a, b *file) int { return b.order - a.order })
	all = slices.DeleteFunc(all, func(f *file) bool { return f.kept || f.content == "" && len(f.pending) == 0 })
	return all[:min(len(all), maxFiles)]
}

// print returns the path and content of the file in at most budget tokens; false
// if nothing fits. It omits content with a secret: the model would write the
// placeholder back into the file.
func (f *file) print(budget int, redact func(string) string) (quote, bool) {
	body := text.Clean(f.content)
	if len(f.pending) > 0 {
		body += "\n" + labelPending + "\n" + text.Clean(strings.Join(f.pending, "\n…\n"))
	}
	if redact(body) != body {
		return quote{f.handle, f.path + ": contains a secret; read it again before changing it"}, true
	}
	body, cut := truncateTokens(body, budget-text.Tokens(f.path)-2*rowTokens)
	if strings.TrimSpace(body) == "" {
		return quote{}, false
	}
	head := f.path + labelWhole
	if cut || f.line > 0 {
		head = fmt.Sprintf("%s%s%d", f.path, labelFrom, max(f.line, 1))
	}
	if cut {
		body += "\n" + labelTruncated
	}
	return quote{f.handle, head + "\n" + body}, true
}
