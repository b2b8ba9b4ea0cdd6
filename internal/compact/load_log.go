package compact

import (
	"context"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
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
	if err := p.readTasks(ctx, req); err != nil {
		return err
	}
	large := req.Budget >= largeBudget
	if req.Log == nil {
		return nil
	}
	if !large && !p.sparse(req.Budget) {
		return p.completeError(ctx, req)
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

const (
	// maxCommands is how many slash commands are expanded, the newest ones.
	maxCommands = 3
	// mergeLines is the distance up to which parts of the log are read at once: each
	// reading decodes a frame.
	mergeLines = 64
)

// readTasks reads the texts that state the session's task and that the index lacks or
// truncates: the expansions of slash commands, and the plan.
func (p *past) readTasks(ctx context.Context, req Request) error {
	p.expansions = map[int]string{}
	if req.Log == nil {
		return nil
	}
	var commands []archive.Passage
	var parts []lineRange
	for _, x := range slices.Backward(p.prompts) {
		if strings.HasPrefix(x.Text, "/") && x.Turn >= 0 && (req.AtLine == 0 || x.LineTo < req.AtLine) && len(commands) < maxCommands {
			commands = append(commands, x)
			parts = append(parts, lineRange{max(x.LineFrom-1, 0), x.LineTo + 1}) // the command's row or its expansion's may be the prompt
		}
	}
	if p.plan != nil && p.plan.Partial {
		parts = append(parts, lineRange{p.plan.LineFrom, p.plan.LineTo})
	}
	for _, part := range mergeRanges(parts) {
		messages, err := req.Log(ctx, req.Session, part.from, part.to, smallLog)
		if err != nil {
			return err
		}
		for _, x := range commands {
			name, _, _ := strings.Cut(x.Text, " ")
			for _, m := range messages {
				if x.LineFrom >= part.from && x.LineTo <= part.to && m.Expansion != "" && (m.Prompt == x.Text || strings.Contains(m.Text, name)) {
					p.expansions[x.Turn] = redacted(text.Clean(m.Expansion), req.Redact)
				}
			}
		}
		p.completePlan(messages, req.Redact)
	}
	return nil
}

// lineRange is the lines [from, to) of a transcript.
type lineRange struct{ from, to int }

// mergeRanges returns the ranges in order, those near each other as one.
func mergeRanges(ranges []lineRange) []lineRange {
	slices.SortFunc(ranges, func(a, b lineRange) int { return a.from - b.from })
	var out []lineRange
	for _, r := range ranges {
		if n := len(out); n > 0 && r.from-out[n-1].to < mergeLines {
			out[n-1].to = max(out[n-1].to, r.to)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// completePlan replaces a truncated plan by its full text if the messages have it.
func (p *past) completePlan(messages []transcript.Message, redact func(string) string) {
	if p.plan == nil || !p.plan.Partial {
		return
	}
	id := ""
	for _, m := range messages { // a call precedes its result
		for _, u := range m.Uses {
			if u.Path == p.plan.Paths[0] {
				id = u.ID
			}
		}
		for _, r := range m.Results {
			if id != "" && r.ID == id {
				head, _, _ := strings.Cut(p.plan.Text, "\n")
				p.plan.Text, p.plan.Partial = head+"\n"+redacted(bounded(claude.ToolOutput(r.Text)), redact), false
			}
		}
	}
}

// completeError replaces the output of the newest open error by its full text, if the
// index truncates it. The terms stay those of the excerpts.
func (p *past) completeError(ctx context.Context, req Request) error {
	open := p.openFailures()
	if len(open) == 0 {
		return nil
	}
	for _, o := range p.passagesAt(place{open[0].Turn, open[0].Step}) {
		if o.Kind != archive.KindCommand || !o.Partial || o.Turn < 0 {
			continue
		}
		messages, err := req.Log(ctx, req.Session, o.LineFrom, o.LineTo, smallLog)
		if err != nil {
			return err
		}
		terms := p.terms
		p.completeWith(messages, req.Redact)
		p.terms = terms
	}
	return nil
}

// redacted applies redact, which may be nil.
func redacted(s string, redact func(string) string) string {
	if redact == nil {
		return s
	}
	return redact(s)
}

// isPlan reports whether a passage is the content of a document that plans the work.
func isPlan(x archive.Passage) bool {
	return len(x.Paths) == 1 && strings.HasSuffix(x.Paths[0], ".md") && strings.Contains(strings.ToLower(x.Paths[0]), "plan") && x.Label == "Read"
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
		if full := fullText(uses[call.ToolID], results[call.ToolID], x.Kind, call.LineResult >= 0); full != "" {
			head, _, _ := strings.Cut(x.Text, "\n")
			x.Text, x.Partial = head+"\n"+redacted(full, redact), false
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
