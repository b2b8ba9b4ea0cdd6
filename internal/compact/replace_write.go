package compact

import (
	"context"
	"slices"
	"sort"
	"strings"

	"strandline/internal/text"
)

// minPrompt is the smallest useful size of a prompt in tokens.
const minPrompt = 40

// recordWriter writes the parts of a record, each within its share of the budget.
type recordWriter struct {
	printer
	budget int // tokens left
}

// write writes the whole record.
func (w *recordWriter) write(ctx context.Context, h *history, a *archived, req ReplaceRequest, keep []int) {
	if body := strings.TrimSpace(req.Redact(text.Clean(req.Instructions))); body != "" {
		body, _ = truncateTokens(body, w.budget/2)
		w.part(headOrder, []quote{{text: body}})
	}
	w.part(headPrompts, fitPrompts(h.prompts, w.budget*sharePrompts/100))
	if a.past != nil {
		w.part(headReplies, fitNewest(h.replies, w.budget/4, true))
		w.writeSelection(ctx, a, req, keep)
		return
	}
	w.part(headReplies, fitNewest(h.replies, w.budget/2, true))
	w.part(headActions, fitNewest(h.actions, w.budget, false))
}

// part writes quotes below a heading.
func (w *recordWriter) part(head string, all []quote) {
	if len(all) == 0 {
		return
	}
	w.WriteString(head + "\n")
	w.budget -= text.Tokens(head) + 1
	for _, q := range all {
		w.note(q.handle)
		body := q.bullet()
		w.budget -= text.Tokens(body)
		w.WriteString(body)
	}
}

// fitPrompts returns all prompts if they fit into budget tokens. Otherwise it
// truncates the longest ones, all to the same length; if that is too short it
// returns the first prompt and the newest.
func fitPrompts(all []quote, budget int) []quote {
	limit, total := 0, 0
	sizes := make([]int, len(all))
	for i := range all {
		sizes[i] = text.Tokens(all[i].bullet())
		total += sizes[i]
		limit = max(limit, sizes[i])
	}
	if total <= budget {
		return all
	}
	low := sort.Search(limit, func(n int) bool { // the largest limit at which all fit
		sum := 0
		for _, size := range sizes {
			sum += min(size, n+1)
		}
		return sum > budget
	})
	if low >= minPrompt {
		out := slices.Clone(all)
		for i := range out {
			out[i] = out[i].truncate(low)
		}
		return out
	}
	out := fitNewest(all[1:], budget-min(sizes[0], minPrompt), true)
	return append([]quote{all[0].truncate(minPrompt)}, out...)
}

// fitNewest returns the newest quotes that fit, oldest first. With truncate, each
// is shortened to a third of the budget.
func fitNewest(all []quote, budget int, truncate bool) []quote {
	var out []quote
	third := max(budget/3, minPrompt)
	for _, q := range slices.Backward(all) {
		if truncate {
			q = q.truncate(third)
		}
		n := text.Tokens(q.bullet())
		if n > budget {
			break
		}
		budget -= n
		out = append(out, q)
	}
	slices.Reverse(out)
	return out
}

const (
	// leftTokens estimates the line that counts the entries left out.
	leftTokens = 12
	// selectPercent of the remaining budget goes to the selection, because
	// characters other than ASCII take more tokens.
	selectPercent = 96
)

// writeSelection fills the rest of the budget with the archived lines of the highest
// score that the new conversation lacks. The selector counts characters: if
// the result takes too many tokens, it selects again with less.
func (w *recordWriter) writeSelection(ctx context.Context, a *archived, req ReplaceRequest, keep []int) {
	present, kept := w.String()+keptText(req, keep), keptStatements(req, keep, a.past)
	budget := text.TokenChars(w.budget-leftTokens) * selectPercent / 100
	for range 3 {
		if budget < minLine || ctx.Err() != nil {
			return
		}
		body, handles, left := a.take(req).fill(present, kept, budget)
		body = req.Redact(body) // rules may be newer than the index
		n := text.Tokens(body) + leftTokens
		if n > w.budget {
			budget = budget * w.budget / n * selectPercent / 100
			continue
		}
		if body == "" {
			return
		}
		for _, h := range handles {
			w.note(h)
		}
		w.WriteString(body)
		w.budget -= n
		if left > 0 {
			w.WriteString(text.Count(left, "more item") + " omitted.\n")
		}
		return
	}
}

// fill selects entries within budget units. present is the text of the rest of the
// new conversation, kept holds the statements of the messages that are kept.
func (s selection) fill(present string, kept map[string]bool, budget int) (body string, handles []string, left int) {
	s.view.score(present)
	for _, e := range s.entries {
		e.lines = slices.DeleteFunc(e.lines, func(l *line) bool { return kept[l.text] })
	}
	return newSelector(s.view, RoleNone.layout(), budget).pick(s.entries)
}

// keptStatements returns the statements in the replies that are kept.
func keptStatements(req ReplaceRequest, keep []int, p *past) map[string]bool {
	kept := map[string]bool{}
	for _, i := range keep {
		if m := &req.Messages[i]; m.Role == "assistant" {
			statements(p.short(text.Clean(m.Text)), nil, func(s statement) { kept[s.text] = true })
		}
	}
	return kept
}

// keptText returns the text of the kept messages.
func keptText(req ReplaceRequest, keep []int) string {
	var b strings.Builder
	for _, i := range keep {
		m := &req.Messages[i]
		b.WriteString(m.Text + "\n")
		for j := range m.Uses {
			b.Write(m.Uses[j].Input)
			b.WriteByte('\n')
		}
		for j := range m.Results {
			b.WriteString(m.Results[j].Text + "\n")
		}
	}
	return b.String()
}
