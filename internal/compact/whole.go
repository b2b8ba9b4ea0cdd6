package compact

import (
	"context"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

// wholeFrom is the budget in units from which a block draws on the transcript
// itself. The index holds excerpts of long outputs, which is enough for a small
// block; a large one would run out of things to say.
const wholeFrom = 20_000

// thinTimes is how many times its budget a small block has to choose from in the
// index, or it draws on the transcript, too: that of a short session is soon
// read.
const thinTimes = 4

// How much of a transcript is read, in bytes, for a large block and a small one.
const (
	largeLog = 48 << 20
	smallLog = 1 << 20
)

// maxWhole bounds in bytes how much of one output is looked at: its beginning,
// and a quarter of it from its end.
const maxWhole = 64 << 10

// complete puts what the index holds in part back to what the conversation
// holds. Passages that the messages tell nothing of stay as they are.
func (p *past) complete(messages []transcript.Message, redact func(string) string) {
	uses, results := map[string]*transcript.ToolUse{}, map[string]*transcript.ToolResult{}
	for i := range messages {
		m := &messages[i]
		for j := range m.Uses {
			uses[m.Uses[j].ID] = &m.Uses[j]
		}
		for j := range m.Results {
			results[m.Results[j].ID] = &m.Results[j]
		}
	}
	at := 0
	for i := range p.passages {
		x := &p.passages[i]
		if !x.Partial || x.Turn < 0 {
			continue
		}
		var call *archive.Call
		if call, at = p.callOf(x, at); call == nil {
			continue
		}
		if text := wholeText(uses[call.ToolID], results[call.ToolID], x.Kind, call.LineResult >= 0); text != "" {
			head, _, _ := strings.Cut(x.Text, "\n")
			x.Text, x.Partial = head+"\n"+redact(text), false
			p.found = nil
		}
	}
}

// callOf returns the call that a passage tells of, nil if it is not clear which
// it is, and where to go on with the next passage.
func (p *past) callOf(x *archive.Passage, from int) (*archive.Call, int) {
	for from < len(p.calls) && p.calls[from].LineUse < x.LineFrom {
		from++
	}
	var found *archive.Call
	for i := from; i < len(p.calls) && p.calls[i].LineUse == x.LineFrom; i++ {
		c := &p.calls[i]
		if c.Turn != x.Turn || c.Step != x.Step || c.Name != x.Label || c.ToolID == "" {
			continue
		}
		if found != nil {
			return nil, from
		}
		found = c
	}
	return found, from
}

// wholeText is the body of a passage of a kind, in the form the index has it.
func wholeText(u *transcript.ToolUse, r *transcript.ToolResult, kind archive.PassageKind, ended bool) string {
	switch {
	case kind == archive.KindEdit && u != nil:
		var b strings.Builder
		for _, c := range u.Changes {
			b.WriteString("--- old\n" + bounded(c.Old) + "\n+++ new\n" + bounded(c.New) + "\n")
		}
		if u.Content != "" {
			b.WriteString("+++ new\n" + bounded(u.Content) + "\n")
		}
		return strings.TrimRight(b.String(), "\n")
	case kind == archive.KindEdit || r == nil || !ended:
		return ""
	case kind == archive.KindCommand && u != nil:
		_, more, _ := strings.Cut(u.Command, "\n")
		if more != "" {
			more += "\n"
		}
		return bounded(more) + bounded(claude.Content(r.Text))
	}
	return bounded(claude.Content(r.Text))
}

// bounded drops what is in the middle of a very long text.
func bounded(s string) string {
	if len(s) <= maxWhole {
		return s
	}
	head, tail := s[:maxWhole*3/4], s[len(s)-maxWhole/4:]
	if at := strings.LastIndexByte(head, '\n'); at > 0 {
		head = head[:at]
	}
	if at := strings.IndexByte(tail, '\n'); at >= 0 {
		tail = tail[at+1:]
	}
	return strings.ToValidUTF8(head, "") + "\n…\n" + strings.ToValidUTF8(tail, "")
}

// fill draws on the transcript where the budget is large or the index has
// little to choose from.
func (p *past) fill(ctx context.Context, req Request) error {
	most := int64(largeLog)
	if req.Budget < wholeFrom {
		most = smallLog
	}
	if req.Log == nil || req.Budget < wholeFrom && !p.thin(req.Budget) {
		return nil
	}
	for i := range p.passages {
		x := &p.passages[i]
		if x.Turn < 0 || !x.Partial {
			continue
		}
		messages, err := req.Log(ctx, req.Session, x.LineFrom, req.AtLine, most)
		if err == nil {
			p.complete(messages, req.redact())
		}
		return err
	}
	return nil
}

// thin reports whether there is little to choose from for a budget.
func (p *past) thin(budget int) bool {
	n := 0
	for i := range p.passages {
		n += len(p.passages[i].Text)
	}
	return n < thinTimes*budget
}

// redact is what removes secrets from what the transcript holds.
func (r Request) redact() func(string) string {
	if r.Redact != nil {
		return r.Redact
	}
	return func(s string) string { return s }
}
