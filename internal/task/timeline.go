package task

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"time"

	"strandline/internal/archive"
)

// TimelineKind is the kind of a timeline's row.
type TimelineKind int

// The kinds of rows.
const (
	TimelineTurn       TimelineKind = iota // a turn
	TimelineTask                           // a task that started in the turn above
	TimelineCompaction                     // a compaction
)

// TimelineRow is a row of a session's timeline.
type TimelineRow struct {
	Kind  TimelineKind
	At    archive.Ref // where it starts
	Time  time.Time   // zero for a task
	Steps int
	// Tokens is the size of the context after a turn or before a compaction, After the
	// size after the compaction. 0: not known.
	Tokens, After int64
	// What holds a turn's prompt, a compaction's trigger, or a task's agent and subject.
	// It is "" for a topic, whose subject is the prompt above.
	What   string
	Status string // of a task
	// Summary is the segment of a task, nil if there is none.
	Summary *Entry
}

// Timeline returns the live turns of a session in order, each with the tasks that
// started in it, and the compactions between them.
func Timeline(h *History, state *State) []TimelineRow {
	started := map[int][]Task{}
	for _, t := range h.All() {
		started[t.First.Turn] = append(started[t.First.Turn], t)
	}
	var rows []TimelineRow
	compactions := h.Compactions
	for _, turn := range h.Turns {
		for ; len(compactions) > 0 && compactions[0].Turn < turn.Index; compactions = compactions[1:] {
			rows = append(rows, compactionRow(compactions[0]))
		}
		if turn.Copy != nil && !slices.ContainsFunc(started[turn.Index], func(t Task) bool { return t.Kind != KindTopic }) {
			continue // it is listed where it was seen first
		}
		rows = append(rows, TimelineRow{
			At: archive.Ref{Session: h.Session.ID, Turn: turn.Index, Step: -1}, Time: turn.Start, Steps: turn.Steps,
			Tokens: h.contextAfter(turn.Index), What: cmp.Or(turn.Title, "(no prompt)"),
		})
		for _, t := range started[turn.Index] {
			row := taskRow(t, state)
			if t.Kind == KindTopic && t.First.Step <= 0 {
				if row.Summary == nil {
					continue // nothing beyond the turn's row
				}
				row.What, row.Status, row.Steps = "", "", 0
			}
			rows = append(rows, row)
		}
	}
	for _, c := range compactions {
		rows = append(rows, compactionRow(c))
	}
	return rows
}

func compactionRow(c archive.Compaction) TimelineRow {
	trigger := c.Trigger
	if c.Ours {
		trigger += ", by Strandline"
	}
	return TimelineRow{
		Kind: TimelineCompaction, At: archive.Ref{Session: c.Session, Turn: c.Turn, Step: -1}, Time: c.Time,
		Tokens: c.PreTokens, After: c.PostTokens, What: trigger,
	}
}

func taskRow(t Task, state *State) TimelineRow {
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

// contextAfter returns the size of the context after a turn's last counted response.
func (h *History) contextAfter(turn int) int64 {
	for m := h.Moment(turn+1, 0) - 1; m >= 0 && h.Steps[m].Turn == turn; m-- {
		if n := h.Steps[m].Usage.Context() + h.Steps[m].Usage.Output; n > 0 {
			return n
		}
	}
	return 0
}

// Text returns the row's text on one line; tokens formats a number of tokens.
func (r TimelineRow) Text(tokens func(int64) string) string {
	switch r.Kind {
	case TimelineCompaction:
		text := "── compacted (" + r.What + ")"
		if r.Tokens > 0 { // some clients do not count them
			text += ": " + tokens(r.Tokens)
		}
		if r.After > 0 {
			text += " -> " + tokens(r.After)
		}
		return text + " ──"
	case TimelineTask:
		symbol := map[string]string{Completed: "✓ ", InProgress: "▸ ", Pending: "○ ", Deleted: "× ", Failed: "! "}[r.Status]
		return symbol + r.tier(tokens) + r.What
	}
	return r.What
}

// tier describes the summary of a task.
func (r TimelineRow) tier(tokens func(int64) string) string {
	e := r.Summary
	if e == nil {
		return ""
	}
	text := "[L1, waits]"
	if !e.Pending {
		text = fmt.Sprintf("[%s %s->%s]", e.Tier, tokens(int64(e.OriginalTokens)), tokens(int64(e.CompressedTokens)))
	}
	if r.What == "" {
		return text
	}
	return text + " "
}

// FileHistoryStore is the part of a store that FileHistory reads.
type FileHistoryStore interface {
	// History lists the calls on a file, oldest first.
	History(ctx context.Context, f archive.HistoryFilter) ([]archive.Touch, error)
}

// FileQuery asks for the history of a file.
type FileQuery struct {
	archive.HistoryFilter        // without Kinds
	Session               string // "" for all
	Reads                 bool   // include reads and searches
	Limit                 int    // the number of newest entries, 0 for all
}

// Touches is the history of a file.
type Touches struct {
	List  []archive.Touch // oldest first
	Older int             // entries beyond the limit
	Reads int             // reads and searches that the query leaves out
}

// FileHistory returns the changes to a file and the commands that name it.
func FileHistory(ctx context.Context, src FileHistoryStore, q FileQuery) (out Touches, err error) {
	if out.List, err = src.History(ctx, q.HistoryFilter); err != nil {
		return Touches{}, err
	}
	out.List = slices.DeleteFunc(out.List, func(t archive.Touch) bool {
		if q.Session != "" && t.Session != q.Session {
			return true
		}
		read := !q.Reads && t.Kind != archive.CallEdit && (t.Kind != archive.CallCommand || !archive.MayChange(t.Command, path.Base(t.Path)))
		if read {
			out.Reads++
		}
		return read
	})
	if q.Limit > 0 && len(out.List) > q.Limit {
		out.Older = len(out.List) - q.Limit
		out.List = out.List[out.Older:]
	}
	return out, nil
}
