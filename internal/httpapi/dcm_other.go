package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// answering is a handler that returns an answer and a status.
type answering = func(c *call) (any, int, error)

// others are the routes besides those of the tables, by pattern.
func (d dcm) others() map[string]answering {
	return map[string]answering{
		"GET /health":              d.health,
		"GET /stats":               d.counts,
		"GET /stats/tools-summary": d.toolFiles,

		"POST /api/compact/save":              d.save,
		"POST /api/compact/restore":           d.restore,
		"GET /api/compact/status/{session}":   d.status,
		"GET /api/compact/snapshot/{session}": d.snapshot,

		"GET /api/projects":                d.list(resource{table: "projects"}),
		"POST /api/projects":               d.createProject,
		"GET /api/projects/by-path":        d.projectByPath,
		"GET /api/projects/{id}":           d.one(resource{table: "projects", one: "project", child: "requests", childKey: "project_id"}),
		"GET /api/hierarchy/{id}":          d.hierarchy,
		"GET /api/active-sessions":         d.activeAgents,
		"POST /api/subtasks/close-session": d.closeSession,
		"GET /api/waves/{id}/current":      d.wave,
		"GET /api/waves/{id}/history":      d.waves,

		"GET /api/context/health/{id}":                d.contextHealth,
		"GET /api/capacity/{id}":                      d.capacity,
		"POST /api/capacity/{id}/reset":               d.capacity,
		"POST /api/tokens/track":                      d.ignore(http.StatusNoContent, nil),
		"POST /api/tokens/realtime":                   d.ignore(http.StatusNoContent, nil),
		"POST /api/agents/track-turn":                 d.ignore(http.StatusOK, record{"success": true, "turns_used": 0, "max_turns": nil, "should_warn": false, "should_stop": false}),
		"GET /api/registry":                           d.ignore(http.StatusOK, record{"agents": []record{}, "count": 0}),
		"GET /api/registry/{type}":                    d.ignore(http.StatusOK, record{"agent": nil}),
		"PUT /api/registry/{type}":                    d.ignore(http.StatusOK, record{"success": true, "stored": false}),
		"POST /api/registry/import":                   d.ignore(http.StatusOK, record{"success": true, "stored": false}),
		"POST /api/registry/enrich-context":           d.ignore(http.StatusOK, record{"enriched_context_markdown": ""}),
		"POST /api/orchestration/craft-prompt":        d.craftPrompt,
		"POST /api/orchestration/batch/{id}/complete": d.ignore(http.StatusOK, record{"success": true}),
	}
}

// ignore returns a handler that stores nothing. It still refuses bodies that are not JSON.
func (d dcm) ignore(code int, answer any) answering {
	return func(c *call) (any, int, error) {
		if c.Method != http.MethodGet && c.ContentLength != 0 {
			if _, err := c.object(); err != nil {
				return nil, 0, err
			}
		}
		return answer, code, nil
	}
}

// craftPrompt returns the prompt as it is.
func (d dcm) craftPrompt(c *call) (any, int, error) {
	in, err := c.object()
	return record{"success": true, "crafted_prompt": in["task_description"], "agent_type": in["agent_type"], "max_turns": nil, "model": nil}, http.StatusOK, err
}

func (d dcm) health(c *call) (any, int, error) {
	return record{"status": "healthy", "timestamp": d.opts.Now().UTC(), "version": d.opts.Version, "service": "strandline", "database": record{"healthy": true}, "features": record{}}, http.StatusOK, nil
}

func (d dcm) counts(c *call) (any, int, error) {
	s, err := d.opts.Archive.Status(c.Context())
	return record{
		"projects": s.Projects, "sessions": s.Sessions, "requests": s.Turns, "subtasks": s.Agents, "actions": s.Calls, "compactions": s.Compactions, "timestamp": d.opts.Now().UTC(),
	}, http.StatusOK, err
}

func (d dcm) toolFiles(c *call) (any, int, error) {
	out := record{"cached_at": d.opts.Now().UTC(), "from_cache": false}
	for kind, n := range d.facts.ToolFiles() {
		out[kind] = n
	}
	return out, http.StatusOK, nil
}

// save stores a snapshot.
func (d dcm) save(c *call) (any, int, error) {
	var in app.PostedSnapshot
	if err := c.decode(&in); err != nil {
		return nil, 0, err
	}
	if in.Session == "" {
		return nil, 0, archive.Invalid("session_id is missing", "send the client's session id")
	}
	if in.Trigger != "" && !slices.Contains([]string{"auto", "manual", archive.TriggerProactive}, in.Trigger) {
		return nil, 0, archive.Invalid(quoted(in.Trigger)+" is not a valid trigger", "use auto, manual or proactive")
	}
	s, err := d.opts.Archive.SaveSnapshot(c.Context(), in.Draft())
	return record{
		"success": true, "status": "success", "id": s.ID, "session_id": s.Session, "saved_at": s.Time, "left_out": append([]string{}, s.LeftOut...),
		"snapshot": record{
			"id": s.ID, "session_id": s.Session, "trigger": s.Trigger, "tasks_count": len(s.Tasks), "files_count": len(s.Files), "decisions_count": len(s.Decisions), "agents_count": len(s.Agents),
		},
	}, http.StatusCreated, err
}

// Tokens are estimated at this many characters.
const charsPerToken = 3.5

// The tokens of a restored context.
const minTokens, defaultTokens, maxTokens = 100, 2000, 8000

// restore returns the context to restore, of the archived session or else of its newest
// snapshot, and notes the compaction.
func (d dcm) restore(c *call) (any, int, error) {
	var in struct {
		Session   string `json:"session_id"`
		AgentID   string `json:"agent_id"`
		AgentType string `json:"agent_type"`
		Summary   string `json:"compact_summary"`
		Tokens    int    `json:"max_tokens"`
	}
	if err := c.decode(&in); err != nil {
		return nil, 0, err
	}
	if in.Session == "" {
		return nil, 0, archive.Invalid("session_id is missing", "send the client's session id")
	}
	if in.Tokens = cmp.Or(in.Tokens, defaultTokens); in.Tokens < minTokens || in.Tokens > maxTokens {
		return nil, 0, archive.Invalid(fmt.Sprintf("max_tokens is %d", in.Tokens), fmt.Sprintf("use %d to %d", minTokens, maxTokens))
	}
	budget := int(float64(in.Tokens) * charsPerToken)
	tail := ""
	if in.Summary != "" {
		tail = "\n\n---\n## Previous Context Summary\n" + archive.Clip(d.opts.Redact(in.Summary), budget/3)
	}
	left := budget - len(tail)
	role := app.RoleOf(in.AgentType)
	source := "session"
	got, err := d.opts.Archive.Restore(c.Context(), app.ContextQuery{Session: in.Session, Role: role, Budget: &left})
	brief := got.Text
	if archive.ErrorCode(err) == archive.CodeNotFound { // not captured: what was posted
		source = "snapshot"
		var posted app.SnapshotBrief
		posted, err = d.opts.Archive.SnapshotBrief(c.Context(), app.SnapshotQuery{ID: "latest", Session: in.Session}, role, left)
		brief = posted.Text
		if archive.ErrorCode(err) == archive.CodeNotFound {
			err = nil
		}
	}
	if err != nil {
		return nil, 0, err
	}
	now := d.opts.Now().UTC()
	fields := record{"compacted_at": now.Format(time.RFC3339), "compact_agent": in.AgentID, "compact_summary": in.Summary}
	if _, err := d.facts.PostRecord(c.Context(), "sessions", in.Session, in.Session, fields); err != nil {
		return nil, 0, err
	}
	sources := []record{}
	if brief != "" {
		sources = append(sources, record{"type": source, "id": in.Session, "relevance": 1.0, "summary": "Strandline's record of the " + source})
	}
	for _, h := range got.Handles {
		sources = append(sources, record{"type": "history", "id": h, "relevance": 0.8, "summary": "strandline show " + h})
	}
	brief += tail
	return record{
		"success": true, "brief": brief, "additionalContext": brief, "sources": sources, "session_compacted": true, "restored_at": now,
		"token_count": int(float64(len(brief))/charsPerToken + 1), "truncated": got.LeftOut > 0,
	}, http.StatusOK, nil
}

// status reports the newest compaction of a session.
func (d dcm) status(c *call) (any, int, error) {
	id := c.PathValue("session")
	out := record{"session_id": id, "exists": false, "compacted": false, "compacted_at": nil, "compact_summary": nil, "compact_agent": nil}
	rec, err := d.find(c.Context(), "sessions", id)
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return out, http.StatusOK, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for name := range out {
		if v := rec[name]; v != nil && v != "" {
			out[name] = v
		}
	}
	out["exists"] = true
	list, err := d.opts.Archive.Compactions(c.Context(), app.CompactionsQuery{Session: id, Limit: 1})
	if err == nil && len(list) > 0 && out["compacted_at"] == nil {
		out["compacted_at"] = list[0].Time.UTC()
	}
	out["compacted"] = out["compacted_at"] != nil
	return out, http.StatusOK, nil
}

// snapshot returns the newest snapshot of a session.
func (d dcm) snapshot(c *call) (any, int, error) {
	id := c.PathValue("session")
	s, err := d.opts.Archive.Snapshot(c.Context(), app.SnapshotQuery{ID: "latest", Session: id})
	if archive.ErrorCode(err) == archive.CodeNotFound {
		return record{"session_id": id, "exists": false, "snapshot": nil}, http.StatusOK, nil
	}
	return record{
		"session_id": s.Session, "exists": true, "id": s.ID, "snapshot": app.NewPostedSnapshot(s.Session, s.SnapshotFact, s.Time), "summary": s.Summary,
		"modified_files": append([]string{}, s.Files...), "saved_at": s.Time,
	}, http.StatusOK, err
}

func (d dcm) createProject(c *call) (any, int, error) {
	t := resource{table: "projects", one: "project", fields: []field{required("path"), text("name"), object("metadata")}}
	in, err := c.object()
	if err == nil {
		in, err = t.check(in, true)
	}
	if err != nil {
		return nil, 0, err
	}
	dir, _ := in["path"].(string)
	id, path, err := d.facts.ProjectRecord(dir)
	if err != nil {
		return nil, 0, err
	}
	in["path"], in["updated_at"] = path, d.opts.Now().UTC().Format(time.RFC3339)
	rec, err := d.facts.PostRecord(c.Context(), t.table, id, "", in)
	return t.wrap(rec), http.StatusCreated, err
}

func (d dcm) projectByPath(c *call) (any, int, error) {
	path := strings.TrimSpace(c.query.Get("path"))
	if path == "" || len(path) > maxText || strings.ContainsRune(path, 0) {
		return nil, 0, archive.Invalid("the parameter path is missing or too long", "add ?path=/folder")
	}
	id, _, err := d.facts.ProjectRecord(path)
	if err != nil {
		return nil, 0, err
	}
	rec, err := d.find(c.Context(), "projects", id)
	return record{"project": rec}, http.StatusOK, err
}

// hierarchy returns a project with its requests, their tasks and their subtasks.
func (d dcm) hierarchy(c *call) (any, int, error) {
	ctx := c.Context()
	project, err := d.find(ctx, "projects", c.PathValue("id"))
	if err != nil {
		return nil, 0, err
	}
	counts := record{}
	parents := map[string]record{}
	levels := []struct{ table, key string }{{"requests", ""}, {"tasks", "request_id"}, {"subtasks", "task_id"}}
	var requests []record
	sessions := map[string]bool{}
	for i, l := range levels {
		var all []record
		if i == 0 {
			if requests, err = d.children(ctx, l.table, "project_id", project["id"]); err != nil {
				return nil, 0, err
			}
			all = requests
		} else {
			for _, session := range slices.Sorted(maps.Keys(sessions)) {
				list, err := d.children(ctx, l.table, "session_id", session)
				if err != nil {
					return nil, 0, err
				}
				all = append(all, list...)
			}
		}
		counts[l.table] = len(all)
		level := map[string]record{}
		for _, rec := range all {
			id, _ := rec["id"].(string)
			level[id] = rec
			if i == 0 {
				session, _ := rec["session_id"].(string)
				sessions[session] = true
			} else if parent := parents[fmt.Sprint(rec[l.key])]; parent != nil {
				list, _ := parent[l.table].([]record)
				parent[l.table] = append(list, rec)
			}
			if i+1 < len(levels) {
				rec[levels[i+1].table] = []record{}
			}
		}
		parents = level
	}
	project["requests"] = requests
	return record{"hierarchy": project, "counts": counts, "stats": nil}, http.StatusOK, nil
}

func (d dcm) activeAgents(c *call) (any, int, error) {
	list, err := d.children(c.Context(), "subtasks", "status", "running")
	return record{"active_agents": list, "count": len(list)}, http.StatusOK, err
}

// closeSession ends the running subtasks that were posted for a session.
func (d dcm) closeSession(c *call) (any, int, error) {
	in, err := c.object()
	if err != nil {
		return nil, 0, err
	}
	session, _ := in["session_id"].(string)
	if session == "" {
		return nil, 0, archive.Invalid("session_id is missing", "send the client's session id")
	}
	list, err := d.running(c.Context(), session)
	for i := 0; err == nil && i < len(list); i++ {
		_, err = d.update(c.Context(), "subtasks", list[i], record{"status": "completed", "result": record{"summary": "the session ended"}})
	}
	return record{"success": true, "session_id": session, "closed_count": len(list)}, http.StatusOK, err
}

func (d dcm) running(ctx context.Context, session string) ([]record, error) {
	list, _, err := d.facts.Records(ctx, app.RecordQuery{Table: "subtasks", Filter: map[string]string{"session_id": session, "status": "running"}})
	return list, err
}

// inbox returns the messages to an agent and to all that have not expired, those of the
// highest priority first.
func (d dcm) inbox(c *call) (any, int, error) {
	agent := c.PathValue("id")
	limit, _, err := c.page()
	if err != nil {
		return nil, 0, err
	}
	all, _, err := d.facts.Records(c.Context(), app.RecordQuery{Table: "messages"})
	now := d.opts.Now().UTC().Format(time.RFC3339)
	list := archive.Select(all, func(m record) bool {
		until, _ := m["expires_at"].(string)
		broadcast := m["to_agent"] == nil && c.query.Get("include_broadcasts") != "false"
		topic := c.query.Get("topic")
		return (m["to_agent"] == agent || broadcast) && (until == "" || until > now) && (topic == "" || m["topic"] == topic)
	})
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(priority(b), priority(a)) })
	list = list[:min(limit, len(list))]
	return record{"agent_id": agent, "messages": append([]record{}, list...), "count": len(list), "unread_remaining": 0}, http.StatusOK, err
}

func priority(m record) float64 {
	switch n := m["priority"].(type) {
	case float64:
		return n
	case int:
		return float64(n)
	}
	return 0
}

// wave returns the wave that is running, or else the newest.
func (d dcm) wave(c *call) (any, int, error) {
	list, err := d.wavesOf(c)
	if err == nil && len(list) == 0 {
		err = archive.NotFound("the session has no wave", "POST /api/tasks creates one")
	}
	if err != nil {
		return nil, 0, err
	}
	at := slices.IndexFunc(list, func(w record) bool { return w["status"] == "running" })
	if at < 0 {
		at = len(list) - 1
	}
	return record{"wave": list[at]}, http.StatusOK, nil
}

func (d dcm) waves(c *call) (any, int, error) {
	list, err := d.wavesOf(c)
	return record{"waves": append([]record{}, list...), "count": len(list)}, http.StatusOK, err
}

// wavesOf returns a session's tasks as waves, oldest first, with counts of their subtasks.
func (d dcm) wavesOf(c *call) ([]record, error) {
	session := c.PathValue("id")
	tasks, err := d.children(c.Context(), "tasks", "session_id", session)
	if err != nil {
		return nil, err
	}
	subtasks, err := d.children(c.Context(), "subtasks", "session_id", session)
	slices.Reverse(tasks)
	for _, t := range tasks {
		counts := map[any]int{}
		for _, s := range subtasks {
			if s["task_id"] == t["id"] {
				counts["total"]++
				counts[s["status"]]++
			}
		}
		t["total_tasks"], t["completed_tasks"], t["failed_tasks"] = counts["total"], counts["completed"], counts["failed"]
		if t["started_at"] == nil {
			t["started_at"] = t["created_at"]
		}
	}
	return tasks, err
}

// The zones of the earlier service begin at these shares of the context window.
func zoneOf(percent int) string {
	for _, z := range []struct {
		from int
		name string
	}{{95, "critical"}, {85, "red"}, {70, "orange"}, {50, "yellow"}} {
		if percent >= z.from {
			return z.name
		}
	}
	return "green"
}

// usage returns the use of the context window by the session with an agent's ID.
func (d dcm) usage(c *call) (record, int, error) {
	list, err := d.opts.Archive.Running(c.Context())
	out := record{"agent_id": c.PathValue("id"), "zone": "green", "usage_percent": 0, "current_usage": 0, "max_capacity": 200_000, "minutes_remaining": "∞", "compact_count": 0}
	percent := 0
	for _, s := range list {
		if s.Session == c.PathValue("id") && s.Window > 0 {
			percent = int(s.Share*100 + 0.5)
			out["usage_percent"], out["zone"], out["current_usage"], out["max_capacity"] = percent, zoneOf(percent), s.Tokens, s.Window
		}
	}
	if archive.ErrorCode(err) == archive.CodeNotFound {
		err = nil
	}
	return out, percent, err
}

func (d dcm) capacity(c *call) (any, int, error) {
	out, percent, err := d.usage(c)
	out["shouldIntervene"] = percent >= 70
	return out, http.StatusOK, err
}

func (d dcm) contextHealth(c *call) (any, int, error) {
	out, percent, err := d.usage(c)
	action, message := "none", "Context usage normal."
	switch zone := zoneOf(percent); zone {
	case "red", "critical":
		action, message = "compact", fmt.Sprintf("Context at %d%%. Run /compact now.", percent)
	case "orange":
		action, message = "save", fmt.Sprintf("Context at %d%%. Consider /compact soon.", percent)
	case "yellow":
		action, message = "warn", fmt.Sprintf("Context at %d%%.", percent)
	}
	return record{"server": record{"status": "ok"}, "capacity": out, "recommendation": record{"action": action, "message": message}, "shouldCompact": percent >= 70}, http.StatusOK, err
}
