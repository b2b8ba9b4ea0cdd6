package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// CompatDCM names the service of an earlier program, whose hooks are shell scripts that
// send requests without a token.
const CompatDCM = "dcm"

// record is a JSON object.
type record = app.Record

// resource is a table of records that clients list, read, create and change.
type resource struct {
	table, one string // names of the table and of a record in an answer
	fields     []field
	filters    []string
	// parent is the field that names a record of parentTable, in whose session a new
	// record is. Without it the field session_id names the session.
	parent, parentTable string
	// child is the table whose records with the field childKey are part of one record.
	child, childKey string
}

// field is a field of a record.
type field struct {
	name     string
	kind     string // text, number, list, object, any
	required bool
	oneOf    []string
	normal   any // of a new record
}

func text(name string) field     { return field{name: name, kind: "text"} }
func required(name string) field { return field{name: name, kind: "text", required: true} }
func number(name string) field   { return field{name: name, kind: "number"} }
func list(name string) field     { return field{name: name, kind: "list"} }
func object(name string) field   { return field{name: name, kind: "object"} }
func status(normal string, oneOf ...string) field {
	return field{"status", "text", false, oneOf, normal}
}

// resources are the tables in the order of their hierarchy.
func resources() []resource {
	return []resource{
		{table: "sessions", one: "", filters: []string{"project_id", "active_only"}, child: "requests", childKey: "session_id", fields: []field{
			required("id"), text("project_id"), text("started_at"), text("ended_at"), number("total_tools_used"), number("total_success"), number("total_errors"),
		}},
		{table: "requests", one: "request", filters: []string{"project_id", "session_id", "status"}, child: "tasks", childKey: "request_id", fields: []field{
			text("project_id"), required("session_id"), required("prompt"), text("prompt_type"), object("metadata"),
			status("active", "active", "completed", "failed", "cancelled"),
		}},
		{table: "tasks", one: "task", filters: []string{"request_id", "session_id", "status"}, parent: "request_id", parentTable: "requests", child: "subtasks", childKey: "task_id", fields: []field{
			required("request_id"), text("name"), number("wave_number"), status("pending", "pending", "running", "completed", "failed", "blocked"),
		}},
		{table: "subtasks", one: "subtask", filters: []string{"task_id", "session_id", "status", "agent_type", "agent_id"}, parent: "task_id", parentTable: "tasks", fields: []field{
			required("task_id"), required("description"), text("agent_type"), text("agent_id"), text("parent_agent_id"), list("blocked_by"), object("context_snapshot"),
			object("result"), text("batch_id"), number("max_turns"), number("priority"), status("pending", "pending", "running", "paused", "blocked", "completed", "failed"),
		}},
		{table: "actions", one: "action", filters: []string{"session_id", "tool_type", "tool_name", "subtask_id"}, fields: []field{
			required("tool_name"), {name: "tool_type", kind: "text", required: true, oneOf: []string{"builtin", "agent", "skill", "command", "mcp", "blocked"}},
			text("input"), text("output"), number("exit_code"), number("duration_ms"), list("file_paths"), text("subtask_id"), text("session_id"), text("project_path"), object("metadata"),
		}},
		{table: "messages", one: "message", filters: []string{"session_id", "topic", "from_agent", "to_agent"}, fields: []field{
			required("from_agent"), text("to_agent"), required("topic"), {name: "content", kind: "any", required: true}, text("session_id"), text("project_id"),
			{name: "priority", kind: "number", normal: 0.0}, {name: "ttl_seconds", kind: "number", normal: 3600.0},
		}},
		{table: "agent-contexts", one: "context", filters: []string{"agent_type", "agent_id", "status", "session_id", "project_id"}, fields: []field{
			required("agent_id"), required("agent_type"), object("role_context"), text("progress_summary"), list("skills_to_restore"), list("tools_used"), text("session_id"), text("project_id"), text("status"),
		}},
	}
}

// plural is the name of the list in an answer.
func (t resource) plural() string { return strings.TrimPrefix(t.table, "agent-") }

// Records are tables of facts that clients read and post.
type Records interface {
	// Records returns the matching records, newest first, and how many there are.
	Records(ctx context.Context, q app.RecordQuery) ([]app.Record, int, error)
	// PostRecord stores fields of a record; an empty id makes a new one of the session.
	PostRecord(ctx context.Context, table, id, session string, fields app.Record) (app.Record, error)
	// ProjectRecord returns the ID and the path of the project in a folder.
	ProjectRecord(dir string) (id, path string, err error)
	// ToolFiles counts the files of the user's skills, commands, workflows and plugins.
	ToolFiles() map[string]int
}

// dcm answers the requests of the earlier service.
type dcm struct {
	*Server
	facts Records
}

// dcmMux returns the handler of the earlier service's routes.
func (s *Server) dcmMux() http.Handler {
	d := dcm{s, s.opts.Archive.Records}
	m := http.NewServeMux()
	handle := func(pattern string, do func(c *call) (any, int, error)) { m.Handle(pattern, d.handle(do)) }
	for _, t := range resources() {
		path := "/api/" + t.table
		handle("GET "+path, d.list(t))
		handle("POST "+path, d.create(t))
		if t.table == "messages" {
			handle("GET "+path+"/{id}", d.inbox)
			continue
		}
		handle("GET "+path+"/{id}", d.one(t))
		handle("PATCH "+path+"/{id}", d.change(t))
	}
	for pattern, do := range d.others() {
		handle(pattern, do)
	}
	handle("/", func(c *call) (any, int, error) {
		return nil, 0, archive.NotFound("no such path: "+c.Method+" "+archive.Clip(c.URL.Path, 100), "docs/http.md lists the paths that are answered")
	})
	return m
}

// handle returns the handler of a route. Errors have the form {"error": "…"}.
func (d dcm) handle(do func(c *call) (any, int, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), handlerTimeout)
		defer cancel()
		release, err := d.acquireReader(ctx)
		var answer any
		code := 0
		if err == nil {
			defer release()
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			answer, code, err = do(&call{Request: r.WithContext(ctx), query: r.URL.Query(), now: d.opts.Now})
		}
		if err != nil {
			answer, code = d.problem(r, err)
		}
		if code == http.StatusNoContent {
			w.WriteHeader(code)
			return
		}
		data, err := encode(answer, d.opts.Redact)
		if err != nil {
			d.fail(w, r, err)
			return
		}
		writeJSON(w, "application/json", code, data)
	})
}

// list returns the handler that lists a table.
func (d dcm) list(t resource) func(*call) (any, int, error) {
	return func(c *call) (any, int, error) {
		limit, offset, err := c.page()
		if err != nil {
			return nil, 0, err
		}
		q := app.RecordQuery{Table: t.table, Limit: limit, Offset: offset, Filter: map[string]string{}}
		for _, name := range t.filters {
			if v := c.query.Get(name); v != "" {
				q.Filter[name] = v
			}
		}
		list, total, err := d.facts.Records(c.Context(), q)
		return record{t.plural(): append([]record{}, list...), "count": len(list), "total": total, "limit": limit, "offset": offset, "timestamp": d.opts.Now().UTC()}, http.StatusOK, err
	}
}

// one returns the handler of one record, with its children.
func (d dcm) one(t resource) func(*call) (any, int, error) {
	return func(c *call) (any, int, error) {
		rec, err := d.find(c.Context(), t.table, c.PathValue("id"))
		if err == nil && t.child != "" {
			rec[t.child], err = d.children(c.Context(), t.child, t.childKey, rec["id"])
		}
		return t.wrap(rec), http.StatusOK, err
	}
}

// wrap returns the answer that holds one record.
func (t resource) wrap(rec record) record {
	if t.one == "" {
		return rec
	}
	return record{"success": true, t.one: rec}
}

// find returns a record, or an error with CodeNotFound.
func (d dcm) find(ctx context.Context, table string, id any) (record, error) {
	key, _ := id.(string)
	list, _, err := d.facts.Records(ctx, app.RecordQuery{Table: table, ID: key})
	if err != nil {
		return nil, err
	}
	if key == "" || len(list) == 0 {
		return nil, archive.NotFound(fmt.Sprintf("there is no record %q in %s", archive.Clip(key, 100), table), "GET /api/"+table+" lists them")
	}
	return list[0], nil
}

func (d dcm) children(ctx context.Context, table, key string, id any) ([]record, error) {
	list, _, err := d.facts.Records(ctx, app.RecordQuery{Table: table, Filter: map[string]string{key: fmt.Sprint(id)}})
	return append([]record{}, list...), err
}

// create returns the handler that creates a record.
func (d dcm) create(t resource) func(*call) (any, int, error) {
	return func(c *call) (any, int, error) {
		in, err := c.object()
		if err == nil {
			in, err = t.check(in, true)
		}
		if err != nil {
			return nil, 0, err
		}
		session, _ := in["session_id"].(string)
		id := ""
		if t.table == "sessions" {
			id, _ = in["id"].(string)
			session = id
			delete(in, "id")
		}
		if t.parent != "" {
			parent, err := d.find(c.Context(), t.parentTable, in[t.parent])
			if err != nil {
				return nil, 0, err
			}
			session, _ = parent["session_id"].(string)
			in["session_id"] = session
		}
		if err := d.complete(c.Context(), t, in); err != nil {
			return nil, 0, err
		}
		rec, err := d.facts.PostRecord(c.Context(), t.table, id, session, in)
		return t.wrap(rec), http.StatusCreated, err
	}
}

// complete adds the fields of a new record that follow from others.
func (d dcm) complete(ctx context.Context, t resource, in record) error {
	now := d.opts.Now().UTC()
	switch t.table {
	case "sessions":
		if in["started_at"] == nil {
			in["started_at"] = now.Format(time.RFC3339)
		}
	case "tasks":
		if in["wave_number"] == nil {
			waves, err := d.children(ctx, "tasks", "request_id", in["request_id"])
			if err != nil {
				return err
			}
			in["wave_number"] = len(waves)
		}
		if in["name"] == nil {
			in["name"] = fmt.Sprintf("Wave %v", in["wave_number"])
		}
	case "subtasks":
		in["task_list_id"] = in["task_id"]
		if in["status"] == "running" {
			in["started_at"] = now.Format(time.RFC3339)
		}
	case "messages":
		seconds, _ := in["ttl_seconds"].(float64)
		in["expires_at"] = now.Add(time.Duration(min(max(seconds, 1), 86400)) * time.Second).Format(time.RFC3339)
		in["is_broadcast"] = in["to_agent"] == nil
	case "agent-contexts":
		if role, ok := in["role_context"].(map[string]any); ok && in["status"] == nil {
			in["status"] = role["status"]
		}
		in["last_updated"] = now.Format(time.RFC3339)
	}
	return nil
}

// change returns the handler that changes fields of a record.
func (d dcm) change(t resource) func(*call) (any, int, error) {
	return func(c *call) (any, int, error) {
		in, err := c.object()
		if err == nil {
			in, err = t.check(in, false)
		}
		if err != nil {
			return nil, 0, err
		}
		rec, err := d.find(c.Context(), t.table, c.PathValue("id"))
		if err != nil {
			return nil, 0, err
		}
		rec, err = d.update(c.Context(), t.table, rec, in)
		return t.wrap(rec), http.StatusOK, err
	}
}

// update stores changed fields of a record, and the time of its start or end.
func (d dcm) update(ctx context.Context, table string, rec, in record) (record, error) {
	now := d.opts.Now().UTC().Format(time.RFC3339)
	switch in["status"] {
	case "running":
		if rec["started_at"] == nil {
			in["started_at"] = now
		}
	case "completed", "failed", "cancelled":
		in["completed_at"] = now
	}
	id, _ := rec["id"].(string)
	session, _ := rec["session_id"].(string)
	if table == "sessions" {
		session = id
	}
	return d.facts.PostRecord(ctx, table, id, session, in)
}

// check returns the known fields of a body. With whole set it is a new record's.
func (t resource) check(in record, whole bool) (record, error) {
	out := record{}
	for _, f := range t.fields {
		v, given := in[f.name]
		switch {
		case given && v != nil:
			if err := f.check(v); err != nil {
				return nil, err
			}
			out[f.name] = v
		case whole && f.required:
			return nil, archive.Invalid(f.name+" is missing", "send it as JSON")
		case given:
			out[f.name] = nil
		case whole && f.normal != nil:
			out[f.name] = f.normal
		}
	}
	if len(out) == 0 {
		return nil, archive.Invalid("the body has no field that can be stored", "known fields: "+strings.Join(archive.Convert(t.fields, func(f field) string { return f.name }), ", "))
	}
	return out, nil
}

// check refuses values of another type.
func (f field) check(v any) error {
	ok := true
	switch f.kind {
	case "text":
		var s string
		if s, ok = v.(string); ok && (f.required && s == "" || len(f.oneOf) > 0 && !slices.Contains(f.oneOf, s)) {
			return archive.Invalid(fmt.Sprintf("%q is not a valid %s", archive.Clip(s, 60), f.name), "use "+strings.Join(f.oneOf, ", "))
		}
	case "number":
		_, ok = v.(float64)
	case "list":
		_, ok = v.([]any)
	case "object":
		_, ok = v.(map[string]any)
	}
	if !ok {
		return archive.Invalid(f.name+" is not a "+f.kind, "send another value")
	}
	return nil
}

// The length of a list.
const dcmPage, dcmMaxPage = 100, 1000

// page returns the limit and the offset of a list.
func (c *call) page() (limit, offset int, err error) {
	limit = dcmPage
	for name, to := range map[string]*int{"limit": &limit, "offset": &offset} {
		if v := c.query.Get(name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 || n > maxOffset {
				return 0, 0, archive.Invalid(quoted(v)+" is not a valid "+name, "use a number")
			}
			*to = n
		}
	}
	return min(max(limit, 1), dcmMaxPage), offset, nil
}
