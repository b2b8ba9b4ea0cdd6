package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/compact"
)

// Record is a row of a table that earlier programs read and post: a project, a session, a
// request (a prompt), a task (the sub-agents that a prompt started), a subtask (a
// sub-agent's run), an action (a tool call), a message between agents, or an agent's
// context. The values are JSON.
type Record = map[string]any

// RecordQuery selects records. Filter holds the values that fields must have.
type RecordQuery struct {
	Table         string // one of archive.RecordTables
	ID            string
	Filter        map[string]string
	Limit, Offset int // a limit of 0 means all
}

// recordSessions is how many sessions a query reads that names none: the newest.
const recordSessions = 10

// Records returns the records that the archive holds, merged with those that programs
// posted, newest first, and their number before the limit.
func (a *App) Records(ctx context.Context, q RecordQuery) (list []Record, total int, err error) {
	err = a.reading(ctx, func(x Archive) error {
		list, err = a.records(ctx, x, q)
		return err
	})
	if archive.ErrorCode(err) == archive.CodeNotFound { // no archive yet
		err = nil
	}
	total = len(list)
	list = list[min(q.Offset, total):]
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, total, err
}

func (a *App) records(ctx context.Context, x Archive, q RecordQuery) ([]Record, error) {
	r := &recordReader{app: a, ctx: ctx, x: x, now: a.Now(), q: q}
	list := r.derived()
	byID := map[any]Record{}
	for _, rec := range list {
		byID[rec["id"]] = rec
	}
	covered := r.coverage(list)
	facts := r.facts()
	for i := range facts {
		f, ok := archive.FactOf[archive.RecordFact](&facts[i])
		if !ok || r.now.Sub(facts[i].Time) > archive.PostedAge {
			continue
		}
		rec := byID[f.ID]
		if rec == nil {
			rec = Record{"id": f.ID, "created_at": stamp(facts[i].Time)}
			byID[f.ID] = rec
			list = append(list, rec)
		}
		maps.Copy(rec, f.Fields)
	}
	list = slices.DeleteFunc(list, func(rec Record) bool { return !r.wanted(rec) || q.ID == "" && covered(rec) })
	slices.SortStableFunc(list, func(p, q Record) int { return cmp.Compare(order(q), order(p)) })
	return list, r.err
}

// order returns the time that a record is sorted by.
func order(rec Record) string {
	s, _ := cmp.Or(rec["created_at"], rec["last_updated"], rec["started_at"]).(string)
	return s
}

// wanted reports whether a record has the values of the query's filter.
func (r *recordReader) wanted(rec Record) bool {
	for name, value := range r.q.Filter {
		switch {
		case name == "active_only":
			if value == "true" && rec["ended_at"] != nil {
				return false
			}
		case fmt.Sprint(rec[name]) != value:
			return false
		}
	}
	return r.q.ID == "" || rec["id"] == r.q.ID
}

// coverage returns a function that reports whether a posted record repeats one that the
// archive holds: the run or the end of the same sub-agent, or a call of a session that was
// captured after it.
func (r *recordReader) coverage(derived []Record) func(Record) bool {
	own, last := map[string]bool{}, map[any]string{}
	key := func(rec Record) string {
		content, _ := rec["content"].(map[string]any)
		return fmt.Sprint(rec["session_id"], rec["topic"], rec["from_agent"], rec["agent_type"], rec["description"], content["description"])
	}
	for _, rec := range derived {
		if rec["topic"] != nil {
			rec = maps.Clone(rec)
			delete(rec, "session_id") // programs post messages without it
		}
		own[key(rec)] = true
		last[rec["session_id"]] = max(last[rec["session_id"]], order(rec))
	}
	ids := map[any]bool{}
	for _, rec := range derived {
		ids[rec["id"]] = true
	}
	return func(rec Record) bool {
		switch {
		case ids[rec["id"]]:
			return false
		case r.q.Table == "actions":
			return rec["tool_type"] != "blocked" && order(rec) <= last[rec["session_id"]]
		case r.q.Table == "subtasks" || r.q.Table == "messages":
			return own[key(rec)]
		}
		return false
	}
}

// recordReader reads the records of a query until the first error.
type recordReader struct {
	app *App
	ctx context.Context
	x   Archive
	now time.Time
	q   RecordQuery
	err error
}

// session returns the session that the query is about, "" for any.
func (r *recordReader) session() string {
	f := r.q.Filter
	if r.q.Table == "sessions" || r.q.Table == "projects" {
		return r.q.ID
	}
	return cmp.Or(f["session_id"], SessionOfRecord(f["request_id"]), SessionOfRecord(f["task_id"]), SessionOfRecord(r.q.ID))
}

// SessionOfRecord returns the session in a record's ID, "" if there is none.
func SessionOfRecord(id string) string {
	if at := strings.LastIndexByte(id, '.'); at > 0 {
		return id[:at]
	}
	return ""
}

// facts returns what programs posted.
func (r *recordReader) facts() []archive.JournalEntry {
	if r.err != nil {
		return nil
	}
	session := r.session()
	if r.q.Table == "projects" {
		session = ""
	}
	facts, err := r.x.Index.Facts(r.ctx, session, archive.RecordKind(r.q.Table))
	r.err = err
	return facts
}

// PostRecord stores fields of a record and returns it. An empty ID makes a new record of a
// session, which may be "". Texts longer than 16 KiB are cut.
func (a *App) PostRecord(ctx context.Context, table, id, session string, fields Record) (rec Record, err error) {
	session = cmp.Or(session, archive.NoSession)
	if !archive.ValidID(session) {
		return nil, archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(session, 60)), "use the client's session id")
	}
	if id == "" {
		var random [8]byte
		_, _ = rand.Read(random[:]) // never fails
		id = session + ".p" + hex.EncodeToString(random[:])
	}
	err = a.withArchive(ctx, ReadWrite, func(x Archive) error {
		if err := x.refuseForgotten(session); err != nil {
			return err
		}
		archive.ChangeTexts(fields, func(s string) string { return archive.Clip(x.Redact(s), maxSnapshotText) })
		fact := capture.Fact{Kind: archive.RecordKind(table), Session: session, Data: archive.RecordFact{ID: id, Fields: fields}}
		if err := errors.Join(x.Journal.RecordAll(ctx, fact), x.Journal.Sync(ctx, x.Index)); err != nil {
			return err
		}
		list, err := a.records(ctx, x, RecordQuery{Table: table, ID: id})
		if err == nil && len(list) > 0 {
			rec = list[0]
		}
		return err
	})
	return rec, err
}

// ProjectRecord returns the ID and the path of the project in a folder.
func (a *App) ProjectRecord(dir string) (id, path string, err error) {
	w, err := a.Workspace()
	if err != nil {
		return "", "", err
	}
	return projectID(w.ProjectKey(a.Abs(dir))), a.Abs(dir), nil
}

// projectID derives a project's ID, in the form of a UUID, from its key.
func projectID(key string) string {
	h := sha256.Sum256([]byte(key))
	return formUUID(hex.EncodeToString(h[:16]))
}

// formUUID writes 32 hexadecimal digits in the form of a UUID.
func formUUID(s string) string {
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// stamp returns a time as JSON, nil for the zero time.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// RoleOf returns the name of the role for an agent's type, "" for an unknown type.
func RoleOf(agentType string) string { return string(compact.RoleOf(agentType)) }

// ToolFiles counts the files of the user's skills, commands, workflows and plugins in the
// client's folder.
func (a *App) ToolFiles() map[string]int {
	out := map[string]int{}
	cfg, _ := a.settings()
	for kind, pattern := range map[string][]string{
		"skills": {"skills/*/SKILL.md"}, "commands": {"commands/*.md", "commands/*/*.md"}, "workflows": {"skills/workflow/templates/*.yaml"}, "plugins": {"plugins/cache/*/*"},
	} {
		out[kind] = 0
		for _, p := range pattern {
			found, _ := filepath.Glob(filepath.Join(cfg.Paths.ClientDir, p)) // a wrong pattern only
			out[kind] += len(found)
		}
	}
	return out
}
