package compact

import (
	"context"
	"math"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// archived is the archive's copy of the conversation: the handles of its parts, and
// the prompts that earlier compactions removed.
type archived struct {
	past      *past             // nil if the archive does not have the session
	calls     map[string]string // handles by the client's ID of the call
	replies   map[string]string // handles by textKey
	prompts   []quote           // of the whole session, oldest first
	collected chan selection    // gets a selection that is collected ahead; nil once taken
}

// maxSessionPrompts is how many prompts of a session are read.
const maxSessionPrompts = 2000

// loadArchived reads the archive's copy of a conversation. For an unknown session
// it returns an empty copy.
func loadArchived(ctx context.Context, src Source, req ReplaceRequest) (*archived, error) {
	a := &archived{calls: map[string]string{}, replies: map[string]string{}}
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
	p.summary = " " // the record describes the state, as a summary would
	ahead := make(chan selection, 1)
	go func() { ahead <- collectFor(p, req) }() // while the rest of the record is written
	a.past, a.collected = p, ahead
	for i := range p.calls {
		c := &p.calls[i]
		a.calls[c.ToolID] = p.ref(c.Turn, c.Step).Handle()
	}
	for i := range p.passages {
		if r := &p.passages[i]; r.Kind == archive.KindReply {
			a.replies[textKey(r.Text)] = p.ref(r.Turn, r.Step).Handle()
		}
	}
	if err := a.loadPrompts(ctx, src, req); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *archived) loadPrompts(ctx context.Context, src Source, req ReplaceRequest) error {
	read := rowReader{ctx: ctx, src: src, atLine: req.AtLine}
	ps := read.passages(archive.Span{Session: req.Session, BeforeLine: req.AtLine, Newest: true}, maxSessionPrompts, archive.KindPrompt)
	dead := read.deadTurns(req.Session, math.MaxInt32, ps)
	if read.err != nil {
		return read.err
	}
	last := -1
	for i := range ps {
		p := &ps[i]
		switch {
		case dead[p.Turn]:
		case p.Turn == last:
			a.prompts[len(a.prompts)-1].text += "\n" + p.Text
		default:
			ref := archive.Ref{Session: req.Session, Turn: p.Turn, Step: -1}
			a.prompts = append(a.prompts, quote{handle: ref.Handle(), text: p.Text})
			last = p.Turn
		}
	}
	return nil
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
