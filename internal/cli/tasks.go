package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// taskJSON is a task for scripts.
type taskJSON struct {
	Session     string    `json:"session"`
	ID          string    `json:"id"`
	Kind        string    `json:"kind"`
	Subject     string    `json:"subject"`
	Description string    `json:"description,omitempty"`
	Status      string    `json:"status"`
	Handle      string    `json:"handle"`
	Last        string    `json:"last"`
	StartTurn   int       `json:"start_turn"`
	EndTurn     int       `json:"end_turn"`
	Steps       int       `json:"steps"`
	Agent       string    `json:"agent_type,omitempty"`
	AgentHandle string    `json:"agent_handle,omitempty"`
	Result      string    `json:"result,omitempty"`
	Created     time.Time `json:"created"`
	Changed     time.Time `json:"changed"`
}

func toTaskJSON(t task.Task) taskJSON {
	j := taskJSON{
		Session: t.Session, ID: t.ID, Kind: string(t.Kind), Subject: t.Subject, Description: t.Description, Status: t.Status,
		Handle: t.First.Handle(), Last: t.Last.Handle(), StartTurn: t.First.Turn, EndTurn: t.Last.Turn, Steps: t.End - t.Start,
		Agent: t.Agent, Result: t.Result, Created: t.Created, Changed: t.Changed,
	}
	if t.AgentID != "" {
		j.AgentHandle = archive.ShortID(t.AgentID)
	}
	return j
}

func (a *app) tasksCommand() *cobra.Command {
	var typed string
	var asJSON, open bool
	cmd := &cobra.Command{
		Use:   "tasks",
		Short: "List what a session worked on, and how far it got",
		Long: `List the tasks of a session: those of the client's task tools and of to-do lists,
sub-agents' runs with their outcome, and, where a session keeps no list, the topics that
its conversation went through. An item that a to-do list drops while it is open counts
as deleted. FIRST is where the work on it began.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(cmd.Context(), StoreRead, func(x indexed) error { return a.tasks(cmd.Context(), x, typed, open, asJSON) })
		},
	}
	sessionFlag(cmd, &typed)
	cmd.Flags().BoolVar(&open, "open", false, "only those with work left")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (a *app) tasks(ctx context.Context, x indexed, typed string, open, asJSON bool) error {
	id, err := a.sessionOrLast(ctx, x, typed)
	if err != nil {
		return err
	}
	past, err := task.Load(ctx, x.store, id, 0)
	if err != nil {
		return err
	}
	out := []taskJSON{}
	for _, t := range past.All() {
		if !open || t.Open() {
			out = append(out, toTaskJSON(t))
		}
	}
	if asJSON {
		return a.printJSON(out)
	}
	if len(out) == 0 {
		fmt.Fprintf(a.out, "No task in session %s.\n", archive.ShortID(id))
		return nil
	}
	t := newTable("FIRST", "STATUS", "KIND", ">STEPS", "SUBJECT")
	for _, j := range out {
		subject := cmp.Or(j.Subject, "(task "+j.ID+", its subject was not seen)")
		if j.Agent != "" {
			subject = j.Agent + ": " + subject
		}
		t.row(j.Handle, strings.ReplaceAll(j.Status, "_", " "), j.Kind, fmt.Sprint(j.Steps), subject)
	}
	return t.write(a.out, a.width())
}
