package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
)

// maxFiles is how many files a record holds. The last ten that were used are
// 77 % of those that a session uses after a compaction.
const maxFiles = 10

// file is what is known of a file's content.
type file struct {
	path    string
	handle  string // where it was seen last
	content string
	line    int  // first line of content, 0: the content is whole
	stands  bool // the kept messages show it whole
	changed int
	later   []string // what edits brought in that could not be applied
	order   int      // of the last use
}

// files follows what the files of a conversation hold.
type files struct {
	at    map[string]*file
	order int
}

func (fs *files) touch(path, handle string) *file {
	f := fs.at[path]
	if f == nil {
		f = &file{path: path}
		fs.at[path] = f
	}
	fs.order++
	f.order = fs.order
	if handle != "" {
		f.handle = handle
	}
	return f
}

// see follows a call and its result. kept says that it stands in the new
// conversation as it is.
func (fs *files) see(u *transcript.ToolUse, r *transcript.ToolResult, handle string, kept bool) {
	if u.Path == "" || r == nil || r.Failed {
		return
	}
	f := fs.touch(u.Path, handle)
	switch {
	case u.Kind == archive.CallRead:
		f.read(u, r, kept)
	case u.Kind != archive.CallEdit:
	case kept:
		f.stands = f.stands || u.Whole
	case u.Whole:
		*f = file{path: f.path, handle: f.handle, order: f.order, changed: f.changed + 1, content: u.Content}
	default:
		f.changed++
		for _, c := range u.Changes {
			f.apply(c)
		}
	}
}

// read takes what a reading tool gave. A part of a file that is known whole
// tells nothing new.
func (f *file) read(u *transcript.ToolUse, r *transcript.ToolResult, kept bool) {
	text, ok := unlisted(r.Text)
	switch {
	case !ok:
	case kept:
		f.stands = f.stands || u.Line == 0
	case u.Line > 0 && f.content != "" && f.line == 0:
	default:
		f.content, f.line, f.later = text, u.Line, nil
	}
}

// apply changes the content as an edit did.
func (f *file) apply(c transcript.Change) {
	switch {
	case c.Old == "" || !strings.Contains(f.content, c.Old):
		if c.New != "" {
			f.later = append(f.later, c.New)
		}
	case c.All:
		f.content = strings.ReplaceAll(f.content, c.Old, c.New)
	default:
		f.content = strings.Replace(f.content, c.Old, c.New, 1)
	}
}

// unlisted takes the numbers off a listing. It reports false for an answer that
// is no listing, such as one that says that nothing has changed.
func unlisted(text string) (string, bool) {
	lines := strings.Split(text, "\n")
	numbered := 0
	for i, l := range lines {
		if s := unnumber(l); s != l {
			lines[i] = s
			numbered++
		}
	}
	if numbered == 0 {
		return "", false
	}
	for len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "<system-reminder>") || len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n"), true
}

// Marks between a file's path and its content, which is told under them.
const (
	markFrom  = ", from line "
	markWhole = ", whole"
	markLater = "… and written into it since:"
	markCut   = "… (cut; read the file for the rest)"
)

// carry takes a file as a record before told it.
func (fs *files) carry(s said) {
	head, content, _ := strings.Cut(s.text, "\n")
	path, line := head, 0
	if p, rest, ok := strings.Cut(head, markFrom); ok {
		path = p
		if _, err := fmt.Sscanf(rest, "%d", &line); err != nil {
			line = 1
		}
	}
	path = strings.TrimSuffix(path, markWhole)
	if rest, cut := strings.CutSuffix(content, "\n"+markCut); cut {
		content, line = rest, max(line, 1)
	}
	f := fs.touch(path, s.handle)
	content, later, _ := strings.Cut(content, "\n"+markLater+"\n")
	f.content, f.line = content, line
	if later != "" {
		f.later = []string{later}
	}
}

// last returns the files that were used last and whose content does not stand in
// the kept messages, newest first.
func (fs *files) last() []*file {
	var all []*file
	for _, f := range fs.at {
		if !f.stands && (f.content != "" || len(f.later) > 0) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *file) int { return b.order - a.order })
	return all[:min(len(all), maxFiles)]
}

// entry tells the file within room tokens. What was redacted is not told: it
// would be written back with the placeholder in it.
func (f *file) entry(room int, redact func(string) string) (said, bool) {
	text := clean(f.content)
	if len(f.later) > 0 {
		text += "\n" + markLater + "\n" + clean(strings.Join(f.later, "\n…\n"))
	}
	if redact(text) != text {
		return said{f.handle, f.path + ": it holds a secret, so read it again before changing it"}, true
	}
	text, cut := cutTokens(text, room-tokens(f.path)-2*rowTokens)
	if strings.TrimSpace(text) == "" {
		return said{}, false
	}
	head := f.path + markWhole
	if cut || f.line > 0 {
		head = fmt.Sprintf("%s%s%d", f.path, markFrom, max(f.line, 1))
	}
	if cut {
		text += "\n" + markCut
	}
	return said{f.handle, head + "\n" + text}, true
}

// doing says in one line what a call did and how it ended.
func doing(u *transcript.ToolUse, r *transcript.ToolResult) string {
	what := u.Name
	if s := cmp.Or(u.Path, u.Command, u.Brief); s != "" {
		what += " " + archive.Clip(oneLine(s), maxLineUnits)
	}
	if r == nil {
		return what + " -> no result"
	}
	return what + " -> " + ending(u, r)
}

// ending is the line of a result that matters: why it failed, or how much there
// was and how it ended.
func ending(u *transcript.ToolUse, r *transcript.ToolResult) string {
	lines, first, last := 0, "", ""
	for raw := range strings.SplitSeq(r.Text, "\n") {
		if raw = strings.TrimSpace(raw); raw != "" {
			if lines++; first == "" {
				first = oneLine(raw)
			}
			last = raw
		}
	}
	last = oneLine(last)
	switch {
	case lines == 0:
		return "nothing"
	case r.Failed:
		return "failed: " + archive.Clip(first, maxEnding)
	case u.Kind == archive.CallRead:
		return fmt.Sprintf("%d lines", lines)
	case u.Kind == archive.CallEdit:
		return "ok"
	case lines == 1:
		return archive.Clip(last, maxEnding)
	}
	return fmt.Sprintf("%d lines, last: %s", lines, archive.Clip(last, maxEnding))
}

// maxEnding is the most of a result's line that is told, in bytes.
const maxEnding = 160
