package index

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/archive"
)

// The columns of each table after its key, in the order in which rows are written
// and read.
const (
	sessionColumns = "known, client, project, worktree, parent_id, relation, agent_id, agent_type, agent_desc, cwd, branch, " +
		"version, model, title, first, last, generation, bytes, lines, turns, steps, calls, compacts, input, output, " +
		"cache_read, cache_write, cost_usd, cost_api, cost_time, cost_turns, lines_added, lines_gone"
	copyColumns = "copy_session, copy_turn, copy_step"
	stepColumns = "message_id, model, time, line_from, line_to, input, output, cache_read, cache_write, stop, api_error, sidechain, " +
		copyColumns
	callColumns       = "tool_id, name, kind, command, files, exit, failed, error, duration, line_use, line_result"
	fileColumns       = "kind, line, time"
	taskColumns       = "task_id, subject, status, time, turn, step"
	compactionColumns = "line, time, cause, pre_tokens, post_tokens, duration, summary_line, kept, ours, turn"
)

// turnColumns are those of turns, whose times the databases name differently.
func (s *Store) turnColumns() string {
	return "title, prompt_id, " + s.sql.Start + ", " + s.sql.End + ", line_from, line_to, steps, dead, " + copyColumns
}

// Apply stores a batch in one transaction. Rows replace those at the same place;
// an identity stays with its first owner, and a dead turn stays dead.
//
// A batch that ends at or before the session's cursor was applied already and
// changes nothing. A batch that begins elsewhere than at the cursor fails with
// archive.ErrStale.
func (s *Store) Apply(ctx context.Context, b archive.Batch) error {
	return s.ApplyAll(ctx, []archive.Batch{b})
}

// ApplyAll stores several batches in one transaction. Batches of one session keep
// their order.
func (s *Store) ApplyAll(ctx context.Context, bs []archive.Batch) error {
	ids := make([]string, len(bs))
	for i := range bs {
		if ids[i] = bs[i].Session.ID; !ValidID(ids[i]) {
			return invalidSession(ids[i])
		}
	}
	return s.write(ctx, "store a session", func(calm context.Context, tx Tx) error {
		numbers := make(map[string]int64, len(ids))
		if err := internAll(calm, tx, numbers, ids); err != nil {
			return err
		}
		order := make([]*archive.Batch, len(bs))
		for i := range bs {
			order[i] = &bs[i]
		}
		// SQLite's full-text table takes ascending passage IDs fastest. In PostgreSQL
		// all transactions lock sessions in the same order and so avoid deadlocks.
		slices.SortStableFunc(order, func(x, y *archive.Batch) int { return int(numbers[x.Session.ID] - numbers[y.Session.ID]) })
		for _, b := range order {
			if err := ctx.Err(); err != nil {
				return err
			}
			w := batchWriter{Store: s, tx: tx, b: b, no: numbers[b.Session.ID], numbers: numbers}
			if err := w.write(calm); err != nil {
				return err
			}
		}
		return nil
	})
}

func invalidSession(id string) error {
	return archive.Invalid(fmt.Sprintf("%q is not a session ID", archive.Clip(id, 60)), "")
}

// batchWriter stores one batch.
type batchWriter struct {
	*Store
	tx      Tx
	b       *archive.Batch
	no      int64            // of the session
	numbers map[string]int64 // of sessions, by ID
}

// write stores the batch if it is the next one of its session.
func (w *batchWriter) write(ctx context.Context) error {
	due, err := w.due(ctx)
	if err != nil || !due {
		return err
	}
	if err := internAll(ctx, w.tx, w.numbers, copiedFrom(w.b)); err != nil {
		return err
	}
	for _, part := range w.parts() {
		if part.rows != nil {
			err = w.tx.Put(ctx, part.table, part.rows)
		}
		if err == nil && part.then != nil {
			err = part.then(ctx)
		}
		if err != nil {
			return fmt.Errorf("store %s of %s: %w", part.table.Name, w.b.Session.ID, err)
		}
	}
	return nil
}

// part is a part of a batch: rows of a table, and the work after they are stored.
type part struct {
	table Table
	rows  iter.Seq[[]any]
	then  func(context.Context) error
}

// parts returns the parts of the batch in the order in which they are stored.
func (w *batchWriter) parts() []part {
	return []part{
		{table: Table{Name: "session"}, then: w.session},
		// A rewind is found once, and a batch from before it may be applied again.
		{Table{Name: "turns", Columns: "session, turn, " + w.turnColumns(), Key: 2, Sticky: "dead"}, rowsOf(w.b.Turns, func(x *archive.Turn) []any {
			owner, at := w.origin(x.Copy)
			return []any{
				w.no, x.Index, x.Title, x.PromptID, Nanos(x.Start), Nanos(x.End), x.LineFrom, x.LineTo, x.Steps, x.Dead, owner, at.Turn, at.Step,
			}
		}), w.deadTurns},
		{Table{Name: "steps", Columns: "session, turn, step, " + stepColumns, Key: 3}, rowsOf(w.b.Steps, func(x *archive.Step) []any {
			owner, at := w.origin(x.Copy)
			return []any{
				w.no, x.Turn, x.Index, x.MessageID, x.Model, Nanos(x.Time), x.LineFrom, x.LineTo, x.Usage.Input, x.Usage.Output,
				x.Usage.CacheRead, x.Usage.CacheWrite, x.Stop, x.APIError, x.Sidechain, owner, at.Turn, at.Step,
			}
		}), nil},
		{Table{Name: "calls", Columns: "session, turn, step, seq, " + callColumns, Key: 4}, rowsOf(w.b.Calls, func(x *archive.Call) []any {
			return []any{
				w.no, x.Turn, x.Step, x.Seq, x.ToolID, x.Name, string(x.Kind), x.Command, EncodeList(x.Files), x.Exit, x.Failed, x.Error,
				int64(x.Duration), x.LineUse, x.LineResult,
			}
		}), nil},
		{Table{Name: "files", Columns: "session, turn, step, seq, path, " + fileColumns, Key: 5}, rowsOf(w.b.Files, func(x *archive.FileTouch) []any {
			return []any{w.no, x.Turn, x.Step, x.Seq, x.Path, string(x.Kind), x.Line, Nanos(x.Time)}
		}), nil},
		{Table{Name: "tasks", Columns: "session, line, seq, " + taskColumns, Key: 3}, rowsOf(w.b.Tasks, func(x *archive.TaskEvent) []any {
			return []any{w.no, x.Line, x.Seq, x.TaskID, x.Subject, x.Status, Nanos(x.Time), x.Turn, x.Step}
		}), nil},
		{Table{Name: "compactions", Columns: "session, idx, " + compactionColumns, Key: 2}, rowsOf(w.b.Compactions, func(x *archive.Compaction) []any {
			return []any{
				w.no, x.Index, x.Line, Nanos(x.Time), x.Trigger, x.PreTokens, x.PostTokens, int64(x.Duration), x.SummaryLine, x.Kept, x.Ours, x.Turn,
			}
		}), w.replaceHookSummaries},
		{table: Table{Name: "passages"}, then: w.passages},
		{Table{Name: "identities", Columns: "key, session, turn, step", Key: 1, Keep: true}, rowsOf(w.b.Keys, func(x *archive.Identity) []any {
			return []any{int64(x.Key), w.numbers[x.Ref.Session], x.Ref.Turn, x.Ref.Step}
		}), nil},
		{
			Table{Name: "cursors", Columns: "session, generation, " + w.sql.Offset + ", line, state", Key: 1},
			rowsOf([]archive.Cursor{w.b.Cursor}, func(c *archive.Cursor) []any { return []any{w.no, c.Generation, c.Offset, c.Line, c.State} }), nil,
		},
	}
}

func (w *batchWriter) due(ctx context.Context) (bool, error) {
	if err := w.tx.Claim(ctx, w.no, w.b.Session.ID); err != nil {
		return false, err
	}
	var generation int
	var offset int64
	found, err := w.tx.QueryRow(ctx, "SELECT generation, "+w.sql.Offset+" FROM cursors WHERE session = ?", []any{w.no}, &generation, &offset)
	if err != nil {
		return false, err
	}
	return Due(w.b, found, generation, offset)
}

// Due reports whether a batch is the next one of its session. found says whether
// the session has a cursor, at an offset of a generation. A batch that was applied
// already is not due; any other that does not begin at the cursor fails with
// archive.ErrStale.
func Due(b *archive.Batch, found bool, generation int, offset int64) (bool, error) {
	switch {
	case found && generation != b.Cursor.Generation:
		return false, fmt.Errorf("%s is at generation %d: %w", b.Session.ID, generation, archive.ErrStale)
	case b.From == offset:
		return true, nil
	case b.Cursor.Offset <= offset:
		return false, nil
	}
	return false, fmt.Errorf("%s is at %d, the batch begins at %d: %w", b.Session.ID, offset, b.From, archive.ErrStale)
}

// copiedFrom lists the sessions that a batch's rows were copied from.
func copiedFrom(b *archive.Batch) (ids []string) {
	add := func(ref *archive.Ref) {
		if ref != nil && (len(ids) == 0 || ids[len(ids)-1] != ref.Session) {
			ids = append(ids, ref.Session)
		}
	}
	for i := range b.Turns {
		add(b.Turns[i].Copy)
	}
	for i := range b.Steps {
		add(b.Steps[i].Copy)
	}
	for i := range b.Keys {
		add(&b.Keys[i].Ref)
	}
	return ids
}

// origin returns the values of copyColumns. The session that a row was copied from
// may be archived later, or never.
func (w *batchWriter) origin(ref *archive.Ref) (session int64, at archive.Ref) {
	if ref == nil {
		return 0, archive.Ref{}
	}
	return w.numbers[ref.Session], *ref
}

func (w *batchWriter) session(ctx context.Context) error {
	x := &w.b.Session
	project, err := internProject(ctx, w.tx, x.Project)
	if err != nil {
		return err
	}
	columns, args := sessionColumns, []any{
		true, x.Client, project, x.Project.Worktree, x.Parent, string(x.Relation), x.Agent.ID, x.Agent.Type, x.Agent.Description,
		x.Cwd, x.GitBranch, x.Version, x.Model, x.Title, Nanos(x.First), Nanos(x.Last), x.Generation, x.Bytes, x.Lines,
		x.Turns, x.Steps, x.Calls, x.Compacts, x.Usage.Input, x.Usage.Output, x.Usage.CacheRead, x.Usage.CacheWrite,
		x.Cost.USD, int64(x.Cost.APITime), int64(x.Cost.Duration), x.Cost.Turns, x.Cost.LinesAdded, x.Cost.LinesGone,
	}
	if c := w.sql.Contributor; c != nil {
		columns, args = columns+", author, machine", append(args, c.Author, c.Machine)
	}
	_, err = w.tx.Exec(ctx, updateSession(columns), append(args, w.no)...)
	return err
}

// updateSession keeps the parent that an earlier batch found: a fork is recognised
// by the rows it copied, and later batches hold none of them.
func updateSession(columns string) string {
	set := strings.Split(columns, ", ")
	for i, c := range set {
		value := "?" + strconv.Itoa(i+1)
		if c == "parent_id" || c == "relation" {
			value = "coalesce(nullif(" + value + ", ''), " + c + ")"
		}
		set[i] = c + " = " + value
	}
	return "UPDATE sessions SET " + strings.Join(set, ", ") + " WHERE no = ?" + strconv.Itoa(len(set)+1)
}

// deadTurns marks the turns that a rewind abandoned.
func (w *batchWriter) deadTurns(ctx context.Context) (err error) {
	for i := 0; err == nil && i < len(w.b.DeadTurns); i++ {
		_, err = w.tx.Exec(ctx, "UPDATE turns SET dead = true WHERE session = ? AND turn = ?", w.no, w.b.DeadTurns[i])
	}
	return err
}

// replaceHookSummaries deletes the summaries that hooks reported before a summary in the
// transcript.
func (w *batchWriter) replaceHookSummaries(ctx context.Context) (err error) {
	for i := 0; err == nil && i < len(w.b.Compactions); i++ {
		if x := &w.b.Compactions[i]; x.SummaryLine >= 0 {
			err = dropHookSummaries(ctx, w.tx, BaseID(w.b.Session.ID), Nanos(x.Time))
		}
	}
	return err
}

func (w *batchWriter) passages(ctx context.Context) error {
	agent := w.b.Session.Relation == archive.RelationAgent || archive.IsAgentID(w.b.Session.ID)
	return w.tx.PutPassages(ctx, w.no, agent, w.b.Passages)
}

// Place identifies a passage within its session.
type Place struct{ Turn, Step, Seq int }

// PlaceOf returns the place of a passage.
func PlaceOf(p *archive.Passage) Place { return Place{p.Turn, p.Step, p.Seq} }

// Held is a stored passage.
type held struct {
	id  ID
	sum int64 // see Checksum
}

const (
	heldQuery = "SELECT turn, step, seq, id, sum FROM passages WHERE session = ? AND turn BETWEEN ? AND ?"
	// A hook adds passages to one turn, and a headless session is one turn of
	// thousands of steps: only the steps that may change are read.
	heldInTurnQuery = "SELECT turn, step, seq, id, sum FROM passages WHERE session = ? AND turn = ? AND step BETWEEN ? AND ?"
)

// HeldPassages returns the stored passages of the steps that ps, which is not
// empty, covers.
func heldPassages(ctx context.Context, tx Tx, session int64, ps []archive.Passage) (map[Place]held, error) {
	byStep := func(p, q archive.Passage) int {
		return cmp.Or(cmp.Compare(p.Turn, q.Turn), cmp.Compare(p.Step, q.Step))
	}
	from, to := slices.MinFunc(ps, byStep), slices.MaxFunc(ps, byStep)
	query, args := heldQuery, []any{session, from.Turn, to.Turn}
	if from.Turn == to.Turn {
		query, args = heldInTurnQuery, []any{session, from.Turn, from.Step, to.Step}
	}
	out := map[Place]held{}
	err := tx.Query(ctx, query, args, func(scan Scan) error {
		var at Place
		var h held
		err := scan(&at.Turn, &at.Step, &at.Seq, &h.id, &h.sum)
		out[at] = h
		return err
	})
	return out, err
}

// PassageRow is a passage to store.
type PassageRow struct {
	*archive.Passage
	ID    ID
	Paths string // encoded
	Sum   int64  // see Checksum
}

// PassageColumns are the columns of Values.
const PassageColumns = "id, session, turn, step, seq, kind, label, paths, line_from, line_to, time, partial, sum, text"

// Values returns the row's values in a session.
func (r *PassageRow) Values(session int64) []any {
	return []any{
		int64(r.ID), session, r.Turn, r.Step, r.Seq, string(r.Kind), r.Label, r.Paths, r.LineFrom, r.LineTo, Nanos(r.Time), r.Partial, r.Sum, r.Text,
	}
}

// PassagePlan is how a store puts passages of one session, each at the place that it
// identifies.
type PassagePlan struct {
	Moved    []PassageRow // stored with the same text; label, lines, time and Partial may change
	Replaced []int64      // stored passages with another text, to be deleted
	Added    []PassageRow // with new IDs
	Next     int64        // the session's next_doc after Added
}

// PlanPassages compares passages of one session with the stored ones. Of several at one
// place the last counts. lock is the dialect's ForUpdate.
func PlanPassages(ctx context.Context, tx Tx, lock string, session int64, agent bool, ps []archive.Passage) (plan PassagePlan, err error) {
	if len(ps) == 0 {
		return plan, nil
	}
	stored, err := heldPassages(ctx, tx, session, ps)
	if err != nil {
		return plan, err
	}
	plan.Next, err = Value[int64](ctx, tx, "SELECT next_doc FROM sessions WHERE no = ?"+lock, session)
	last := make(map[Place]int, len(ps))
	for i := range ps {
		last[PlaceOf(&ps[i])] = i
	}
	for i := range ps {
		p := &ps[i]
		at := PlaceOf(p)
		if last[at] != i {
			continue
		}
		row := PassageRow{Passage: p, Paths: EncodeList(p.Paths)}
		row.Sum = Checksum(p, row.Paths)
		old, exists := stored[at]
		if row.ID = old.id; exists && old.sum == row.Sum {
			plan.Moved = append(plan.Moved, row)
			continue
		}
		if exists {
			plan.Replaced = append(plan.Replaced, int64(old.id))
		}
		row.ID = NewID(session, plan.Next, agent, p.Kind)
		plan.Next++
		plan.Added = append(plan.Added, row)
	}
	return plan, err
}
