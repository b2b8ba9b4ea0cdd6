package compact

import (
	"context"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// archived is the archive's copy of the conversation.
type archived struct {
	past      *past            // nil if the archive does not have the session
	steps     map[string]place // of the calls, by the client's ID
	texts     map[string]bool  // textKeys of the prompts and replies
	collected chan selection   // gets a selection that is collected ahead; nil once taken
}

// loadArchived reads the archive's copy of a conversation. For an unknown session
// it returns an empty copy.
func loadArchived(ctx context.Context, src Source, req ReplaceRequest) (*archived, error) {
	a := &archived{steps: map[string]place{}, texts: map[string]bool{}}
	if src == nil || req.Session == "" {
		return a, nil
	}
	p, err := load(ctx, src, req.Session, req.AtLine, text.TokenChars(req.Budget))
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	p.completeWith(req.Messages, req.Redact)
	if err := p.readTasks(ctx, Request{Session: req.Session, AtLine: req.AtLine, Log: req.Log, Redact: req.Redact}); err != nil {
		return nil, err
	}
	p.summary = " " // the record describes the state, as a summary would
	ahead := make(chan selection, 1)
	go func() { ahead <- collectFor(p, req) }() // while the rest of the record is written
	a.past, a.collected = p, ahead
	for i := range p.calls {
		a.steps[p.calls[i].ToolID] = place{p.calls[i].Turn, p.calls[i].Step}
	}
	for _, ps := range [][]archive.Passage{p.prompts, p.passages} {
		for i := range ps {
			if ps[i].Kind == archive.KindPrompt || ps[i].Kind == archive.KindReply {
				a.texts[textKey(ps[i].Text)] = true
			}
		}
	}
	return a, nil
}

// textKeyBytes is the length of a textKey: enough to distinguish texts.
const textKeyBytes = 160

// textKey identifies a text by its first words.
func textKey(s string) string {
	s = s[:min(len(s), 4*textKeyBytes)]
	var key [textKeyBytes]byte
	n := 0
	for word := range strings.FieldsSeq(s) {
		if n > 0 {
			n += copy(key[n:], " ")
		}
		if n += copy(key[n:], word); n == textKeyBytes {
			break
		}
	}
	return string(key[:n])
}

// selection is a view with its candidate entries.
type selection struct {
	view    *view
	entries []*entry
}

func collectFor(p *past, req ReplaceRequest) selection {
	v := newView(p, Request{Session: req.Session, AtLine: req.AtLine, Budget: text.TokenChars(req.Budget), Instructions: req.Instructions})
	v.stateless, v.req.Instructions = true, "" // the record begins with them
	return selection{v, v.collect(nil)}
}

// take returns the candidates. Selecting changes them, so each further call
// collects them again.
func (a *archived) take(req ReplaceRequest) selection {
	if ahead := a.collected; ahead != nil {
		a.collected = nil
		return <-ahead
	}
	return collectFor(a.past, req)
}

// close waits for candidates that were not taken.
func (a *archived) close() {
	if a.collected != nil {
		<-a.collected
	}
}
