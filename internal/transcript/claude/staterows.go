package claude

import "strandline/internal/archive"

// The functions below write or read the rows that a state keeps. A row's session
// is the reader's own and is filled in when it is emitted.

func (c *codec) usage(u *archive.Usage) {
	c.int64(&u.Input)
	c.int64(&u.Output)
	c.int64(&u.CacheRead)
	c.int64(&u.CacheWrite)
}

func (c *codec) ref(p **archive.Ref) {
	has := *p != nil
	if c.bools(&has); !has {
		*p = nil
		return
	}
	if c.reading {
		*p = new(archive.Ref)
	}
	c.strings(&(*p).Session)
	c.ints(&(*p).Turn, &(*p).Step)
}

func walkTurn(c *codec, t *archive.Turn) {
	c.ints(&t.Index, &t.LineFrom, &t.LineTo, &t.Steps)
	c.strings(&t.Title, &t.PromptID)
	c.times(&t.Start, &t.End)
	c.ref(&t.Copy)
}

func (c *codec) step(s *stepState) {
	r := &s.row
	c.hash(&s.key)
	c.ints(&r.Turn, &r.Index, &r.LineFrom, &r.LineTo, &s.seq, &s.calls)
	c.strings(&r.MessageID, &r.Model, &r.Stop)
	c.times(&r.Time)
	c.usage(&r.Usage)
	c.bools(&r.APIError, &r.Sidechain)
	c.ref(&r.Copy)
	list(c, &s.tools, (*codec).hash)
}

func (c *codec) call(s *callState) {
	r := &s.row
	c.ints(&r.Turn, &r.Step, &r.Seq, &r.LineUse, &s.seq)
	kind := string(r.Kind)
	c.strings(&r.ToolID, &r.Name, &kind, &r.Command, &s.brief)
	r.Kind = archive.CallKind(kind)
	list(c, &r.Files, func(c *codec, p *string) { c.strings(p) })
	c.times(&s.time)
	c.strings(&s.task.TaskID, &s.task.Subject, &s.task.Status)
	c.bools(&s.side, &s.copied)
	r.LineResult = -1
	s.batchCall, s.batchPassage = -1, -1
}
