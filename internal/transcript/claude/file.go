package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// FileTracker follows the content of a file through the lines of a transcript: results of
// reads, contents of writes, and edits. Its zero value with a Path is ready for use.
type FileTracker struct {
	Path string
	// Content is the file's content if Known.
	Content string
	Known   bool
	// Lost says why a content that was known or edited is not known.
	Lost string
	// Base describes what the content was rebuilt from, and Edits counts the edits applied
	// to that; BaseLine and LastLine are lines of the transcript, -1 for none.
	Base               string
	Edits              int
	BaseLine, LastLine int

	pieces map[int]string // lines of partial reads, from 1
	total  int            // lines of the file, as the reads report it
	uses   map[string]transcript.ToolUse
}

// fileRow is the part of a row that a FileTracker reads.
type fileRow struct {
	Message struct {
		Content []fileBlock `json:"content"`
	} `json:"message"`
	Result json.RawMessage `json:"toolUseResult"`
}

type fileBlock struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"is_error"`
}

// fileResult is the structured result of a call that reads or edits a file.
type fileResult struct {
	File *struct {
		Content   string `json:"content"`
		StartLine int    `json:"startLine"`
		NumLines  int    `json:"numLines"`
		Total     int    `json:"totalLines"`
	} `json:"file"`
	Original *string `json:"originalFile"`
	Old      *string `json:"oldString"`
	New      *string `json:"newString"`
}

// Add reads one line of the transcript. Lines without the file are cheap.
func (t *FileTracker) Add(no int, line []byte) {
	name, _ := json.Marshal(t.Path[strings.LastIndexAny(t.Path, `/\`)+1:])
	if !bytes.Contains(line, name[1:len(name)-1]) && !t.answers(line) {
		return
	}
	for row := range bytes.SplitSeq(line, []byte{transcript.RowSeparator}) {
		t.addRow(no, row)
	}
}

func (t *FileTracker) addRow(no int, line []byte) {
	var row fileRow
	if json.Unmarshal(line, &row) != nil { // also rows whose content is a text
		return
	}
	for _, b := range row.Message.Content {
		switch b.Type {
		case "tool_use":
			if u := ToolUse(b.ID, b.Name, b.Input); u.Path == t.Path {
				if t.uses == nil {
					t.uses = map[string]transcript.ToolUse{}
				}
				t.uses[b.ID] = u
			}
		case "tool_result":
			u, ok := t.uses[b.UseID]
			delete(t.uses, b.UseID)
			if !ok || b.Failed {
				continue
			}
			var result fileResult
			_ = json.Unmarshal(row.Result, &result) // a text if the call failed
			t.apply(no, u, b, result)
		}
	}
}

// answers reports whether a line holds the result of a call that waits for it.
func (t *FileTracker) answers(line []byte) bool {
	for id := range t.uses {
		if bytes.Contains(line, []byte(id)) {
			return true
		}
	}
	return false
}

func (t *FileTracker) apply(no int, u transcript.ToolUse, b fileBlock, r fileResult) {
	switch {
	case u.Kind == archive.CallRead && r.File != nil:
		t.read(no, r.File.Content, r.File.StartLine, r.File.NumLines, r.File.Total)
	case u.Kind == archive.CallRead:
		t.readNumbered(no, u, newScanner().outputText(b.Content))
	case u.Kind != archive.CallEdit:
	case u.Whole:
		t.know(no, u.Content, "a write of the whole file")
		t.LastLine = no
	case len(u.Changes) == 0: // of a notebook's cell
		t.lose(no, "it was changed by "+u.Name)
	default:
		if r.Original != nil && *r.Original != t.Content {
			t.know(no, *r.Original, "the content before an edit")
		}
		changes := u.Changes
		if r.Old != nil && r.New != nil && len(changes) == 1 { // as applied
			changes = []transcript.Change{{Old: *r.Old, New: *r.New, All: changes[0].All}}
		}
		t.edit(no, changes)
	}
}

// know sets the whole content.
func (t *FileTracker) know(no int, content, base string) {
	t.Content, t.Known, t.Lost, t.Base, t.Edits, t.BaseLine, t.LastLine = content, true, "", base, 0, no, no
	t.pieces, t.total = nil, 0
}

// lose drops the content.
func (t *FileTracker) lose(no int, why string) {
	t.Content, t.Known, t.Lost, t.LastLine = "", false, why, no
	t.pieces, t.total = nil, 0
}

// edit applies changes as the client does.
func (t *FileTracker) edit(no int, changes []transcript.Change) {
	if !t.Known {
		t.lose(no, "it was edited before the whole file was read")
		return
	}
	for _, c := range changes {
		old, n := c.Old, 1
		if c.All {
			n = -1
		}
		if c.New == "" && !strings.HasSuffix(old, "\n") && strings.Contains(t.Content, old+"\n") {
			old += "\n" // a deletion takes the end of its line with it
		}
		if !strings.Contains(t.Content, old) || old == "" && t.Content != "" {
			t.lose(no, "an edit does not fit what was read; something else changed the file")
			return
		}
		t.Content = strings.Replace(t.Content, old, c.New, n)
	}
	t.Edits++
	t.LastLine = no
}

// read takes what a read returned: count lines from the line from of a file of total
// lines. An end of line at the end of a file begins one more line, which is empty.
func (t *FileTracker) read(no int, content string, from, count, total int) {
	from = max(from, 1)
	if from == 1 && count == total {
		if !t.Known || t.Content != content {
			t.know(no, content, "a read of the whole file")
		}
		t.LastLine = no
		return
	}
	if t.Known && t.holds(content) {
		t.LastLine = no
		return
	}
	if t.Known || t.total != total || t.pieces == nil {
		t.lose(no, "")
		t.pieces, t.total = map[int]string{}, total
	}
	t.LastLine = no
	for i, line := range strings.SplitN(content, "\n", max(count, 1)) {
		t.pieces[from+i] = line
	}
	if len(t.pieces) < total {
		t.Lost = fmt.Sprintf("only %d of its %d lines were read", len(t.pieces), total)
		return
	}
	lines := make([]string, total)
	for i := range lines {
		lines[i] = t.pieces[i+1]
	}
	t.know(no, strings.Join(lines, "\n"), "reads of all its parts")
}

// holds reports whether lines that were read are part of the known content.
func (t *FileTracker) holds(lines string) bool {
	return strings.Contains("\n"+t.Content+"\n", "\n"+strings.TrimSuffix(lines, "\n")+"\n")
}

// readNumbered takes the text of a read, with its line numbers. Without the structured
// result the number of lines is unknown: the text is the whole file if it begins at line
// 1, nothing limited the read, and nothing was left out.
func (t *FileTracker) readNumbered(no int, u transcript.ToolUse, body string) {
	body = stripReminders(body)
	var lines []string
	for line := range strings.Lines(body) {
		n := text.LineNumberLen(line, len(line))
		if len(line) > maxReadLine {
			t.lose(no, "a line was too long to be read whole")
			return
		}
		if n == 0 {
			if strings.TrimSpace(line) == "" {
				continue
			}
			t.lose(no, "the result of a read is not the file's text")
			return
		}
		lines = append(lines, strings.TrimSuffix(line[n:], "\n"))
	}
	if len(lines) == 0 {
		return
	}
	var first int
	_, _ = fmt.Sscan(strings.TrimSpace(body), &first)
	total := len(lines)
	if first > 1 || u.Line > 0 || total >= maxReadLines {
		total += first + maxReadLines // unknown, and more than these
	}
	t.read(no, strings.Join(lines, "\n"), first, len(lines), total)
}

// The client reads at most so many lines if no limit is given, and so many bytes of each.
const maxReadLines, maxReadLine = 2000, 2000
