package compact

import (
	"context"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/transcript"
	"strandline/internal/transcript/claude"
)

const (
	// largeBudget is the budget, in units, from which passages are completed from
	// the transcript: the index truncates long outputs, and a large text would run
	// out of candidates.
	largeBudget = 20_000
	// sparseFactor is the minimum ratio of loaded text to budget. With less, a
	// smaller text completes its passages as well; such sessions are short.
	sparseFactor = 4
	// largeLog and smallLog limit the transcript bytes read for budgets from and
	// below largeBudget.
	largeLog = 48 << 20
	smallLog = 1 << 20
	// maxOutput limits the bytes used of one output: three quarters from its start,
	// one quarter from its end.
	maxOutput = 64 << 10
)

// complete replaces truncated passages by their full text from the transcript, if
// the budget is large or the loaded text sparse.
func (p *past) complete(ctx context.Context, req Request) error {
	large := req.Budget >= largeBudget
	if req.Log == nil || !large && !p.sparse(req.Budget) {
		return nil
	}
	most := int64(smallLog)
	if large {
		most = largeLog
	}
	first := slices.IndexFunc(p.passages, func(x archive.Passage) bool { return x.Turn >= 0 && x.Partial })
	if first < 0 {
		return nil
	}
	messages, err := req.Log(ctx, req.Session, p.passages[first].LineFrom, req.AtLine, most)
	if err != nil {
		return err
	}
	p.completeWith(messages, req.Redact)
	return nil
}

func (p *past) sparse(budget int) bool {
	n := 0
	for i := range p.passages {
		n += len(p.passages[i].Text)
	}
	return n < sparseFactor*budget
}

// completeWith is complete with the messages of the transcript. A passage whose
// call is not among them stays truncated. A nil redact changes nothing.
func (p *past) completeWith(messages []transcript.Message, redact func(string) string) {
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
		if text := fullText(uses[call.ToolID], results[call.ToolID], x.Kind, call.LineResult >= 0); text != "" {
			head, _, _ := strings.Cut(x.Text, "\n")
			if redact != nil {
				text = redact(text)
			}
			x.Text, x.Partial = head+"\n"+text, false
			p.terms = nil
		}
	}
}

// callOf returns the call of a passage, nil if it is ambiguous, and the index from
// which to search for the next passage's.
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

// fullText returns the body of a passage of the given kind in the form that the
// index stores; "" if it is not known.
func fullText(u *transcript.ToolUse, r *transcript.ToolResult, kind archive.PassageKind, ended bool) string {
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
		return bounded(more) + bounded(claude.ToolOutput(r.Text))
	}
	return bounded(claude.ToolOutput(r.Text))
}

// bounded removes the middle of a text longer than maxOutput, at line ends.
func bounded(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	head, tail := s[:maxOutput*3/4], s[len(s)-maxOutput/4:]
	if at := strings.LastIndexByte(head, '\n'); at > 0 {
		head = head[:at]
	}
	if at := strings.IndexByte(tail, '\n'); at >= 0 {
		tail = tail[at+1:]
	}
	return strings.ToValidUTF8(head, "") + "\n…\n" + strings.ToValidUTF8(tail, "")
}
