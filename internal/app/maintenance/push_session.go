package maintenance

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"strandline/internal/archive"
)

// batchBytes is how much text one transaction brings: a lost connection costs that.
const batchBytes = 4 << 20

// session brings what is new of one session: its rows that end behind the lines
// that the team's archive knows.
func (p Push) session(ctx context.Context, s archive.Session, pushed map[string]archive.Cursor, r *Report) error {
	at, there := pushed[s.ID]
	if there && at.Line >= s.Lines {
		r.Unchanged++
		return nil
	}
	all, err := p.read(ctx, s, at.Line)
	if err != nil {
		return err
	}
	r.Sessions++
	for from := at.Line; ; {
		b := all.cut(from, s)
		r.Batches++
		for _, x := range b.Passages {
			r.Passages, r.Bytes = r.Passages+1, r.Bytes+int64(len(x.Text))
		}
		if !p.DryRun {
			p.clean(&b)
			if err := p.try(ctx, func() error { return p.Remote.Apply(ctx, b) }); err != nil {
				return err
			}
		}
		if from = b.Cursor.Line; from >= s.Lines {
			break
		}
	}
	return p.summaries(ctx, s.ID, r)
}

// retire gives older generations of transcripts that were rewritten their own names,
// before anything is brought under these.
func (p Push) retire(ctx context.Context, sessions []archive.Session, pushed map[string]archive.Cursor) error {
	for _, s := range sessions {
		at, there := pushed[s.ID]
		if !there || at.Generation >= s.Generation {
			continue
		}
		if !p.DryRun {
			if err := p.try(ctx, func() error { return p.Remote.Retire(ctx, s.ID, at.Generation) }); err != nil {
				return fmt.Errorf("retire session %s: %w", archive.ShortID(s.ID), err)
			}
		}
		delete(pushed, s.ID)
		pushed[fmt.Sprintf("%s@%d", s.ID, at.Generation)] = at
	}
	return nil
}

// read reads what ends behind a line. Earlier rows of turns, steps and calls may have
// changed since, as a call gets its result; texts are read only from where they did.
func (p Push) read(ctx context.Context, s archive.Session, line int) (all content, err error) {
	span := archive.Span{Session: s.ID}
	first := math.MaxInt32
	from := func(turn int) bool { first = min(first, turn); return true }
	keep := func(ends, turn int) bool { return ends > line && from(turn) }
	if all.turns, err = p.Local.Turns(ctx, span); err != nil {
		return all, fmt.Errorf("read its turns: %w", err)
	}
	for _, t := range all.turns {
		if t.Dead {
			all.dead = append(all.dead, t.Index)
		}
	}
	all.turns = slices.DeleteFunc(all.turns, func(t archive.Turn) bool { return !keep(t.LineTo, t.Index) })
	if all.steps, err = p.Local.Steps(ctx, span); err != nil {
		return all, fmt.Errorf("read its steps: %w", err)
	}
	all.steps = slices.DeleteFunc(all.steps, func(x archive.Step) bool { return !keep(x.LineTo, x.Turn) })
	if all.calls, err = p.Local.Calls(ctx, archive.CallSpan{Span: span}); err != nil {
		return all, fmt.Errorf("read its calls: %w", err)
	}
	all.calls = slices.DeleteFunc(all.calls, func(x archive.Call) bool { return !keep(endOf(x), x.Turn) })
	if all.files, err = p.Local.Files(ctx, span); err != nil {
		return all, fmt.Errorf("read its files: %w", err)
	}
	all.files = slices.DeleteFunc(all.files, func(x archive.FileTouch) bool { return !keep(x.Line+1, x.Turn) })
	if all.tasks, err = p.Local.Tasks(ctx, span); err != nil {
		return all, fmt.Errorf("read its tasks: %w", err)
	}
	all.tasks = slices.DeleteFunc(all.tasks, func(x archive.TaskEvent) bool { return x.Line+1 <= line })
	if all.compactions, err = p.Local.Compactions(ctx, span); err != nil {
		return all, fmt.Errorf("read its compactions: %w", err)
	}
	if first == math.MaxInt32 {
		return all, nil
	}
	span.TurnFrom, span.TurnTo = first, math.MaxInt32
	if all.passages, err = p.Local.Passages(ctx, archive.PassageSpan{Span: span}); err != nil {
		return all, fmt.Errorf("read its passages: %w", err)
	}
	// Those that stand at no line were told by hooks, and come with the facts.
	all.passages = slices.DeleteFunc(all.passages, func(x archive.Passage) bool { return x.LineFrom < 0 || x.LineTo <= line })
	slices.SortStableFunc(all.passages, func(a, b archive.Passage) int { return cmp.Compare(a.LineTo, b.LineTo) })
	return all, nil
}

// content is rows of a session.
type content struct {
	turns       []archive.Turn
	steps       []archive.Step
	calls       []archive.Call
	files       []archive.FileTouch
	tasks       []archive.TaskEvent
	compactions []archive.Compaction
	passages    []archive.Passage // by the line they end at
	dead        []int
}

func endOf(x archive.Call) int { return max(x.LineUse, x.LineResult) + 1 }

// cut makes the next batch: what ends behind a line, up to one at which there is text
// enough. The last one ends with the session.
func (c *content) cut(from int, s archive.Session) archive.Batch {
	to, size := s.Lines, 0
	for _, x := range c.passages {
		if x.LineTo <= from {
			continue
		}
		if size > batchBytes && x.LineTo > to {
			break
		}
		if size += len(x.Text); size > batchBytes && to == s.Lines {
			to = x.LineTo // and what else ends there
		}
	}
	last := to >= s.Lines
	in := func(ends int) bool { return ends > from && (ends <= to || last) }
	b := archive.Batch{
		Session: s, From: int64(from),
		Cursor: archive.Cursor{Session: s.ID, Generation: s.Generation, Offset: int64(to), Line: to},
	}
	for _, x := range c.turns {
		if in(x.LineTo) || x.LineFrom < to && x.LineTo > from { // its rows come with it, not before it
			b.Turns = append(b.Turns, x)
		}
	}
	for _, x := range c.steps {
		if in(x.LineTo) || x.LineFrom < to && x.LineTo > from {
			b.Steps = append(b.Steps, x)
		}
	}
	for _, x := range c.calls {
		if in(endOf(x)) {
			b.Calls = append(b.Calls, x)
		}
	}
	for _, x := range c.files {
		if in(x.Line + 1) {
			b.Files = append(b.Files, x)
		}
	}
	for _, x := range c.tasks {
		if in(x.Line + 1) {
			b.Tasks = append(b.Tasks, x)
		}
	}
	for _, x := range c.passages {
		if in(x.LineTo) {
			b.Passages = append(b.Passages, x)
		}
	}
	if last {
		b.Compactions, b.DeadTurns = c.compactions, c.dead
	}
	return b
}

// summaries brings what hooks told of a session's compactions.
func (p Push) summaries(ctx context.Context, session string, r *Report) error {
	if strings.Contains(session, "@") {
		return nil // what hooks told belongs to the name, which the newest generation has
	}
	told, err := p.Local.HookSummaries(ctx, session)
	if err != nil {
		return fmt.Errorf("read its summaries: %w", err)
	}
	entries := make([]archive.JournalEntry, 0, len(told))
	for _, h := range told {
		e, err := entry(h.ID, archive.JournalSummary, h.Session, archive.SummaryFact{Source: h.Source, Text: p.Redact(h.Text)})
		if err != nil {
			return err
		}
		e.Time = h.Time
		entries = append(entries, e)
	}
	return p.facts(ctx, entries, r)
}

// segments brings the summaries of finished work that are not there yet.
func (p Push) segments(ctx context.Context, gone map[string]bool, r *Report) error {
	all, err := p.Local.Facts(ctx, "", archive.JournalSegment)
	if err != nil {
		return fmt.Errorf("read the segments: %w", err)
	}
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
	}
	known := map[string]bool{}
	if !p.Again {
		if err := p.try(ctx, func() (err error) { known, err = p.Remote.Recorded(ctx, ids); return err }); err != nil {
			return err
		}
	}
	var entries []archive.JournalEntry
	for _, e := range all {
		var fact archive.SegmentFact
		if known[e.ID] || gone[archive.Owner(e.Session)] || json.Unmarshal(e.Data, &fact) != nil {
			continue
		}
		g := &fact.Segment
		g.Topic, g.Content = p.Redact(g.Topic), p.Redact(g.Content)
		g.KeyDecisions, g.KeyFiles = p.list(g.KeyDecisions), p.list(g.KeyFiles)
		clean, err := entry(e.ID, e.Kind, e.Session, fact)
		if err != nil {
			return err
		}
		clean.Time = e.Time
		entries = append(entries, clean)
	}
	return p.facts(ctx, entries, r)
}

func (p Push) facts(ctx context.Context, entries []archive.JournalEntry, r *Report) error {
	r.Facts += len(entries)
	if len(entries) == 0 || p.DryRun {
		return nil
	}
	return p.try(ctx, func() error { return p.Remote.ApplyJournal(ctx, entries, nil) })
}

func entry(id string, kind archive.JournalKind, session string, data any) (archive.JournalEntry, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return archive.JournalEntry{}, fmt.Errorf("write fact %s: %w", id, err)
	}
	return archive.JournalEntry{Version: 1, ID: id, Kind: kind, Session: session, Data: raw}, nil
}

// clean redacts every text of a batch, and takes out what is this person's alone.
func (p Push) clean(b *archive.Batch) {
	texts := func(list ...*string) {
		for _, t := range list {
			*t = p.Redact(*t)
		}
	}
	s := &b.Session
	s.Project = Project(s.Project, p.Author, p.Machine)
	texts(&s.Cwd, &s.GitBranch, &s.Title, &s.Agent.Type, &s.Agent.Description, &s.Project.Key, &s.Project.Name, &s.Project.Remote)
	b.Turns, b.Steps, b.Calls = slices.Clone(b.Turns), slices.Clone(b.Steps), slices.Clone(b.Calls)
	for i := range b.Turns {
		texts(&b.Turns[i].Title)
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		texts(&c.Command, &c.Error)
		c.Files = p.list(c.Files)
	}
	for i := range b.Passages {
		x := &b.Passages[i]
		texts(&x.Text, &x.Label)
		x.Paths = p.list(x.Paths)
	}
	for i := range b.Files {
		texts(&b.Files[i].Path)
	}
	for i := range b.Tasks {
		texts(&b.Tasks[i].Subject)
	}
}

func (p Push) list(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = p.Redact(t)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
