package compact

import (
	"context"
	"math"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/text"
)

// index is what the archive knows about the conversation: where its parts stand,
// and what went down with earlier compactions.
type index struct {
	past    *past                  // nil if the archive knows nothing
	calls   map[string]archive.Ref // by the client's id of the call
	replies map[string]archive.Ref // by spokenKey
	prompts []said                 // of the whole session, oldest first
	ahead   func() gathering       // waits for what was gathered ahead, nil once it was taken
}

// maxAsked is how many prompts of a session are read.
const maxAsked = 2000

// openPast reads what the archive knows. A session that it does not know is no
// error: the messages are worth something without it.
func openPast(ctx context.Context, src Source, req ReplaceRequest) (*index, error) {
	x := &index{calls: map[string]archive.Ref{}, replies: map[string]archive.Ref{}}
	if src == nil || req.Session == "" {
		return x, nil
	}
	p, err := load(ctx, src, req.Session, req.AtLine, text.TokenChars(req.Budget))
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return x, nil
	}
	if err != nil {
		return nil, err
	}
	p.complete(req.Messages, req.Redact)
	p.known = " " // the record says where the work stood
	x.past, x.ahead = p, gatherAhead(p, req)
	for i := range p.calls {
		c := &p.calls[i]
		x.calls[c.ToolID] = p.ref(c.Turn, c.Step)
	}
	for i := range p.passages {
		r := &p.passages[i]
		if r.Kind == archive.KindReply {
			x.replies[spokenKey(r.Text)] = p.ref(r.Turn, r.Step)
		}
	}
	if err := x.readPrompts(ctx, src, req); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

func (x *index) readPrompts(ctx context.Context, src Source, req ReplaceRequest) error {
	read := reader{ctx: ctx, src: src, atLine: req.AtLine}
	ps := read.passages(archive.Span{Session: req.Session, BeforeLine: req.AtLine, Newest: true}, maxAsked, archive.KindPrompt)
	dead := read.dead(req.Session, math.MaxInt32, ps)
	if read.err != nil {
		return read.err
	}
	last := -1
	for i := range ps {
		p := &ps[i]
		switch {
		case dead[p.Turn]:
		case p.Turn == last:
			x.prompts[len(x.prompts)-1].text += "\n" + p.Text
		default:
			ref := archive.Ref{Session: req.Session, Turn: p.Turn, Step: -1}
			x.prompts = append(x.prompts, said{handle: ref.Handle(), text: p.Text})
			last = p.Turn
		}
	}
	return nil
}

// keyBytes is as much of a text as tells it from others.
const keyBytes = 160

// spokenKey names a text by its beginning, blanks aside.
func spokenKey(s string) string {
	if len(s) > 4*keyBytes {
		s = s[:4*keyBytes]
	}
	var key [keyBytes]byte
	n := 0
	for word := range strings.FieldsSeq(s) {
		if n > 0 {
			n += copy(key[n:], " ")
		}
		if n += copy(key[n:], word); n == keyBytes {
			break
		}
	}
	return string(key[:n])
}
