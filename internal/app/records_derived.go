package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// derived returns the records of the query's table that follow from captured sessions.
func (r *recordReader) derived() (list []Record) {
	if r.q.Table == "projects" {
		return r.projects()
	}
	if r.q.Table == "agent-contexts" {
		return append(r.agentContexts(), r.snapshotContexts()...)
	}
	for _, s := range r.sessions() {
		if r.err != nil {
			break
		}
		switch r.q.Table {
		case "sessions":
			list = append(list, r.sessionRecord(s))
		case "requests":
			list = append(list, r.requests(s)...)
		case "actions":
			list = append(list, r.actions(s)...)
		default:
			list = append(list, r.agentRecords(s)...)
		}
	}
	return list
}

// sessions returns the sessions that the query is about, or the newest. Sub-agents are only
// those of active sessions then.
func (r *recordReader) sessions() []archive.Session {
	f := archive.SessionFilter{Limit: recordSessions}
	if r.q.Table == "sessions" {
		f.Limit = 0
	}
	if id := r.session(); id != "" {
		f.IDs = []string{id}
	} else if id := r.q.Filter["project_id"]; id != "" {
		f.Projects = []string{""}
		for _, p := range r.allProjects() {
			if projectID(p.Project.Key) == id {
				f.Projects = []string{p.Project.Key}
			}
		}
	}
	if agents := slices.Contains([]string{"tasks", "subtasks", "messages"}, r.q.Table); agents && f.IDs == nil && f.Projects == nil {
		f.Since = r.now.Add(-recently) // hooks take the answer for the present work
	}
	return rows(r.ctx, &r.err, "sessions", f, r.x.Index.Sessions, nil)
}

func (r *recordReader) allProjects() []archive.ProjectSummary {
	return rows(r.ctx, &r.err, "projects", struct{}{}, func(ctx context.Context, _ struct{}) ([]archive.ProjectSummary, error) {
		return r.x.Index.Projects(ctx)
	}, nil)
}

func (r *recordReader) projects() (list []Record) {
	for _, p := range r.allProjects() {
		list = append(list, Record{
			"id": projectID(p.Project.Key), "path": ProjectPath(p.Project), "name": p.Project.Name, "created_at": stamp(p.First), "updated_at": stamp(p.Last),
			"metadata": Record{}, "sessions": p.Sessions,
		})
	}
	return list
}

func (r *recordReader) sessionRecord(s archive.Session) Record {
	failed := 0
	if r.q.ID != "" {
		failed = len(rows(r.ctx, &r.err, "calls", archive.CallSpan{Span: archive.Span{Session: s.ID}}, r.x.Index.Calls, func(c archive.Call) bool { return c.Failed }))
	}
	rec := Record{
		"id": s.ID, "project_id": projectID(s.Project.Key), "started_at": stamp(s.First), "ended_at": nil,
		"total_tools_used": s.Calls, "total_success": s.Calls - failed, "total_errors": failed, "title": s.Title,
	}
	if !r.live(s) {
		rec["ended_at"] = stamp(s.Last)
	}
	return rec
}

// live reports whether a session was written to a short time ago.
func (r *recordReader) live(s archive.Session) bool { return r.now.Sub(s.Last) < recently }

// requests returns a session's prompts.
func (r *recordReader) requests(s archive.Session) (list []Record) {
	span := archive.Span{Session: s.ID}
	prompts := map[int]string{}
	for _, p := range rows(r.ctx, &r.err, "prompts", archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindPrompt}}, r.x.Index.Passages, nil) {
		prompts[p.Turn] += p.Text
	}
	turns := rows(r.ctx, &r.err, "turns", span, r.x.Index.Turns, func(t archive.Turn) bool { return !t.Dead && t.Title != "" })
	for i, t := range turns {
		rec := Record{
			"id": turnID(s.ID, t.Index), "project_id": projectID(s.Project.Key), "session_id": s.ID, "prompt": cmp.Or(prompts[t.Index], t.Title), "prompt_type": nil,
			"status": "completed", "created_at": stamp(t.Start), "completed_at": stamp(t.End), "metadata": Record{"handle": t.Ref().Handle()},
		}
		if i == len(turns)-1 && r.live(s) {
			rec["status"], rec["completed_at"] = "active", nil
		}
		list = append(list, rec)
	}
	return list
}

func turnID(session string, turn int) string { return session + "." + strconv.Itoa(turn) }

// actions returns a session's newest calls.
func (r *recordReader) actions(s archive.Session) (list []Record) {
	span := archive.CallSpan{Span: archive.Span{Session: s.ID, Newest: true, Limit: r.q.Limit + r.q.Offset}}
	if r.q.ID != "" {
		span.Limit = 0
	}
	steps := map[archive.Ref]archive.Step{}
	calls := rows(r.ctx, &r.err, "calls", span, r.x.Index.Calls, nil)
	if len(calls) > 0 {
		from := slices.MinFunc(calls, func(a, b archive.Call) int { return a.Turn - b.Turn }).Turn
		for _, st := range rows(r.ctx, &r.err, "steps", archive.Span{Session: s.ID, TurnFrom: from, TurnTo: s.Turns + 1}, r.x.Index.Steps, nil) {
			steps[archive.Ref{Turn: st.Turn, Step: st.Index}] = st
		}
	}
	for _, c := range calls {
		exit := 0
		if c.Failed {
			exit = 1
		}
		if c.Exit != nil {
			exit = *c.Exit
		}
		list = append(list, Record{
			"id": s.ID + "." + c.ToolID, "session_id": s.ID, "tool_name": c.Name, "tool_type": toolType(c), "input": cmp.Or(c.Command, strings.Join(c.Files, " ")), "output": c.Error,
			"exit_code": exit, "duration_ms": c.Duration.Milliseconds(), "file_paths": append([]string{}, c.Files...),
			"created_at": stamp(steps[archive.Ref{Turn: c.Turn, Step: c.Step}].Time), "handle": c.Ref().Handle(),
		})
	}
	return list
}

func toolType(c archive.Call) string {
	switch {
	case c.Kind == archive.CallAgent:
		return "agent"
	case strings.HasPrefix(c.Name, "mcp__"):
		return "mcp"
	case c.Name == "Skill":
		return "skill"
	}
	return "builtin"
}

// agentRecords returns the records of the query's table that follow from a session's runs of
// sub-agents. The runs that one prompt started are a task, which is a wave.
func (r *recordReader) agentRecords(s archive.Session) (list []Record) {
	h, err := task.Load(r.ctx, r.x.Index, s.ID, 0)
	if err != nil {
		r.err = err
		return nil
	}
	var wave Record
	tasks := []Record{}
	for _, t := range h.List() {
		if t.Kind != task.KindAgent {
			continue
		}
		turn := turnID(s.ID, t.First.Turn)
		if wave == nil || wave["request_id"] != turn {
			wave = Record{
				"id": s.ID + ".w" + strconv.Itoa(t.First.Turn), "request_id": turn, "session_id": s.ID, "name": fmt.Sprintf("Wave %d", len(tasks)), "wave_number": len(tasks), "status": "completed",
				"created_at": stamp(t.Created), "started_at": stamp(t.Created), "completed_at": nil, "total_tasks": 0, "completed_tasks": 0, "failed_tasks": 0,
			}
			tasks = append(tasks, wave)
		}
		sub := r.subtask(s, t)
		count(wave, sub)
		switch r.q.Table {
		case "subtasks":
			sub["task_id"], sub["task_list_id"] = wave["id"], wave["id"]
			list = append(list, sub)
		case "messages":
			if sub["status"] == "completed" {
				list = append(list, Record{
					"id": sub["id"], "session_id": s.ID, "from_agent": sub["agent_type"], "to_agent": nil, "topic": "task.completed", "priority": 3,
					"content":    Record{"agent_type": sub["agent_type"], "description": sub["description"], "result_summary": t.Result},
					"created_at": sub["completed_at"], "expires_at": nil,
				})
			}
		}
	}
	if r.q.Table == "tasks" {
		return tasks
	}
	return list
}

// count adds a run to its wave.
func count(wave, sub Record) {
	add := func(name string) { n, _ := wave[name].(int); wave[name] = n + 1 }
	add("total_tasks")
	switch sub["status"] {
	case "running":
		wave["status"] = "running"
	case "failed":
		add("failed_tasks")
	default:
		add("completed_tasks")
	}
	if wave["completed_at"] = sub["completed_at"]; wave["status"] == "running" {
		wave["completed_at"] = nil
	}
}

// subtask returns the record of a sub-agent's run. A run of a session that is not active any
// more has ended.
func (r *recordReader) subtask(s archive.Session, t task.Task) Record {
	rec := Record{
		"id": s.ID + "." + t.ID[len("agent:"):], "session_id": s.ID, "agent_type": t.Agent, "agent_id": cmp.Or(t.AgentID, t.ID), "parent_agent_id": nil,
		"description": t.Subject, "status": "completed", "blocked_by": []string{}, "created_at": stamp(t.Created), "started_at": stamp(t.Created),
		"completed_at": stamp(t.Changed), "context_snapshot": nil, "result": nil,
	}
	switch {
	case t.Status == task.InProgress && r.live(s):
		rec["status"], rec["completed_at"] = "running", nil
	case t.Status == task.InProgress || t.Status == task.Failed:
		rec["status"] = "failed"
	}
	if t.Result != "" {
		rec["result"] = Record{"summary": t.Result}
	}
	return rec
}

// agentContexts returns the subtasks as contexts of their agents.
func (r *recordReader) agentContexts() (list []Record) {
	q := RecordQuery{Table: "subtasks", ID: r.q.ID, Filter: maps.Clone(r.q.Filter)}
	delete(q.Filter, "agent_id")
	subtasks, err := r.app.records(r.ctx, r.x, q)
	r.err = errors.Join(r.err, err)
	for _, sub := range subtasks {
		summary := sub["description"]
		if result, ok := sub["result"].(Record); ok && result["summary"] != nil {
			summary = result["summary"]
		}
		list = append(list, Record{
			"id": sub["id"], "session_id": sub["session_id"], "agent_id": sub["agent_id"], "agent_type": sub["agent_type"], "status": sub["status"],
			"role_context":     Record{"status": sub["status"], "task": sub["description"], "spawned_at": sub["started_at"]},
			"progress_summary": summary, "tools_used": []string{}, "skills_to_restore": []string{}, "last_updated": cmp.Or(sub["completed_at"], sub["started_at"], sub["created_at"]),
		})
	}
	return list
}

// snapshotContexts returns the snapshots as contexts of the agent type compact-snapshot.
func (r *recordReader) snapshotContexts() (list []Record) {
	if r.err != nil {
		return nil
	}
	facts, err := r.x.Index.Facts(r.ctx, r.q.Filter["session_id"], archive.JournalSnapshot)
	r.err = err
	for _, e := range facts {
		f, ok := archive.FactOf[archive.SnapshotFact](&e)
		if !ok || r.now.Sub(e.Time) > archive.PostedAge {
			continue
		}
		list = append(list, Record{
			"id": e.Session + "." + e.ID, "session_id": e.Session, "agent_id": fmt.Sprintf("compact-snapshot-%s-%d", e.Session, e.Time.UnixMilli()), "agent_type": "compact-snapshot",
			"role_context": NewPostedSnapshot(e.Session, f, e.Time), "progress_summary": cmp.Or(f.Summary, "Pre-compact snapshot"), "tools_used": append([]string{}, f.Files...),
			"skills_to_restore": append([]string{}, f.Skills...), "last_updated": stamp(e.Time),
		})
	}
	return list
}
