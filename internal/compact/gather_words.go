package compact

import (
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// prompts adds the last and the first request, whole as far as there is room,
// and those between by worth.
func (c *collector) prompts() {
	if body := strings.TrimSpace(clean(c.req.Instructions)); body != "" {
		c.add(item{section: secAsked, order: -1, must: true, head: "With this /compact: " + text.Truncate(body, max(c.req.Budget/4, 160))})
	}
	turns := c.promptTexts()
	for i, t := range turns {
		last, first := i == len(turns)-1, i == 0
		body := dense(clean(t.text))
		if body == "" || !last && !first && len(body) <= minLineBytes {
			continue // "yes", "go on" and the like belong to what they answered
		}
		it := item{section: secAsked, handle: c.handle(t.turn, -1), order: len(turns) - i + 2}
		limit, label := 320, ""
		switch {
		case last:
			limit, it.order, it.must, it.prior, label = max(c.req.Budget/4, 160), 0, true, 6, "Last: "
		case first:
			limit, it.order, it.prior, label = max(c.req.Budget/12, 120), 1, 4, "First: "
		default:
			it.prior = 0.6 + 2*ago(len(turns)-i, 4)
			if states(body) {
				it.prior += 0.8
			}
		}
		body, rest := clip(body, limit)
		it.head = label + body
		c.rest(c.add(it), rest, it.prior/40)
	}
}

// rest adds the sentences of a text that was clipped.
func (c *collector) rest(it *item, text string, prior float64) {
	sentences(text, func(s string) { c.addLine(it, s, it.handle, prior, minWords) })
}

type promptText struct {
	turn int
	text string
}

func (c *collector) promptTexts() []promptText {
	var out []promptText
	for _, x := range c.past.prompts {
		if n := len(out); n > 0 && out[n-1].turn == x.Turn {
			out[n-1].text += "\n" + x.Text
			continue
		}
		if n := len(out); n > 0 && out[n-1].text == x.Text {
			out = out[:n-1] // sent again, after it was interrupted
		}
		out = append(out, promptText{x.Turn, x.Text})
	}
	return out
}

// answered adds the question that a short last prompt answers: the end of what
// the model had said before it. It returns the reply, "" for none.
func (c *collector) answered() string {
	turns := c.promptTexts()
	if len(turns) < 2 {
		return ""
	}
	last := turns[len(turns)-1]
	if text.Units(last.text) > shortPrompt || strings.HasPrefix(last.text, "/") {
		return ""
	}
	for _, x := range slices.Backward(c.past.passages) {
		if x.Turn >= last.turn || x.Kind != archive.KindReply || x.Label == "thinking" {
			continue
		}
		body := tail(dense(clean(c.short(x.Text))), max(c.req.Budget/24, 100))
		if !strings.HasSuffix(strings.TrimRight(body, "*_`\"')"), "?") {
			break
		}
		c.add(item{section: secStood, order: -1, handle: c.handle(x.Turn, x.Step), head: "Asked before the last prompt: " + body, must: true})
		return x.Text
	}
	return ""
}

// shortPrompt is up to how many units a prompt may answer a question without
// repeating it.
const shortPrompt = 120

// stood adds what was said last and what was done last.
func (c *collector) stood() {
	asked, n := c.answered(), 0
	for i := len(c.past.passages) - 1; i >= 0 && n < 2; i-- {
		x := c.past.passages[i]
		if x.Kind != archive.KindReply || x.Label == "thinking" || x.Text == asked {
			continue
		}
		it := item{section: secStood, order: n, handle: c.handle(x.Turn, x.Step), prior: 5 - 2*float64(n), must: n == 0}
		if c.past.known != "" { // a summary tells where the work stood
			it.prior, it.must = it.prior*knownShare*knownShare, false
		}
		text, rest := clip(dense(clean(c.short(x.Text))), max(c.req.Budget/16, 100))
		it.head = "Said: " + text
		c.rest(c.add(it), rest, 0.1)
		c.said[x.Text] = true
		n++
	}
	if n := len(c.past.calls); n > 0 {
		x := c.past.calls[n-1]
		if act := c.act(x); act != "" && !(x.Failed && x.Kind == archive.CallCommand) { // that is an open error
			c.add(item{section: secStood, order: 10, handle: c.handle(x.Turn, x.Step), head: "Last done: " + act, prior: 2})
		}
	}
}

// lately lists the files that were used last, changed ones aside: those have
// entries of their own.
func (c *collector) lately() {
	edited, seen := map[string]bool{}, map[string]bool{}
	for _, x := range c.past.calls {
		if x.Kind == archive.CallEdit && !x.Failed {
			for _, f := range x.Files {
				edited[f] = true
			}
		}
	}
	var it *item
	for i := len(c.past.calls) - 1; i >= 0; i-- {
		x := c.past.calls[i]
		if x.Kind != archive.CallRead {
			continue
		}
		for _, f := range x.Files {
			if seen[f] || edited[f] {
				continue
			}
			seen[f] = true
			if it == nil {
				it = c.add(item{section: secStood, order: 30, handle: c.handle(x.Turn, x.Step), head: "Other files read, newest first", inline: true, introduces: true})
			}
			c.addLine(it, c.short(oneLine(f)), c.handle(x.Turn, x.Step), 0.2*ago(c.age(x.Turn, x.Step), 20), 0)
		}
	}
}

// replies adds sentences of the model's own words, those with reasons first.
func (c *collector) replies() {
	for i := len(c.past.passages) - 1; i >= 0; i-- {
		x := c.past.passages[i]
		if x.Kind != archive.KindReply || c.said[x.Text] {
			continue
		}
		age := c.age(x.Turn, x.Step)
		it := &item{section: secReasons, order: age, handle: c.handle(x.Turn, x.Step), inline: true}
		it.units = text.Units("- []") + text.Units(it.handle)
		w := ago(age, 30)
		if x.Label == "thinking" {
			w *= 0.7
		}
		sentences(c.short(x.Text), func(s string) {
			l := c.addLine(it, s, it.handle, 0.1*w, minWords)
			switch {
			case l == nil:
			case announces(s) || code(s):
				l.share, l.prior = bareShare, 0
			case reasoned(s):
				l.prior += 0.9 * w
			case narrates(s) || strings.HasSuffix(s, ":"):
				l.share = 0.5
			}
		})
		if len(it.lines) > 0 {
			c.items = append(c.items, it)
		}
	}
}
