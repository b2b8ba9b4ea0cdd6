package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// The columns of each table after its key, in the order in which rows are
// written and read.
const (
	sessionColumns = "known, client, project, worktree, parent_id, relation, agent_id, agent_type, agent_desc, cwd, branch, " +
		"version, model, title, first, last, generation, bytes, lines, turns, steps, calls, compacts, input, output, " +
		"cache_read, cache_write, cost_usd, cost_api, cost_time, cost_turns, lines_added, lines_gone"
	turnColumns = "title, prompt_id, began, ended, line_from, line_to, steps, dead, copy_session, copy_turn, copy_step"
	stepColumns = "message_id, model, time, line_from, line_to, input, output, cache_read, cache_write, stop, api_error, sidechain, " +
		"copy_session, copy_turn, copy_step"
	callColumns       = "tool_id, name, kind, command, files, exit, failed, error, duration, line_use, line_result"
	fileColumns       = "kind, line, time"
	taskColumns       = "task_id, subject, status, time, turn, step"
	compactionColumns = "line, time, cause, pre_tokens, post_tokens, duration, summary_line, kept, ours, turn"
)

// Session stores the session's own row.
func (w *batchWriter) Session(ctx context.Context) error {
	x := &w.b.Session
	project, err := internProject(ctx, w.tx, x.Project)
	if err != nil {
		return err
	}
	_, err = exec(ctx, w.tx, updateSession(),
		true, clean(x.Client), project, clean(x.Project.Worktree), clean(x.Parent), string(x.Relation), clean(x.Agent.ID), clean(x.Agent.Type),
		clean(x.Agent.Description), clean(x.Cwd), clean(x.GitBranch), clean(x.Version), clean(x.Model), clean(x.Title),
		index.Nanos(x.First), index.Nanos(x.Last), x.Generation, x.Bytes, x.Lines, x.Turns, x.Steps, x.Calls, x.Compacts,
		x.Usage.Input, x.Usage.Output, x.Usage.CacheRead, x.Usage.CacheWrite, x.Cost.USD, int64(x.Cost.APITime), int64(x.Cost.Duration),
		x.Cost.Turns, x.Cost.LinesAdded, x.Cost.LinesGone, w.no, clean(w.s.opt.Author), clean(w.s.opt.Machine))
	return err
}

// updateSession keeps the parent that an earlier batch named: a fork is told by
// the rows that it copied, and later batches hold none of them.
func updateSession() string {
	names := strings.Split(sessionColumns, ", ")
	var set strings.Builder
	for i, c := range names {
		value := fmt.Sprintf("$%d", i+1)
		if c == "parent_id" || c == "relation" {
			value = "coalesce(nullif(" + value + ", ''), " + c + ")"
		}
		set.WriteString(c + " = " + value + ", ")
	}
	n := len(names)
	return fmt.Sprintf("UPDATE sessions SET %sauthor = $%d, machine = $%d WHERE no = $%d", set.String(), n+2, n+3, n+1)
}

// internProject returns the number of a project, 0 if it has no key. The
// description that came last is kept, as far as it says anything.
func internProject(ctx context.Context, tx pgx.Tx, p archive.Project) (no int64, err error) {
	if p.Key == "" {
		return 0, nil
	}
	args := []any{clean(p.Key), clean(p.Name), clean(p.Root), clean(p.Remote)}
	const held = "SELECT no FROM projects WHERE key = $1 AND $2 IN ('', name) AND $3 IN ('', root) AND $4 IN ('', remote)"
	if found, err := queryRow(ctx, tx, held, args, &no); err != nil || found {
		return no, err
	}
	const put = "INSERT INTO projects AS p (key, name, root, remote) VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO UPDATE SET " +
		"name = coalesce(nullif(excluded.name, ''), p.name), root = coalesce(nullif(excluded.root, ''), p.root), " +
		"remote = coalesce(nullif(excluded.remote, ''), p.remote) RETURNING no"
	_, err = queryRow(ctx, tx, put, args, &no)
	return no, err
}

// Turns stores the batch's turns.
func (w *batchWriter) Turns(ctx context.Context) error {
	put := newBulk("turns", "session, turn, "+turnColumns, 2)
	for i := range w.b.Turns {
		x := &w.b.Turns[i]
		owner, at := w.owner(x.Copy)
		put.add(w.no, x.Index, x.Title, x.PromptID, index.Nanos(x.Start), index.Nanos(x.End), x.LineFrom, x.LineTo, x.Steps, x.Dead,
			owner, at.Turn, at.Step)
	}
	// A rewind is found once, and a batch from before it may be applied again.
	if err := put.replace(ctx, w.tx, map[string]string{"dead": "turns.dead OR excluded.dead"}); err != nil || len(w.b.DeadTurns) == 0 {
		return err
	}
	_, err := exec(ctx, w.tx, "UPDATE turns SET dead = true WHERE session = $1 AND turn = ANY($2)", w.no, w.b.DeadTurns)
	return err
}

// Steps stores the batch's steps.
func (w *batchWriter) Steps(ctx context.Context) error {
	put := newBulk("steps", "session, turn, step, "+stepColumns, 3)
	for i := range w.b.Steps {
		x := &w.b.Steps[i]
		owner, at := w.owner(x.Copy)
		put.add(w.no, x.Turn, x.Index, x.MessageID, x.Model, index.Nanos(x.Time), x.LineFrom, x.LineTo, x.Usage.Input, x.Usage.Output,
			x.Usage.CacheRead, x.Usage.CacheWrite, x.Stop, x.APIError, x.Sidechain, owner, at.Turn, at.Step)
	}
	return put.replace(ctx, w.tx, nil)
}

// Calls stores the batch's calls of tools.
func (w *batchWriter) Calls(ctx context.Context) error {
	put := newBulk("calls", "session, turn, step, seq, "+callColumns, 4)
	for i := range w.b.Calls {
		x := &w.b.Calls[i]
		var exit *int64
		if x.Exit != nil {
			code := int64(*x.Exit)
			exit = &code
		}
		put.add(w.no, x.Turn, x.Step, x.Seq, x.ToolID, x.Name, string(x.Kind), x.Command, index.EncodeList(x.Files), exit, x.Failed, x.Error,
			int64(x.Duration), x.LineUse, x.LineResult)
	}
	return put.replace(ctx, w.tx, nil)
}

// Files stores which files the calls touched.
func (w *batchWriter) Files(ctx context.Context) error {
	put := newBulk("files", "session, turn, step, seq, path, "+fileColumns, 5)
	for i := range w.b.Files {
		x := &w.b.Files[i]
		put.add(w.no, x.Turn, x.Step, x.Seq, x.Path, string(x.Kind), x.Line, index.Nanos(x.Time))
	}
	return put.replace(ctx, w.tx, nil)
}

// Tasks stores the batch's events of tasks.
func (w *batchWriter) Tasks(ctx context.Context) error {
	put := newBulk("tasks", "session, line, seq, "+taskColumns, 3)
	for i := range w.b.Tasks {
		x := &w.b.Tasks[i]
		put.add(w.no, x.Line, x.Seq, x.TaskID, x.Subject, x.Status, index.Nanos(x.Time), x.Turn, x.Step)
	}
	return put.replace(ctx, w.tx, nil)
}

// Compactions stores the batch's compactions.
func (w *batchWriter) Compactions(ctx context.Context) error {
	put := newBulk("compactions", "session, idx, "+compactionColumns, 2)
	for i := range w.b.Compactions {
		x := &w.b.Compactions[i]
		put.add(w.no, x.Index, x.Line, index.Nanos(x.Time), x.Trigger, x.PreTokens, x.PostTokens, int64(x.Duration), x.SummaryLine, x.Kept,
			x.Ours, x.Turn)
		if x.SummaryLine >= 0 {
			if err := dropHookSummaries(ctx, w.tx, index.BaseID(w.b.Session.ID), index.Nanos(x.Time)); err != nil {
				return err
			}
		}
	}
	return put.replace(ctx, w.tx, nil)
}

// Identities stores by what the rows are known when they come again.
func (w *batchWriter) Identities(ctx context.Context) error {
	put := newBulk("identities", "key, session, turn, step", 1)
	for i := range w.b.Keys {
		k := &w.b.Keys[i]
		if _, there := put.at[fmt.Sprint(int64(k.Key))]; there {
			continue // the first owner keeps it
		}
		owner, _ := w.owner(&k.Ref)
		put.add(int64(k.Key), owner, k.Ref.Turn, k.Ref.Step)
	}
	return put.insert(ctx, w.tx, "ON CONFLICT (key) DO NOTHING")
}

// Cursor stores up to where the session is stored now.
func (w *batchWriter) Cursor(ctx context.Context) error {
	c := &w.b.Cursor
	_, err := exec(ctx, w.tx, "INSERT INTO cursors (session, generation, position, line, state) VALUES ($1, $2, $3, $4, $5) "+
		"ON CONFLICT (session) DO UPDATE SET generation = excluded.generation, position = excluded.position, line = excluded.line, state = excluded.state",
		w.no, c.Generation, c.Offset, c.Line, c.State)
	return err
}
