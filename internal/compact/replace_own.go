package compact

import (
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// The headings of a record, by which its parts are known again.
const (
	headOrder   = "## With this /compact"
	headPrompts = "## Asked by the user (verbatim, oldest first)"
	headFiles   = "## Files, as last seen"
	headReplies = "## Said by the assistant (oldest first)"
	headDone    = "## Done (oldest first)"
	headMore    = "## More from the record"
)

// isOwn reports whether a text is a record that stands for a conversation.
func isOwn(body string) bool {
	at := strings.Index(body, text.FenceOpen)
	return at >= 0 && strings.Contains(body[at:min(len(body), at+1024)], text.ReplacementOpening)
}

// readOwn takes a record apart into what it told.
func readOwn(body string) (st story) {
	var list *[]said
	for raw := range strings.SplitSeq(body, "\n") {
		switch {
		case strings.HasPrefix(raw, text.FenceClose):
			return st
		case raw == headPrompts:
			list = &st.prompts
		case raw == headFiles:
			list = &st.carried
		case raw == headReplies:
			list = &st.replies
		case raw == headDone:
			list = &st.done
		case strings.HasPrefix(raw, "## "):
			list = nil
		case list == nil:
		case strings.HasPrefix(raw, "- "):
			*list = append(*list, readSaid(raw[len("- "):]))
		case strings.HasPrefix(raw, "  ") && len(*list) > 0:
			(*list)[len(*list)-1].text += "\n" + raw[len("  "):]
		}
	}
	return st
}

// readSaid reads the first line of an entry.
func readSaid(s string) said {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		handle, rest, closed := strings.Cut(inner, "]")
		if h, err := archive.ParseHandle(handle); closed && err == nil && h.Turn >= 0 {
			return said{handle: handle, text: strings.TrimPrefix(rest, " ")}
		}
	}
	return said{text: s}
}

// entry writes a said text so that readOwn finds it again.
func (s said) entry() string {
	text := strings.ReplaceAll(s.text, "\n", "\n  ")
	if s.handle == "" {
		return "- " + text + "\n"
	}
	return "- [" + s.handle + "] " + text + "\n"
}
