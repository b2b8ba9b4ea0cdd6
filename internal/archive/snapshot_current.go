package archive

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// PostedAge is how long snapshots and records that programs post are kept.
const PostedAge = 30 * 24 * time.Hour

// LabelSnapshot is the label of passages of a session's current snapshot.
const LabelSnapshot = "snapshot"

// TriggerProactive is the trigger of a snapshot that a monitor posts because the context
// is nearly full.
const TriggerProactive = "proactive"

// GuardAgent is the agent of snapshots that the guard takes from the archive. They hold
// nothing that the archive lacks.
const GuardAgent = "strandline-guard"

// CurrentSnapshot returns what was posted in the newest of a session's JournalSnapshot
// entries, which are ordered by time. A proactive one with only a summary, as monitors post
// at each tool call, counts only if there is no other; those of the guard do not count.
// Entries older than PostedAge at now are ignored, and those after now; a zero now ignores
// none.
func CurrentSnapshot(entries []JournalEntry, now time.Time) (fact SnapshotFact, at time.Time, ok bool) {
	for _, e := range slices.Backward(entries) {
		f, valid := FactOf[SnapshotFact](&e)
		if !valid || f.AgentID == GuardAgent || !now.IsZero() && (now.Sub(e.Time) > PostedAge || e.Time.After(now)) {
			continue
		}
		if f = f.Posted(); !f.Bare() {
			return f, e.Time, true
		}
		if !ok {
			fact, at, ok = f, e.Time, true
		}
	}
	return fact, at, ok
}

// Bare reports whether the snapshot is a proactive one with only a summary.
func (f SnapshotFact) Bare() bool { return f.Trigger == TriggerProactive && len(f.Lines()) < 2 }

// maxLineFiles is the maximum number of files in a line of a snapshot.
const maxLineFiles = 30

// Lines returns the snapshot as text, the most needed parts first.
func (f SnapshotFact) Lines() (lines []string) {
	add := func(label, s string) {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			lines = append(lines, label+s)
		}
	}
	add("Summary: ", f.Summary)
	for _, t := range f.Tasks {
		if !TaskDone(t.Status) {
			add("Task, "+strings.ReplaceAll(cmp.Or(t.Status, "open"), "_", " ")+": ", joined(" · ", t.Subject, t.Description, t.Owner))
		}
	}
	for _, d := range f.Decisions {
		add("Decision: ", d)
	}
	for _, n := range f.Next {
		add("Next: ", n)
	}
	add("Skills to load again: ", strings.Join(f.Skills, ", "))
	if f.Wave != nil {
		add("Wave: ", jsonText(f.Wave))
	}
	byPriority := slices.Clone(f.Messages)
	slices.Reverse(byPriority)
	slices.SortStableFunc(byPriority, func(a, b SnapshotMessage) int { return b.Priority - a.Priority })
	for _, m := range byPriority {
		from := joined(" to ", m.From, m.To)
		if m.Priority > 0 {
			from = joined(", ", from, fmt.Sprintf("priority %d", m.Priority))
		}
		add(joined(" ", "Message", from)+": ", joined(" ", m.Topic, m.Text, jsonText(m.Payload)))
	}
	for _, a := range f.Agents {
		add("Agent: ", joined(" · ", a.ID, a.Type, a.Status, a.Task, a.Result))
	}
	add("Files: ", strings.Join(f.Files[:min(len(f.Files), maxLineFiles)], ", "))
	return lines
}

// joined joins the parts that are not empty.
func joined(sep string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), sep)
}

// jsonText returns JSON as text, "" for nil.
func jsonText(v any) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// TaskDone reports whether a task with this status needs no more work.
func TaskDone(status string) bool {
	return slices.Contains([]string{"completed", "done", "deleted", "cancelled", "canceled"}, strings.ToLower(status))
}

// ChangeTexts applies change to every string in decoded JSON and returns the result. The
// keys of objects are not changed.
func ChangeTexts(v any, change func(string) string) any {
	switch v := v.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = ChangeTexts(v[i], change)
		}
	case map[string]any:
		for k := range v {
			v[k] = ChangeTexts(v[k], change)
		}
	}
	return v
}
