package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
	"strandline/internal/text"
)

// SnapshotDraft is a snapshot as a program sends it.
type SnapshotDraft struct {
	Session string `json:"session"` // the client's ID, or a handle of an archived session
	// Fill adds missing parts (tasks, agents, messages, actions, files) from the
	// archive, if the session is archived.
	Fill bool `json:"fill,omitempty"`
	archive.SnapshotFact
}

// Snapshot is the state of a session's work at a moment.
type Snapshot struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Handle  string    `json:"handle"`
	Time    time.Time `json:"time"`
	archive.SnapshotFact
	// LeftOut names what exceeded the limits. It is set in the response to a save.
	LeftOut []string `json:"left_out,omitempty"`
}

// SnapshotLine is a snapshot in a list.
type SnapshotLine struct {
	ID        string    `json:"id"`
	Session   string    `json:"session"`
	Handle    string    `json:"handle"`
	Time      time.Time `json:"time"`
	Trigger   string    `json:"trigger,omitempty"`
	AgentType string    `json:"agent_type,omitempty"`
	Summary   string    `json:"summary,omitempty"`
	Tasks     int       `json:"tasks"`
	Agents    int       `json:"agents"`
	Messages  int       `json:"messages"`
	Actions   int       `json:"actions"`
}

// maxListedSummary is the maximum size in bytes of a summary in a list.
const maxListedSummary = 200

func newSnapshotLine(s Snapshot) SnapshotLine {
	return SnapshotLine{
		ID: s.ID, Session: s.Session, Handle: s.Handle, Time: s.Time, Trigger: s.Trigger, AgentType: s.AgentType,
		Summary: archive.Clip(s.Summary, maxListedSummary), Tasks: len(s.Tasks), Agents: len(s.Agents), Messages: len(s.Messages), Actions: len(s.Actions),
	}
}

// SnapshotQuery selects a snapshot by its ID; "latest" is the newest of a session, if
// possible not a bare one.
type SnapshotQuery struct {
	ID      string
	Session string // handle or ID
}

const latestSnapshot = "latest"

// SaveSnapshot writes a snapshot to the journal.
func (a *App) SaveSnapshot(ctx context.Context, d SnapshotDraft) (Snapshot, error) {
	if err := checkSnapshot(d.SnapshotFact); err != nil {
		return Snapshot{}, err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	out := Snapshot{ID: hex.EncodeToString(random[:]), Time: a.Now().UTC(), SnapshotFact: d.SnapshotFact}
	err := a.withArchive(ctx, ReadWrite, func(x Archive) error {
		id, archived, err := resolveOrNew(ctx, x, d.Session)
		if err != nil {
			return err
		}
		out.Session = id
		if err := x.refuseForgotten(id); err != nil {
			return err
		}
		if d.Fill && archived {
			if err := fillSnapshot(ctx, x, id, &out.SnapshotFact); err != nil {
				return err
			}
		}
		out.EachText(x.Redact) // before it is shortened and stored
		out.SnapshotFact, out.LeftOut = limitSnapshot(out.SnapshotFact)
		err = x.Journal.RecordAll(ctx, capture.Fact{Kind: archive.JournalSnapshot, Session: id, Data: out.SnapshotFact, ID: out.ID})
		return errors.Join(err, x.Journal.Sync(ctx, x.Index))
	})
	out.Handle = archive.ShortID(out.Session)
	return out, err
}

// refuseForgotten fails if a session is forgotten.
func (w Workspace) refuseForgotten(session string) error {
	if !w.Capture.Forgotten().Has(session) {
		return nil
	}
	return &archive.Error{Code: archive.CodeDenied, Msg: "session " + archive.ShortID(session) + " was deleted for good", Hint: "nothing about it is stored"}
}

// resolveOrNew resolves a session. A valid ID without an archived session is
// returned as it is.
func resolveOrNew(ctx context.Context, x Archive, typed string) (id string, archived bool, err error) {
	_, id, err = resolveSession(ctx, x.Index, typed)
	if archive.ErrorCode(err) == archive.CodeNotFound && archive.ValidID(typed) {
		return typed, false, nil
	}
	return id, err == nil, err
}

// Snapshots lists those of a session, or all if session is "", newest first.
func (a *App) Snapshots(ctx context.Context, session string) ([]SnapshotLine, error) {
	return read(ctx, a, func(x Archive) ([]SnapshotLine, error) {
		list, err := a.snapshots(ctx, x, session)
		return archive.Convert(list, newSnapshotLine), err
	})
}

// Snapshot returns one snapshot.
func (a *App) Snapshot(ctx context.Context, q SnapshotQuery) (Snapshot, error) {
	return read(ctx, a, func(x Archive) (Snapshot, error) {
		list, err := a.snapshots(ctx, x, q.Session)
		if err != nil {
			return Snapshot{}, err
		}
		at := slices.IndexFunc(list, func(s Snapshot) bool { return q.ID == latestSnapshot && !s.Bare() || s.ID == q.ID })
		if at < 0 && q.ID == latestSnapshot && len(list) > 0 {
			at = 0
		}
		if at < 0 {
			return Snapshot{}, archive.NotFound("no snapshot has this ID", "GET /api/v1/snapshots lists them")
		}
		return list[at], nil
	})
}

// snapshots reads those of a session or all that are not too old, newest first.
func (a *App) snapshots(ctx context.Context, x Archive, session string) (out []Snapshot, err error) {
	if session != "" {
		if session, _, err = resolveOrNew(ctx, x, session); err != nil {
			return nil, err
		}
	}
	facts, err := x.Index.Facts(ctx, session, archive.JournalSnapshot)
	for _, e := range slices.Backward(facts) {
		if f, ok := archive.FactOf[archive.SnapshotFact](&e); ok && a.Now().Sub(e.Time) <= archive.PostedAge { // skip other shapes
			out = append(out, Snapshot{ID: e.ID, Session: e.Session, Handle: archive.ShortID(e.Session), Time: e.Time, SnapshotFact: f})
		}
	}
	return out, err
}

// SnapshotBrief is the part of a snapshot that an agent of a role needs.
type SnapshotBrief struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	Role    string `json:"role"`
	Chars   int    `json:"chars"`
	Text    string `json:"text"`
}

// briefBudget is the default size of a brief in characters: about 2,000 tokens.
const briefBudget = 8000

// SnapshotBrief returns the brief of a snapshot for a role ("" for none, "auto" for
// that of the snapshot's agent). A budget of 0 is 8,000 characters.
func (a *App) SnapshotBrief(ctx context.Context, q SnapshotQuery, role string, budget int) (SnapshotBrief, error) {
	one, err := a.Snapshot(ctx, q)
	if err != nil {
		return SnapshotBrief{}, err
	}
	var r compact.Role
	if role != "" {
		if r, err = compact.ParseRole(role); err != nil {
			return SnapshotBrief{}, err
		}
		if r == compact.RoleAuto {
			r = compact.RoleOf(one.AgentType)
		}
	}
	one.EachText(a.Redact) // before anything is shortened
	title := "snapshot " + one.ID + " of session " + one.Handle + ", " + one.Time.Format("2006-01-02 15:04") + " UTC"
	body := brief(one.SnapshotFact, r, title, cmp.Or(budget, briefBudget))
	return SnapshotBrief{ID: one.ID, Session: one.Session, Role: string(r), Chars: text.Units(body), Text: body}, nil
}

// Limits of a snapshot. Of messages, actions, decisions and next steps the newest
// are kept.
const (
	maxSnapshotTasks    = 500
	maxSnapshotAgents   = 100
	maxSnapshotMessages = 200
	maxSnapshotActions  = 500
	maxSnapshotListed   = 500 // files, decisions, next steps
	maxSnapshotText     = 16 << 10
)

// checkSnapshot rejects tasks without an ID or a subject, or with the same ID, and
// empty messages.
func checkSnapshot(f archive.SnapshotFact) error {
	seen := map[string]bool{}
	for i, t := range f.Tasks {
		switch {
		case t.ID == "" || t.Subject == "":
			return archive.Invalid(fmt.Sprintf("task %d has no id or no subject", i), "give each task both")
		case seen[t.ID]:
			return archive.Invalid(fmt.Sprintf("two tasks have the id %q", archive.Clip(t.ID, 60)), "give each task another id")
		}
		seen[t.ID] = true
	}
	for i, m := range f.Messages {
		if m.Text == "" && m.Payload == nil {
			return archive.Invalid(fmt.Sprintf("message %d has no text", i), "leave it out")
		}
	}
	return nil
}

// limitSnapshot applies the limits and names the excess parts.
func limitSnapshot(f archive.SnapshotFact) (archive.SnapshotFact, []string) {
	var left []string
	f.Tasks = limit(f.Tasks, maxSnapshotTasks, false, "task", &left)
	f.Agents = limit(f.Agents, maxSnapshotAgents, false, "agent", &left)
	f.Messages = limit(f.Messages, maxSnapshotMessages, true, "message", &left)
	f.Actions = limit(f.Actions, maxSnapshotActions, true, "action", &left)
	f.Files = limit(f.Files, maxSnapshotListed, false, "file", &left)
	f.Decisions = limit(f.Decisions, maxSnapshotListed, true, "decision", &left)
	f.Next = limit(f.Next, maxSnapshotListed, false, "next step", &left)
	f.Skills = limit(f.Skills, maxSnapshotListed, false, "skill", &left)
	clipped := 0
	f.EachText(func(s string) string {
		if len(s) > maxSnapshotText {
			clipped++
			return archive.Clip(s, maxSnapshotText)
		}
		return s
	})
	if clipped > 0 {
		left = append(left, fmt.Sprintf("the ends of %d long texts", clipped))
	}
	return f, left
}

// limit keeps n entries, the last ones if newest is set, and notes the others in left.
func limit[T any](list []T, n int, newest bool, noun string, left *[]string) []T {
	if len(list) <= n {
		return list
	}
	*left = append(*left, fmt.Sprintf("%d of %d %ss", len(list)-n, len(list), noun))
	if newest {
		return list[len(list)-n:]
	}
	return list[:n]
}

// How many entries of each kind the archive adds to a snapshot: the newest.
const (
	filledMessages = 50
	filledActions  = 100
	filledFiles    = 30
)

// fillSnapshot adds missing parts of a snapshot from the archive.
func fillSnapshot(ctx context.Context, x Archive, id string, f *archive.SnapshotFact) (err error) {
	if f.Tasks == nil {
		f.Fills = append(f.Fills, "tasks")
		tree, terr := taskTree(ctx, x, id, false, maxAgentDepth)
		if terr != nil {
			return terr
		}
		addSnapshotTasks(f, tree, "")
	}
	if f.Agents == nil {
		f.Fills = append(f.Fills, "agents")
		runs := rows(ctx, &err, "sub-agents", archive.SessionFilter{Parent: id, Agents: true}, x.Index.Sessions,
			func(s archive.Session) bool { return s.Relation == archive.RelationAgent })
		for _, s := range slices.Backward(runs) {
			f.Agents = append(f.Agents, archive.SnapshotAgent{ID: archive.ShortID(s.ID), Type: s.Agent.Type, Task: cmp.Or(s.Agent.Description, s.Title)})
		}
	}
	if f.Messages == nil {
		f.Fills = append(f.Fills, "messages")
		span := archive.PassageSpan{Span: archive.Span{Session: id, Limit: filledMessages, Newest: true}}
		span.Kinds = []archive.PassageKind{archive.KindPrompt, archive.KindReply}
		for _, p := range slices.Backward(rows(ctx, &err, "messages", span, x.Index.Passages, nil)) {
			from := "agent"
			if p.Kind == archive.KindPrompt {
				from = "user"
			}
			f.Messages = append(f.Messages, archive.SnapshotMessage{From: from, Text: p.Text, Time: p.Time})
		}
	}
	if f.Actions == nil {
		f.Fills = append(f.Fills, "actions")
		span := archive.CallSpan{Span: archive.Span{Session: id, Limit: filledActions, Newest: true}}
		span.Kinds = []archive.CallKind{archive.CallCommand, archive.CallEdit}
		for _, c := range slices.Backward(rows(ctx, &err, "calls", span, x.Index.Calls, nil)) {
			action := archive.SnapshotAction{Tool: c.Name, Command: c.Command, Exit: c.Exit, Failed: c.Failed, Error: c.Error}
			if c.Kind == archive.CallEdit && len(c.Files) > 0 {
				action.File = c.Files[0]
			}
			f.Actions = append(f.Actions, action)
		}
	}
	if f.Files == nil {
		f.Fills = append(f.Fills, "files")
		for _, one := range files(rows(ctx, &err, "files", archive.Span{Session: id}, x.Index.Files, nil), filledFiles) {
			if one.Changes > 0 {
				f.Files = append(f.Files, one.Path)
			}
		}
	}
	return err
}

// addSnapshotTasks flattens a tree of tasks. A child's ID is prefixed with its
// parent's, since IDs of different sessions may be equal.
func addSnapshotTasks(f *archive.SnapshotFact, tree []TaskTree, parent string) {
	for _, n := range tree {
		id := n.ID
		if parent != "" {
			id = parent + "/" + id
		}
		f.Tasks = append(f.Tasks, archive.SnapshotTask{
			ID: id, Parent: parent, Subject: cmp.Or(n.Subject, "task "+n.ID), Description: n.Description, Status: n.Status, Owner: n.Agent,
		})
		addSnapshotTasks(f, n.Tasks, id)
	}
}

// posted deletes the facts that programs posted longer ago than archive.PostedAge, from
// the journal first.
func (r Runner) posted(ctx context.Context, idx *Index, st *Stage) error {
	before := r.Now().Add(-archive.PostedAge)
	for _, kind := range append(archive.Convert(archive.RecordTables(), archive.RecordKind), archive.JournalSnapshot) {
		facts, err := idx.Facts(ctx, "", kind)
		if err != nil {
			return err
		}
		if len(facts) == 0 || !facts[0].Time.Before(before) {
			continue
		}
		n, err := r.Journal.Log.Remove(ctx, func(e archive.JournalEntry) bool { return e.Kind == kind && e.Time.Before(before) })
		if st.Done += n; err != nil {
			return fmt.Errorf("remove old facts from the journal: %w", err)
		}
		if err := idx.Expire(ctx, kind, before); err != nil {
			return err
		}
	}
	return nil
}
