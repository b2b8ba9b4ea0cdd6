package recall

import (
	"context"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index/terms"
)

const (
	fetchAnswers = 48   // passages that are read
	maxTried     = 6    // exchanges whose excerpts are checked
	maxAnswers   = 2    // exchanges in the text
	nearBest     = 0.95 // least weight of the second exchange, relative to the first
	answerUnits  = 500  // UTF-16 units of an exchange
	promptWidth  = 130  // characters of an exchange's prompt
	answerWidth  = 300  // characters of its answer
)

// answers returns the exchanges outside the context that answer the prompt's question,
// best first. There are none if it asks nothing, or if no exchange passes the gate.
func answers(ctx context.Context, idx PromptStore, r PromptRequest, seen inContext) (list []candidate, err error) {
	asked := readQuestion(r.Prompt)
	if len(asked.terms) == 0 {
		return nil, nil
	}
	q := archive.Query{
		Terms: asked.terms, Projects: []string{r.Project}, Until: r.Until, Limit: fetchAnswers, Answer: terms.AnswerType(r.Prompt),
	}
	counts, err := idx.Counts(ctx, q)
	if err != nil {
		return nil, err
	}
	g := newRarity(asked, counts)
	if !g.accepts(g.set(func(x weighed) bool { return x.found })) {
		return nil, nil // not even a passage with all terms would be
	}
	q.Terms = g.terms[:g.searched]
	hits, err := idx.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	found := g.exchanges(hits, r, seen)
	least := 0.0
	for i, x := range found {
		if i == maxTried || len(list) == maxAnswers || x.weight < least {
			break
		}
		c, err := g.candidate(ctx, idx, x)
		if err != nil {
			return nil, err
		}
		copied := slices.ContainsFunc(list, func(o candidate) bool { return o.excerpt == c.excerpt })
		// In a long passage the terms can be far apart.
		if !copied && g.accepts(g.match(c.excerpt)) {
			c.units, c.changed = answerUnits, g.laterChange(x, found)
			list, least = append(list, c), nearBest*x.weight
		}
	}
	return list, nil
}

// candidate returns the passage of an exchange that answers, after its prompt. If the
// search found the prompt only, it reads the replies. The excerpt is empty if the prompt
// is a question without a reply.
func (g *rarity) candidate(ctx context.Context, idx PromptStore, x *exchange) (c candidate, err error) {
	if x.answer == nil {
		if x.answer, err = g.readReply(ctx, idx, x.prompt.Passage); err != nil {
			return c, err
		}
	}
	part := func(h *archive.Hit, width int) string {
		s, _ := Snippet(h.Text, g.terms, width)
		return s
	}
	switch {
	case x.answer == nil && x.prompt.Evidence.Question > 0:
		return c, nil
	case x.answer == nil:
		return candidate{Hit: *x.prompt, excerpt: part(x.prompt, promptWidth+answerWidth)}, nil
	case x.prompt == nil:
		return candidate{Hit: *x.answer, excerpt: part(x.answer, answerWidth)}, nil
	}
	return candidate{Hit: *x.answer, excerpt: `to "` + part(x.prompt, promptWidth) + `": ` + part(x.answer, answerWidth)}, nil
}

// readReply returns the reply of a prompt's turn that contains most of the terms, of
// equal ones the last; nil if there is none.
func (g *rarity) readReply(ctx context.Context, idx PromptStore, prompt archive.Passage) (best *archive.Hit, err error) {
	span := archive.Span{Session: prompt.Session, TurnFrom: prompt.Turn, TurnTo: prompt.Turn + 1}
	replies, err := idx.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindReply}})
	most := -1.0
	for _, p := range replies {
		if w := g.weigh(g.match(p.Text)); w >= most && !p.Thinking() {
			best, most = &archive.Hit{Passage: p}, w
		}
	}
	return best, err
}

// laterChange names a later exchange that replaces a value in x: it has all of the
// question's subjects in x, and its prompt corrects. It is empty if there is none.
func (g *rarity) laterChange(x *exchange, all []*exchange) string {
	subject := x.matched & g.subjects()
	for _, y := range all {
		if y.prompt != nil && y.prompt.Evidence.Matched&subject != 0 && subject&^y.matched == 0 &&
			y.time().After(x.time()) && corrects(y.prompt.Text) {
			return ", later changed: " + passageRef(y.prompt.Passage).Handle()
		}
	}
	return ""
}

// maxCorrection is the largest number of words of a prompt that corrects. In a longer one
// the words of a correction can be about something else.
const maxCorrection = 30

// corrects reports whether a prompt replaces an earlier value: "no, use 8444",
// "8444 instead of 8443".
func corrects(prompt string) bool {
	prompt = strings.ToLower(prompt)
	first, _, comma := strings.Cut(prompt, ",")
	return len(strings.Fields(prompt)) <= maxCorrection &&
		(comma && listed(refusals, first) || containsPart(prompt, correctParts, "|") ||
			strings.Contains(prompt, "use ") && strings.Contains(prompt, " instead"))
}
