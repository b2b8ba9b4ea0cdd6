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

// fill draws on the transcript where the budget is large and there is one to
// draw on.
func (p *past) fill(ctx context.Context, req Request) error {
	if req.Log == nil || req.Budget < wholeFrom {
		return nil
	}
	from := -1
	for i := range p.passages {
		if p.passages[i].Turn >= 0 && p.passages[i].Partial {
			from = p.passages[i].LineFrom
			break
		}
	}
	if from < 0 {
		return nil
	}
	messages, err := req.Log(ctx, from, req.AtLine)
	if err != nil {
		return err
	}
	p.complete(messages, req.redact())
	return nil
}

// redact is what removes secrets from what the transcript holds.
func (r Request) redact() func(string) string {
	if r.Redact != nil {
		return r.Redact
	}
	return func(s string) string { return s }
}
