package sqlite

import (
	"context"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/index"
)

// The columns of each table after its key, in the order in which rows are
// written and read.
const (
	sessionColumns = "known, client, project, worktree, parent_id, relation, agent_id, agent_type, agent_desc, cwd, branch, " +
		"version, model, title, first, last, generation, bytes, lines, turns, steps, calls, compacts, input, output, " +
		"cache_read, cache_write, cost_usd, cost_api, cost_time, cost_turns, lines_added, lines_gone"
	turnColumns = "title, prompt_id, start, end, line_from, line_to, steps, dead, copy_session, copy_turn, copy_step"
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
	project, err := w.s.internProject(ctx, x.Project)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, updateSession(),
		1, x.Client, project, x.Project.Worktree, x.Parent, string(x.Relation), x.Agent.ID, x.Agent.Type, x.Agent.Description,
		x.Cwd, x.GitBranch, x.Version, x.Model, x.Title, index.Nanos(x.First), index.Nanos(x.Last), x.Generation, x.Bytes, x.Lines,
		x.Turns, x.Steps, x.Calls, x.Compacts, x.Usage.Input, x.Usage.Output, x.Usage.CacheRead, x.Usage.CacheWrite,
		x.Cost.USD, int64(x.Cost.APITime), int64(x.Cost.Duration), x.Cost.Turns, x.Cost.LinesAdded, x.Cost.LinesGone, w.no)
	return err
}

// updateSession keeps the parent that an earlier batch named: a fork is told by
// the rows that it copied, and later batches hold none of them.
func updateSession() string {
	var set strings.Builder
	n := 0
	for c := range strings.SplitSeq(sessionColumns, ", ") {
		n++
		value := "?" + strconv.Itoa(n)
		if c == "parent_id" || c == "relation" {
			value = "iif(" + value + " = '', " + c + ", " + value + ")"
		}
		set.WriteString(c + " = " + value + ", ")
	}
	return "UPDATE sessions SET " + strings.TrimSuffix(set.String(), ", ") + " WHERE no = ?" + strconv.Itoa(n+1)
}

const projectQuery = "SELECT no, name, root, remote FROM projects WHERE key = ?"

// internProject returns the number of a project, 0 if it has no key. The
// description that came last is kept, as far as it says anything.
func (s *Store) internProject(ctx context.Context, p archive.Project) (no int64, err error) {
	if p.Key == "" {
		return 0, nil
	}
	var name, root, remote string
	found, err := s.queryRow(ctx, projectQuery, []any{p.Key}, &no, &name, &root, &remote)
	switch {
	case err != nil:
		return 0, err
	case !found:
		r, err := s.exec(ctx, "INSERT INTO projects (key, name, root, remote) VALUES (?, ?, ?, ?)", p.Key, p.Name, p.Root, p.Remote)
		if err != nil {
			return 0, err
		}
		return r.LastInsertId()
	}
	say := func(now, before string) string {
		if now == "" {
			return before
		}
		return now
	}
	n, r, m := say(p.Name, name), say(p.Root, root), say(p.Remote, remote)
	if n != name || r != root || m != remote {
		_, err = s.exec(ctx, "UPDATE projects SET name = ?, root = ?, remote = ? WHERE no = ?", n, r, m, no)
	}
	return no, err
}

// upsertTurn leaves a dead turn dead: a rewind is found once, and a batch from
// before it may be applied again.
func upsertTurn() string {
	return strings.Replace(upsert("turns", "session, turn", turnColumns), "dead = excluded.dead", "dead = max(dead, excluded.dead)", 1)
}

func replaceStep() string   { return replace("steps", "session, turn, step", stepColumns) }
func replaceCall() string   { return replace("calls", "session, turn, step, seq", callColumns) }
func replaceFile() string   { return replace("files", "session, turn, step, seq, path", fileColumns) }
func replaceCursor() string { return replace("cursors", "session", "generation, offset, line, state") }

// Turns stores the batch's turns.
func (w *batchWriter) Turns(ctx context.Context) error {
	query := upsertTurn()
	for i := range w.b.Turns {
		x := &w.b.Turns[i]
		owner, at, err := w.owner(ctx, x.Copy)
		if err != nil {
			return err
		}
		if _, err := w.s.exec(ctx, query, w.no, x.Index,
			x.Title, x.PromptID, index.Nanos(x.Start), index.Nanos(x.End), x.LineFrom, x.LineTo, x.Steps, bit(x.Dead), owner, at.Turn, at.Step); err != nil {
			return err
		}
	}
	for _, turn := range w.b.DeadTurns {
		if _, err := w.s.exec(ctx, "UPDATE turns SET dead = 1 WHERE session = ? AND turn = ?", w.no, turn); err != nil {
			return err
		}
	}
	return nil
}

// Steps stores the batch's steps.
func (w *batchWriter) Steps(ctx context.Context) error {
	query := replaceStep()
	for i := range w.b.Steps {
		x := &w.b.Steps[i]
		owner, at, err := w.owner(ctx, x.Copy)
		if err != nil {
			return err
		}
		if _, err := w.s.exec(ctx, query, w.no, x.Turn, x.Index,
			x.MessageID, x.Model, index.Nanos(x.Time), x.LineFrom, x.LineTo, x.Usage.Input, x.Usage.Output, x.Usage.CacheRead,
			x.Usage.CacheWrite, x.Stop, bit(x.APIError), bit(x.Sidechain), owner, at.Turn, at.Step); err != nil {
			return err
		}
	}
	return nil
}

// Calls stores the batch's calls of tools.
func (w *batchWriter) Calls(ctx context.Context) error {
	query := replaceCall()
	for i := range w.b.Calls {
		x := &w.b.Calls[i]
		var exit any
		if x.Exit != nil {
			exit = *x.Exit
		}
		if _, err := w.s.exec(ctx, query, w.no, x.Turn, x.Step, x.Seq,
			x.ToolID, x.Name, string(x.Kind), x.Command, index.EncodeList(x.Files), exit, bit(x.Failed), x.Error, int64(x.Duration),
			x.LineUse, x.LineResult); err != nil {
			return err
		}
	}
	return nil
}

// Files stores which files the calls touched.
func (w *batchWriter) Files(ctx context.Context) error {
	query := replaceFile()
	for i := range w.b.Files {
		x := &w.b.Files[i]
		if _, err := w.s.exec(ctx, query, w.no, x.Turn, x.Step, x.Seq, x.Path, string(x.Kind), x.Line, index.Nanos(x.Time)); err != nil {
			return err
		}
	}
	return nil
}

// Tasks stores the batch's events of tasks.
func (w *batchWriter) Tasks(ctx context.Context) error {
	query := replace("tasks", "session, line, seq", taskColumns)
	for i := range w.b.Tasks {
		x := &w.b.Tasks[i]
		if _, err := w.s.exec(ctx, query, w.no, x.Line, x.Seq, x.TaskID, x.Subject, x.Status, index.Nanos(x.Time), x.Turn, x.Step); err != nil {
			return err
		}
	}
	return nil
}

// Compactions stores the batch's compactions.
func (w *batchWriter) Compactions(ctx context.Context) error {
	query := replace("compactions", "session, idx", compactionColumns)
	for i := range w.b.Compactions {
		x := &w.b.Compactions[i]
		if _, err := w.s.exec(ctx, query, w.no, x.Index, x.Line, index.Nanos(x.Time), x.Trigger, x.PreTokens, x.PostTokens,
			int64(x.Duration), x.SummaryLine, x.Kept, bit(x.Ours), x.Turn); err != nil {
			return err
		}
		if x.SummaryLine >= 0 {
			if err := w.s.dropHookSummaries(ctx, index.BaseID(w.b.Session.ID), index.Nanos(x.Time)); err != nil {
				return err
			}
		}
	}
	return nil
}

const insertIdentity = "INSERT OR IGNORE INTO identities (key, session, turn, step) VALUES (?, ?, ?, ?)"

// Identities stores by what the rows are known when they come again.
func (w *batchWriter) Identities(ctx context.Context) error {
	for i := range w.b.Keys {
		k := &w.b.Keys[i]
		owner, _, err := w.owner(ctx, &k.Ref)
		if err != nil {
			return err
		}
		if _, err := w.s.exec(ctx, insertIdentity, int64(k.Key), owner, k.Ref.Turn, k.Ref.Step); err != nil {
			return err
		}
	}
	return nil
}

// Cursor stores up to where the session is stored now.
func (w *batchWriter) Cursor(ctx context.Context) error {
	c := &w.b.Cursor
	_, err := w.s.exec(ctx, replaceCursor(), w.no, c.Generation, c.Offset, c.Line, c.State)
	return err
}
