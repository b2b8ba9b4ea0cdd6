package task

import (
	"cmp"
	"fmt"
	"time"

	"strandline/internal/archive"
)

// TimelineKind says what a row of a course is.
type TimelineKind int

// The kinds of rows.
const (
	TimelineTurn       TimelineKind = iota // a prompt and what followed
	TimelineTask                           // work that began in the turn above
	TimelineCompaction                     // a compaction
)

// TimelineRow is one line of the course of a session, as a timeline shows it.
type TimelineRow struct {
	Kind TimelineKind
	At   archive.Ref // where it begins
	Time time.Time   // zero for work
	// Steps is how many responses it took.
	Steps int
	// Tokens stood in the context behind a turn, or before a cut; After is what
	// stood behind the cut. 0: not known.
	Tokens, After int64
	// What is a turn's prompt, a cut's trigger, or a work's subject with its
	// agent; "" for a topic, whose subject is the prompt above.
	What   string
	Status string // of work
	// Summary is what was made of the work, nil while it is only in the context.
	Summary *Entry
}

// Timeline lists the live turns of a session in order, below each the work that
// began in it, and between them the compactions.
func Timeline(p *History, state *State) []TimelineRow {
	began := map[int][]Task{}
	for _, t := range p.All() {
		began[t.First.Turn] = append(began[t.First.Turn], t)
	}
	var rows []TimelineRow
	cuts := p.Compactions
	for _, turn := range p.Turns {
		for ; len(cuts) > 0 && cuts[0].Turn < turn.Index; cuts = cuts[1:] {
			rows = append(rows, cutRow(cuts[0]))
		}
		rows = append(rows, TimelineRow{
			At: archive.Ref{Session: p.Session.ID, Turn: turn.Index, Step: -1}, Time: turn.Start, Steps: turn.Steps,
			Tokens: p.tokensBehind(turn.Index), What: cmp.Or(turn.Title, "(no prompt)"),
		})
		for _, t := range began[turn.Index] {
			row := workRow(t, state)
			if t.Kind == KindTopic && t.First.Step <= 0 {
				if row.Summary == nil {
					continue // the turn's own row says all
				}
				row.What, row.Status, row.Steps = "", "", 0
			}
			rows = append(rows, row)
		}
	}
	for _, c := range cuts {
		rows = append(rows, cutRow(c))
	}
	return rows
}

func cutRow(c archive.Compaction) TimelineRow {
	by := c.Trigger
	if c.Ours {
		by += ", by Strandline"
	}
	return TimelineRow{
		Kind: TimelineCompaction, At: archive.Ref{Session: c.Session, Turn: c.Turn, Step: -1}, Time: c.Time,
		Tokens: c.PreTokens, After: c.PostTokens, What: by,
	}
}

func workRow(t Task, state *State) TimelineRow {
	what := cmp.Or(t.Subject, "task "+t.ID)
	if t.Agent != "" {
		what = t.Agent + ": " + what
	}
	row := TimelineRow{Kind: TimelineTask, At: t.First, Steps: t.End - t.Start, What: what, Status: t.Status}
	if e, ok := state.Get(SegmentID(t.Session, t.ID)); ok {
		row.Summary = &e
	}
	return row
}

// tokensBehind is what stood in the context behind a turn's last response.
func (p *History) tokensBehind(turn int) int64 {
	for m := p.Moment(turn+1, 0) - 1; m >= 0 && p.Steps[m].Turn == turn; m-- {
		if n := p.Steps[m].Usage.Context() + p.Steps[m].Usage.Output; n > 0 {
			return n
		}
	}
	return 0
}

// Text says in one line what the row is about; tokens formats their number.
func (r TimelineRow) Text(tokens func(int64) string) string {
	switch r.Kind {
	case TimelineCompaction:
		text := "── compacted (" + r.What + "): " + tokens(r.Tokens)
		if r.After > 0 {
			text += " -> " + tokens(r.After)
		}
		return text + " ──"
	case TimelineTask:
		return r.mark() + r.tier(tokens) + r.What
	}
	return r.What
}

func (r TimelineRow) mark() string {
	switch r.Status {
	case Completed:
		return "✓ "
	case InProgress:
		return "▸ "
	case Pending:
		return "○ "
	case Deleted:
		return "× "
	case Failed:
		return "! "
	}
	return ""
}

// tier says how far a summary of the work is.
func (r TimelineRow) tier(tokens func(int64) string) string {
	var text string
	switch e := r.Summary; {
	case e == nil:
		return ""
	case e.Pending:
		text = "[L1, waits]"
	default:
		text = fmt.Sprintf("[%s %s->%s]", e.Tier, tokens(int64(e.OriginalTokens)), tokens(int64(e.CompressedTokens)))
	}
	if r.What == "" {
		return text
	}
	return text + " "
}
