package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// quote is a text and the handle of its place, "" if unknown.
type quote struct {
	handle, text string
}

// history is the content of a conversation that the archive does not have, oldest
// first.
type history struct {
	prompts, replies, actions []quote
}

// readHistory reads the messages that are not kept.
func readHistory(req ReplaceRequest, a *archived, keep []int) *history {
	h := &history{}
	results := map[string]*transcript.ToolResult{}
	for i := range req.Messages {
		for j := range req.Messages[i].Results {
			r := &req.Messages[i].Results[j]
			results[r.ID] = r
		}
	}
	kept := make([]bool, len(req.Messages))
	for _, i := range keep {
		kept[i] = true
	}
	for i := range req.Messages {
		m := &req.Messages[i]
		switch {
		case kept[i]:
			continue
		case m.Record != "":
			h.addRecord(m.Record)
			continue
		case m.Summary:
			h.replies = append(h.replies, quote{text: "Summary of an earlier compaction:\n" + req.Redact(text.Clean(m.Text))})
			continue
		case m.Prompt != "":
			h.prompts = append(h.prompts, quote{text: req.Redact(text.Clean(m.Prompt))})
		case m.Role == "assistant" && strings.TrimSpace(m.Text) != "":
			h.replies = append(h.replies, quote{text: req.Redact(text.Clean(m.Text))})
		}
		for j := range m.Uses {
			if u := &m.Uses[j]; a.past == nil {
				h.actions = append(h.actions, quote{text: req.Redact(text.CleanLine(action(u, results[u.ID])) + written(u, results[u.ID]))})
			}
		}
	}
	if a.past != nil {
		archived := func(q quote) bool { return q.handle != "" || a.texts[textKey(q.text)] }
		h.prompts, h.replies, h.actions = slices.DeleteFunc(h.prompts, archived), slices.DeleteFunc(h.replies, archived), nil
	}
	return h
}

// action describes a call and its result in one line.
func action(u *transcript.ToolUse, r *transcript.ToolResult) string {
	what := u.Name
	if s := cmp.Or(u.Path, u.Command, u.Brief); s != "" {
		what += " " + archive.Clip(text.CleanLine(s), maxLineUnits)
	}
	if r == nil {
		return what + " -> no result"
	}
	return what + " -> " + result(u, r)
}

// maxWritten is the length of an edit's new text that is quoted, in bytes.
const maxWritten = 600

// written returns the new text of a successful edit, below its action.
func written(u *transcript.ToolUse, r *transcript.ToolResult) string {
	if u.Kind != archive.CallEdit || r == nil || r.Failed {
		return ""
	}
	body := u.Content
	for _, c := range u.Changes {
		body += "\n" + c.New
	}
	if body = compactLines(text.Clean(body)); body == "" {
		return ""
	}
	return "\n" + archive.Clip(body, maxWritten)
}

// maxResult is the longest line of a result that is quoted, in bytes.
const maxResult = 160

// result summarizes a result: the reason of a failure, or the number of lines and
// the last of them.
func result(u *transcript.ToolUse, r *transcript.ToolResult) string {
	lines, first, last := 0, "", ""
	for raw := range strings.SplitSeq(r.Text, "\n") {
		if raw = strings.TrimSpace(raw); raw != "" {
			if lines++; first == "" {
				first = text.CleanLine(raw)
			}
			last = raw
		}
	}
	last = text.CleanLine(last)
	switch {
	case lines == 0:
		return "empty"
	case r.Failed:
		return "failed: " + archive.Clip(first, maxResult)
	case u.Kind == archive.CallRead:
		return fmt.Sprintf("%d lines", lines)
	case u.Kind == archive.CallEdit:
		return "ok"
	case lines == 1:
		return archive.Clip(last, maxResult)
	}
	return fmt.Sprintf("%d lines, last: %s", lines, archive.Clip(last, maxResult))
}

// The headings of a record. addRecord recognizes its parts by them.
const (
	headOrder   = "## /compact instructions"
	headPrompts = "## User requests (verbatim, oldest first)"
	headReplies = "## Assistant replies (oldest first)"
	headActions = "## Actions (oldest first)"
)

// currentLine replaces a heading or label that earlier versions wrote.
func currentLine(line string) string {
	switch line {
	case "## Asked by the user (verbatim, oldest first)":
		return headPrompts
	case "## Said by the assistant (oldest first)":
		return headReplies
	case "## Done (oldest first)":
		return headActions
	}
	return line
}

// addRecord adds the content of an earlier record of Strandline. Its first parts are
// the lists below, once each; what follows them is selected again.
func (h *history) addRecord(body string) {
	lists := map[string]*[]quote{headOrder: {}, headPrompts: &h.prompts, headReplies: &h.replies, headActions: &h.actions}
	list := (*[]quote)(nil)
	for raw := range strings.SplitSeq(body, "\n") {
		if strings.HasPrefix(raw, text.FenceClose) {
			break
		}
		switch raw = currentLine(raw); {
		case strings.HasPrefix(raw, "## "):
			if list = lists[raw]; list == nil {
				return
			}
			delete(lists, raw)
		case list == nil:
		case strings.HasPrefix(raw, "- "):
			*list = append(*list, parseQuote(raw[len("- "):]))
		case strings.HasPrefix(raw, "  ") && len(*list) > 0:
			(*list)[len(*list)-1].text += "\n" + raw[len("  "):]
		}
	}
}

// parseQuote parses the first line of a printed quote.
func parseQuote(s string) quote {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		handle, rest, closed := strings.Cut(inner, "]")
		if h, err := archive.ParseHandle(handle); closed && err == nil && h.Turn >= 0 {
			return quote{handle: handle, text: strings.TrimPrefix(rest, " ")}
		}
	}
	return quote{text: s}
}

// bullet returns the quote as a bullet point that addRecord can parse.
func (q quote) bullet() string {
	body := strings.ReplaceAll(q.text, "\n", "\n  ")
	if q.handle == "" {
		return "- " + body + "\n"
	}
	return "- [" + q.handle + "] " + body + "\n"
}

// truncate shortens the quote to about n tokens as printed.
func (q quote) truncate(n int) quote {
	frame := text.Tokens(q.bullet()) - text.Tokens(q.text)
	if body, cut := truncateTokens(q.text, n-frame-1); cut {
		q.text = body + "…"
	}
	return q
}

// truncateTokens shortens s to about n tokens, at a line end if one is near, and
// reports whether it did.
func truncateTokens(s string, n int) (string, bool) {
	head := text.TokenPrefix(s, n)
	if len(head) == len(s) {
		return s, false
	}
	if at := strings.LastIndexByte(head, '\n'); at > len(head)*3/4 {
		head = head[:at]
	}
	return head, true
}
