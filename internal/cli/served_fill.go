package cli

import (
	"cmp"
	"context"
	"slices"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// How much of each the archive adds to a snapshot: the newest of what reads in
// time.
const (
	filledMessages = 50
	filledActions  = 100
	filledFiles    = 30
)

// fillSnapshot takes what a snapshot has nothing of from the archive.
func fillSnapshot(ctx context.Context, x app.Archive, id string, f *archive.SnapshotFact) error {
	if f.Tasks == nil {
		tree, err := taskTree(ctx, x, id, false, maxNesting)
		if err != nil {
			return err
		}
		addTasks(f, tree, "")
	}
	for _, part := range []func(context.Context, app.Archive, string, *archive.SnapshotFact) error{fillAgents, fillMessages, fillActions, fillFiles} {
		if err := part(ctx, x, id, f); err != nil {
			return err
		}
	}
	return nil
}

// addTasks flattens a tree of tasks; ids of different sessions may be the same.
func addTasks(f *archive.SnapshotFact, tree []app.TaskTree, parent string) {
	for _, n := range tree {
		id := n.ID
		if parent != "" {
			id = parent + "/" + id
		}
		f.Tasks = append(f.Tasks, archive.SnapshotTask{
			ID: id, Parent: parent, Subject: cmp.Or(n.Subject, "task "+n.ID), Description: n.Description, Status: n.Status, Owner: n.Agent,
		})
		addTasks(f, n.Tasks, id)
	}
}

func fillAgents(ctx context.Context, x app.Archive, id string, f *archive.SnapshotFact) error {
	if f.Agents != nil {
		return nil
	}
	list, err := x.Index.Sessions(ctx, archive.SessionFilter{Parent: id, Agents: true})
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(list) {
		if s.Relation == archive.RelationAgent {
			f.Agents = append(f.Agents, archive.SnapshotAgent{ID: archive.ShortID(s.ID), Type: s.Agent.Type, Task: cmp.Or(s.Agent.Description, s.Title)})
		}
	}
	return nil
}

func fillMessages(ctx context.Context, x app.Archive, id string, f *archive.SnapshotFact) error {
	if f.Messages != nil {
		return nil
	}
	said, err := x.Index.Passages(ctx, archive.PassageSpan{
		Span: archive.Span{Session: id, Limit: filledMessages, Newest: true}, Kinds: []archive.PassageKind{archive.KindPrompt, archive.KindReply},
	})
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(said) {
		from := "agent"
		if p.Kind == archive.KindPrompt {
			from = "user"
		}
		f.Messages = append(f.Messages, archive.SnapshotMessage{From: from, Text: p.Text, Time: p.Time})
	}
	return nil
}

func fillActions(ctx context.Context, x app.Archive, id string, f *archive.SnapshotFact) error {
	if f.Actions != nil {
		return nil
	}
	calls, err := x.Index.Calls(ctx, archive.CallSpan{
		Span: archive.Span{Session: id, Limit: filledActions, Newest: true}, Kinds: []archive.CallKind{archive.CallCommand, archive.CallEdit},
	})
	if err != nil {
		return err
	}
	for _, c := range slices.Backward(calls) {
		a := archive.SnapshotAction{Tool: c.Name, Command: c.Command, Exit: c.Exit, Failed: c.Failed, Error: c.Error}
		if c.Kind == archive.CallEdit && len(c.Files) > 0 {
			a.File = c.Files[0]
		}
		f.Actions = append(f.Actions, a)
	}
	return nil
}

func fillFiles(ctx context.Context, x app.Archive, id string, f *archive.SnapshotFact) error {
	if f.Files != nil {
		return nil
	}
	touches, err := x.Index.Files(ctx, archive.Span{Session: id})
	if err != nil {
		return err
	}
	for _, one := range app.Files(touches, filledFiles) {
		if one.Changes > 0 {
			f.Files = append(f.Files, one.Path)
		}
	}
	return nil
}
