package app

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

// batchBytes is how much text one transaction holds; a lost connection costs as
// much.
const batchBytes = 4 << 20

// session pushes a session's rows that end after the last pushed line.
func (p Push) session(ctx context.Context, s archive.Session, pushed map[string]archive.Cursor, r *PushReport) error {
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
		b := nextBatch(all, from)
		r.Batches++
		for _, x := range b.Passages {
			r.Passages, r.Bytes = r.Passages+1, r.Bytes+int64(len(x.Text))
		}
		if !p.DryRun {
			p.redact(&b)
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

// retire renames older generations of rewritten transcripts, before newer ones
// are pushed under their names.
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

// rows reads rows of one kind, unless err is set, and keeps the selected ones, all if
// keep is nil.
func rows[S, T any](ctx context.Context, err *error, what string, span S, read func(context.Context, S) ([]T, error), keep func(T) bool) []T {
	if *err != nil {
		return nil
	}
	list, rerr := read(ctx, span)
	if rerr != nil {
		*err = fmt.Errorf("read its %s: %w", what, rerr)
	}
	if keep == nil {
		return list
	}
	return archive.Select(list, keep)
}

// read reads the rows that end after a line. Passages are read only from the
// first turn with such a row on: a tool call that gets its result is older than
// the line.
func (p Push) read(ctx context.Context, s archive.Session, line int) (all archive.Batch, err error) {
	span := archive.Span{Session: s.ID}
	first := math.MaxInt32
	after := func(end, turn int) bool {
		if end > line {
			first = min(first, turn)
		}
		return end > line
	}
	all.Session = s
	all.Turns = rows(ctx, &err, "turns", span, p.Local.Turns, func(x archive.Turn) bool {
		if x.Dead {
			all.DeadTurns = append(all.DeadTurns, x.Index)
		}
		return after(x.LineTo, x.Index)
	})
	all.Steps = rows(ctx, &err, "steps", span, p.Local.Steps, func(x archive.Step) bool { return after(x.LineTo, x.Turn) })
	all.Calls = rows(ctx, &err, "calls", archive.CallSpan{Span: span}, p.Local.Calls, func(x archive.Call) bool { return after(endOf(x), x.Turn) })
	all.Files = rows(ctx, &err, "files", span, p.Local.Files, func(x archive.FileTouch) bool { return after(x.Line+1, x.Turn) })
	all.Tasks = rows(ctx, &err, "tasks", span, p.Local.Tasks, func(x archive.TaskEvent) bool { return x.Line+1 > line })
	all.Compactions = rows(ctx, &err, "compactions", span, p.Local.Compactions, nil)
	if first == math.MaxInt32 {
		return all, err
	}
	span.TurnFrom, span.TurnTo = first, math.MaxInt32
	// Passages without a line come from hooks and are pushed as facts.
	all.Passages = rows(ctx, &err, "passages", archive.PassageSpan{Span: span}, p.Local.Passages, func(x archive.Passage) bool { return x.LineFrom >= 0 && x.LineTo > line })
	slices.SortStableFunc(all.Passages, func(a, b archive.Passage) int { return cmp.Compare(a.LineTo, b.LineTo) })
	return all, err
}

func endOf(x archive.Call) int { return max(x.LineUse, x.LineResult) + 1 }

// nextBatch takes the rows that end after line from, up to a line at which there
// is enough text. The last batch ends with the session.
func nextBatch(all archive.Batch, from int) archive.Batch {
	s := all.Session
	to, size := s.Lines, 0
	for _, x := range all.Passages {
		if x.LineTo <= from {
			continue
		}
		if size > batchBytes && x.LineTo > to {
			break
		}
		if size += len(x.Text); size > batchBytes && to == s.Lines {
			to = x.LineTo
		}
	}
	last := to >= s.Lines
	in := func(end int) bool { return end > from && (end <= to || last) }
	// Turns and steps come with the first of their rows.
	overlaps := func(start, end int) bool { return in(end) || start < to && end > from }
	b := archive.Batch{
		Session: s, From: int64(from),
		Cursor:   archive.Cursor{Session: s.ID, Generation: s.Generation, Offset: int64(to), Line: to},
		Turns:    archive.Select(all.Turns, func(x archive.Turn) bool { return overlaps(x.LineFrom, x.LineTo) }),
		Steps:    archive.Select(all.Steps, func(x archive.Step) bool { return overlaps(x.LineFrom, x.LineTo) }),
		Calls:    archive.Select(all.Calls, func(x archive.Call) bool { return in(endOf(x)) }),
		Files:    archive.Select(all.Files, func(x archive.FileTouch) bool { return in(x.Line + 1) }),
		Tasks:    archive.Select(all.Tasks, func(x archive.TaskEvent) bool { return in(x.Line + 1) }),
		Passages: archive.Select(all.Passages, func(x archive.Passage) bool { return in(x.LineTo) }),
	}
	if last {
		b.Compactions, b.DeadTurns = all.Compactions, all.DeadTurns
	}
	return b
}

// summaries pushes the compaction summaries that hooks reported. They belong to
// the newest generation.
func (p Push) summaries(ctx context.Context, session string, r *PushReport) error {
	if strings.Contains(session, "@") {
		return nil
	}
	list, err := p.Local.HookSummaries(ctx, session)
	if err != nil {
		return fmt.Errorf("read its summaries: %w", err)
	}
	entries := make([]archive.JournalEntry, len(list))
	for i, h := range list {
		entries[i] = archive.JournalEntry{ID: h.ID, Time: h.Time, Kind: archive.JournalSummary, Session: h.Session}
		if err := setData(&entries[i], archive.SummaryFact{Source: h.Source, Text: p.Redact(h.Text)}); err != nil {
			return err
		}
	}
	return p.facts(ctx, entries, r)
}

// segments pushes the new summaries of finished work.
func (p Push) segments(ctx context.Context, gone map[string]bool, r *PushReport) error {
	all, err := p.Local.Facts(ctx, "", archive.JournalSegment)
	if err != nil {
		return fmt.Errorf("read the segments: %w", err)
	}
	known := map[string]bool{}
	if !p.Again {
		ids := archive.Convert(all, func(e archive.JournalEntry) string { return e.ID })
		if known, err = retry(ctx, p, func(ctx context.Context) (map[string]bool, error) { return p.Remote.Recorded(ctx, ids) }); err != nil {
			return err
		}
	}
	var entries []archive.JournalEntry
	for _, e := range all {
		fact, ok := archive.FactOf[archive.SegmentFact](&e)
		if known[e.ID] || gone[archive.Owner(e.Session)] || !ok {
			continue
		}
		g := &fact.Segment
		p.redactAll(&g.Topic, &g.Content)
		g.KeyDecisions, g.KeyFiles = p.redactList(g.KeyDecisions), p.redactList(g.KeyFiles)
		if err := setData(&e, fact); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	return p.facts(ctx, entries, r)
}

func (p Push) facts(ctx context.Context, entries []archive.JournalEntry, r *PushReport) error {
	r.Facts += len(entries)
	if len(entries) == 0 || p.DryRun {
		return nil
	}
	return p.try(ctx, func() error { return p.Remote.ApplyJournal(ctx, entries, nil) })
}

// setData sets the data of a journal entry.
func setData(e *archive.JournalEntry, data any) (err error) {
	e.Version = 1
	if e.Data, err = json.Marshal(data); err != nil {
		return fmt.Errorf("encode fact %s: %w", e.ID, err)
	}
	return nil
}

// redact redacts every text of a batch and removes local paths of the project.
func (p Push) redact(b *archive.Batch) {
	s := &b.Session
	s.Project = TeamProject(s.Project, p.Author, p.Machine)
	p.redactAll(&s.Cwd, &s.GitBranch, &s.Title, &s.Agent.Type, &s.Agent.Description, &s.Project.Key, &s.Project.Name, &s.Project.Remote)
	for i := range b.Turns {
		p.redactAll(&b.Turns[i].Title)
	}
	for i := range b.Calls {
		c := &b.Calls[i]
		p.redactAll(&c.Command, &c.Error)
		c.Files = p.redactList(c.Files)
	}
	for i := range b.Passages {
		x := &b.Passages[i]
		p.redactAll(&x.Text, &x.Label)
		x.Paths = p.redactList(x.Paths)
	}
	for i := range b.Files {
		p.redactAll(&b.Files[i].Path)
	}
	for i := range b.Tasks {
		p.redactAll(&b.Tasks[i].Subject)
	}
}

func (p Push) redactAll(texts ...*string) {
	for _, t := range texts {
		*t = p.Redact(*t)
	}
}

// redactList returns redacted copies, nil if there are none.
func (p Push) redactList(texts []string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, p.Redact(t))
	}
	return out
}
