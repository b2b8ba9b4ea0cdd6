package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/task"
	"strandline/internal/text"
)

// Limits of results. A search result only has to identify the handles to recall.
const (
	searchDefault   = 6
	searchMax       = 25
	searchExcerpt   = 280 // characters per hit
	maxCopies       = 3   // handles of the same text, per hit
	filesDefault    = 12
	filesMax        = 50
	filesExcerpt    = 160 // characters per entry
	sessionsDefault = 10
	sessionsMax     = 50
	maxSummary      = 64 << 10 // bytes
)

// limit returns the number of entries to list.
func limit(given, normal, most int) int { return min(cmp.Or(max(given, 0), normal), most) }

// scope returns the projects that an argument names; "" is the current one.
func scope(project string) app.Scope {
	if strings.EqualFold(project, "all") {
		return app.Scope{All: true}
	}
	return app.Scope{Name: project}
}

type searchIn struct {
	Query   string   `json:"query" jsonschema:"words, phrases and filters"`
	Limit   int      `json:"limit,omitempty" jsonschema:"maximal number of hits, 1 to 25 (default 6)"`
	Project string   `json:"project,omitempty" jsonschema:"name or folder of another project, or all"`
	Session string   `json:"session,omitempty" jsonschema:"handle of a session to search in"`
	Since   string   `json:"since,omitempty" jsonschema:"only newer than this: 7d, yesterday or 2026-11-01"`
	Until   string   `json:"until,omitempty" jsonschema:"only older than this; a day is included whole"`
	Kinds   []string `json:"kinds,omitempty" jsonschema:"only these kinds: prompt, reply, thinking, command, edit, output, summary"`
	Failed  bool     `json:"failed,omitempty" jsonschema:"only calls that failed"`
	Branch  string   `json:"branch,omitempty" jsonschema:"only sessions on this git branch, by a part of its name"`
	Agents  bool     `json:"agents,omitempty" jsonschema:"include sub-agent runs"`
	Mode    string   `json:"mode,omitempty" jsonschema:"fix: query is an error text, lists the commands run after it and whether they helped; how: the commands that did it, with their outcome"`
}

// search lists short excerpts of the hits.
func (s *Server) search(ctx context.Context, in searchIn) (out answer, err error) {
	q := app.SearchQuery{
		Text: in.Query, Scope: scope(in.Project), Session: in.Session, Agents: in.Agents, Limit: limit(in.Limit, searchDefault, searchMax),
		Failed: in.Failed, Branch: in.Branch, Logs: true,
	}
	if q.Since, err = recall.Since(in.Since, s.opts.Now()); err != nil {
		return out, err
	}
	if q.Until, err = recall.Until(in.Until, s.opts.Now()); err != nil {
		return out, err
	}
	for _, k := range in.Kinds {
		kind, err := recall.ParseKind(k)
		if err != nil {
			return out, err
		}
		q.Kinds = append(q.Kinds, kind)
	}
	switch in.Mode {
	case "fix":
		return s.fixes(ctx, q)
	case "how":
		return s.recipes(ctx, q)
	case "":
	default:
		return out, archive.Invalid(fmt.Sprintf("%q is not a mode", in.Mode), "the modes are fix and how")
	}
	found, err := s.opts.Archive.Search(ctx, q)
	if err != nil {
		return out, err
	}
	out.Note = note(found)
	var b strings.Builder
	for _, n := range found.Remembered {
		if n.File != "" {
			fmt.Fprintf(&b, "%s of session %s · %s · %s\n  %s\n", text.OneLine(n.File), n.ID, n.Project, s.stamp(n.Time), text.OneLine(s.opts.Redact(n.Text)))
			continue
		}
		fmt.Fprintf(&b, "note of the user · %s · %s\n  %s\n", cmp.Or(n.Project, "every project"), s.stamp(n.Time), text.OneLine(s.opts.Redact(n.Text)))
	}
	if len(found.Hits)+len(found.Remembered) == 0 {
		out.Note = strings.TrimSpace("No hits. " + out.Note)
		return out, nil
	}
	for _, h := range found.Hits {
		body, _ := found.Snippet(s.opts.Redact(h.Text), searchExcerpt)
		out.Handles = append(out.Handles, h.Handle)
		fmt.Fprintf(&b, "%s  %s · %s · %s%s\n  %s\n", h.Handle, h.ShownKind(), h.Project, s.stamp(h.Time), hitNote(h), body)
	}
	out.Record = text.Fence("passages from past sessions, best first", b.String())
	return out, nil
}

// hitNote returns the facts about a hit that a model needs besides its text.
func hitNote(h recall.Hit) (note string) {
	if h.Related {
		note += " · related in meaning"
	}
	if h.Superseded != nil {
		note += " · " + h.Superseded.String()
	}
	if n := len(h.CopyHandles); n > 0 {
		note += " · same text: " + strings.Join(h.CopyHandles[:min(n, maxCopies)], ", ")
	}
	return note
}

// fixes lists what followed failures like an error.
func (s *Server) fixes(ctx context.Context, q app.SearchQuery) (out answer, err error) {
	list, err := s.opts.Archive.Fixes(ctx, q)
	if err != nil || len(list) == 0 {
		out.Note = "No failure like this is archived. Try fewer words of the error, or project all."
		return out, err
	}
	var b strings.Builder
	for _, f := range list {
		out.Handles = append(out.Handles, f.Handle)
		fmt.Fprintf(&b, "%s  %s  failed: %s\n  error: %s\n", f.Handle, s.stamp(f.Time), text.Truncate(f.Failed, searchExcerpt), f.Error)
		for _, step := range f.Steps {
			fmt.Fprintf(&b, "  %s  %s  %s\n", step.Handle, cmp.Or(step.Verdict, "done"), text.Truncate(step.What, searchExcerpt))
		}
		fmt.Fprintf(&b, "  %s\n", f.Outcome())
	}
	out.Record = text.Fence("failures like this and the commands run after them, those that helped first", b.String())
	return out, nil
}

// recipes lists the commands that match a query.
func (s *Server) recipes(ctx context.Context, q app.SearchQuery) (out answer, err error) {
	list, err := s.opts.Archive.Recipes(ctx, q)
	if err != nil || len(list) == 0 {
		out.Note = "No archived command matches. Try other words, or project all."
		return out, err
	}
	var b strings.Builder
	for _, r := range list {
		out.Handles = append(out.Handles, r.Handle)
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", r.Handle, s.stamp(r.Time), r.Outcome(), text.Truncate(s.opts.Redact(r.Command), searchExcerpt))
	}
	out.Record = text.Fence("commands of past sessions, best first", b.String())
	return out, nil
}

// note describes how the query was interpreted and where else hits are.
func note(r recall.Result) string {
	var list []string
	if r.When != nil {
		list = append(list, r.When.String())
	}
	for _, c := range r.Corrected {
		list = append(list, c.String())
	}
	list = append(list, r.Notes...)
	switch r.Relaxed {
	case recall.RelaxedWritten:
		list = append(list, "No passage contains it as written; these contain its words.")
	case recall.RelaxedLogs:
		list = append(list, "The index holds these outputs in part; the logs were read briefly.")
	case recall.RelaxedPhrase:
		list = append(list, "No passage contains the phrase; these contain its words.")
	case recall.RelaxedPrefix:
		list = append(list, "No passage contains the exact words; these match by prefix.")
	}
	if r.Elsewhere {
		list = append(list, "Other projects have hits ("+r.OthersText()+"): set project to all.")
	}
	if r.InAgents {
		list = append(list, "Sub-agent runs have hits: set agents to true.")
	}
	return strings.Join(list, " ")
}

type recallIn struct {
	Handle   string `json:"handle" jsonschema:"a turn (7f3a12cd/12), a step (7f3a12cd/12.3) or a session (7f3a12cd)"`
	Page     int    `json:"page,omitempty" jsonschema:"page of the full text, from 1; without it a long turn gives its outline"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"characters per page, 500 to 20000 (default 6000)"`
}

// recall returns the full text of a turn or a step, the outline of a turn that is longer
// than a page, or a session's outline.
func (s *Server) recall(ctx context.Context, in recallIn) (answer, error) {
	h, err := archive.ParseHandle(in.Handle)
	if err != nil {
		return answer{}, err
	}
	if h.Turn < 0 {
		return s.timeline(ctx, timelineIn{h.Session, in.Page, in.MaxChars})
	}
	p, err := s.opts.Archive.Place(ctx, h)
	if err != nil {
		return answer{}, err
	}
	body, at := placeText(p)
	title := fmt.Sprintf("%s, project %s, %s", p.Handle, p.Session.Project.Title(), s.stamp(at))
	out, err := pageOf(title, body, in.Page, in.MaxChars)
	if err != nil {
		return answer{}, err
	}
	if out.Pages > 1 && h.Step < 0 && len(p.Steps) > 1 {
		if in.Page == 0 {
			out.Record = text.Fence(title+", outline", s.outline(p, pageSize(in.MaxChars)))
			out.Page, out.Note = 0, fmt.Sprintf("This is the outline of a long turn. Recall a step by its handle, or the full text with page 1 to %d.", out.Pages)
		}
		out.Note += fmt.Sprintf(" The turn has %d steps, %s.0 to %s.%d.", len(p.Steps), p.Handle, p.Handle, len(p.Steps)-1)
	}
	if err := s.opts.Archive.RecordRecall(ctx, p.Ref); err != nil {
		s.opts.Log.Error("record a recall", "error", err) // the model gets the text anyway
	}
	return out, nil
}

// placeText returns the text of a turn or a step, and its start.
func placeText(p app.Place) (body string, at time.Time) {
	var b strings.Builder
	for _, x := range p.Blocks {
		if !x.Conversation() {
			continue
		}
		if at.IsZero() {
			at = x.Time
		}
		fmt.Fprintf(&b, "-- %s\n%s\n", x.Heading(), strings.TrimRight(cmp.Or(x.Diff, x.Text), "\n"))
	}
	return cmp.Or(b.String(), "(no text)\n"), at
}

// The characters of a row in an outline; its first and last row, which are usually the
// prompt and the answer, get more.
const outlineRow, outlineEnd = 120, 600

// outline lists a turn's steps in at most size units. If they are too many, reads and
// searches are left out first, then what the model said, then steps in the middle.
func (s *Server) outline(p app.Place, size int) string {
	rows := p.Rows()
	left := func(keep func(app.PlaceRow) bool) []app.PlaceRow {
		ends := rows[len(rows)-1]
		return append(archive.Select(rows[:len(rows)-1], keep), ends)
	}
	filters := []func(app.PlaceRow) bool{
		func(app.PlaceRow) bool { return true },
		func(r app.PlaceRow) bool {
			return r.Kind != archive.CallRead && r.Kind != archive.CallSearch && r.Kind != archive.CallTask || r.Error != ""
		},
		func(r app.PlaceRow) bool {
			return r.Kind == archive.CallEdit || r.Kind == archive.CallCommand || r.Error != "" || r.What == "prompt"
		},
	}
	var lines []string
	for _, keep := range filters {
		list := left(keep)
		lines = lines[:0]
		for i, r := range list {
			most := outlineRow
			if i == 0 || i == len(list)-1 {
				most = outlineEnd
			}
			lines = append(lines, s.outlineLine(r, most))
		}
		if n := len(rows) - len(list); n > 0 {
			lines = append(lines, fmt.Sprintf("(%d rows of reads, searches and replies are left out)", n))
		}
		if text.Units(strings.Join(lines, "\n")) <= size {
			return strings.Join(lines, "\n") + "\n"
		}
	}
	n := 0
	for text.Units(strings.Join(lines, "\n")) > size && len(lines) > 4 {
		lines = slices.Delete(lines, len(lines)/2, len(lines)/2+1)
		n++
	}
	return strings.Join(slices.Insert(lines, len(lines)/2, fmt.Sprintf("… %d more …", n)), "\n") + "\n"
}

// outlineLine describes a step in one line.
func (s *Server) outlineLine(r app.PlaceRow, most int) string {
	line := fmt.Sprintf("%s  %s %s", r.Handle, r.Time.In(s.opts.Now().Location()).Format("15:04"), r.What)
	if result := r.Result(); result != "" {
		line += " · " + result
	}
	line += " · " + text.Truncate(r.Text, most)
	if r.Error != "" {
		line += " · " + text.Truncate(r.Error, most)
	}
	return line
}

type timelineIn struct {
	Session  string `json:"session,omitempty" jsonschema:"handle of a session (default: the latest of this project)"`
	Page     int    `json:"page,omitempty" jsonschema:"page of a long outline, from 1"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"characters per page, 500 to 20000 (default 6000)"`
}

// timeline returns a page of a session's turns, tasks and compactions.
func (s *Server) timeline(ctx context.Context, in timelineIn) (answer, error) {
	t, err := s.opts.Archive.Timeline(ctx, in.Session)
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	for _, row := range t.Rows {
		text := row.Text(func(n int64) string { return fmt.Sprintf("%d tokens", n) })
		switch {
		case row.Kind == task.TimelineTurn:
			tokens := ""
			if row.Tokens > 0 {
				tokens = fmt.Sprintf(", %d tokens", row.Tokens)
			}
			fmt.Fprintf(&b, "%s  %s · %d steps%s  %s\n", row.At.Handle(), s.stamp(row.Time), row.Steps, tokens, text)
		case row.Kind == task.TimelineCompaction || row.What == "":
			fmt.Fprintf(&b, "  %s\n", text)
		default:
			fmt.Fprintf(&b, "  %s  %s\n", row.At.Handle(), text)
		}
	}
	title := fmt.Sprintf("session %s, project %s, %s", archive.ShortID(t.Session), t.Info.Project.Title(), s.stamp(t.Info.First))
	return pageOf(title, cmp.Or(b.String(), "(no turns)\n"), in.Page, in.MaxChars)
}

type filesIn struct {
	Path    string `json:"path" jsonschema:"a file's path, or its end after a slash, such as pay/retry.go"`
	Limit   int    `json:"limit,omitempty" jsonschema:"maximal number of newest entries, 1 to 50 (default 12)"`
	Since   string `json:"since,omitempty" jsonschema:"only newer than this: 7d or 2026-11-01"`
	Reads   bool   `json:"reads,omitempty" jsonschema:"include reads and searches"`
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all"`
}

// files lists the history of a file, newest first.
func (s *Server) files(ctx context.Context, in filesIn) (out answer, err error) {
	path := strings.TrimSpace(in.Path)
	if path == "" {
		return out, archive.Invalid("path is empty", "name a file, or the end of its path")
	}
	q := app.FilesQuery{Path: path, Scope: scope(in.Project), Reads: in.Reads, Limit: limit(in.Limit, filesDefault, filesMax), Texts: true}
	if q.Since, err = recall.Since(in.Since, s.opts.Now()); err != nil {
		return out, err
	}
	history, err := s.opts.Archive.FileHistory(ctx, q)
	if err != nil {
		return out, err
	}
	if len(history.Items) == 0 {
		out.Note = "No archived session changed this file. Give the full path or its end after a slash; set reads to true to include reads, project to all to include every project."
		return out, nil
	}
	var b strings.Builder
	session := ""
	for _, t := range slices.Backward(history.Items) {
		out.Handles = append(out.Handles, t.Handle)
		if t.Session != session {
			session = t.Session
			fmt.Fprintf(&b, "%s · %s\n", text.OneLine(t.Title), t.Project)
		}
		excerpt, _ := recall.Snippet(s.opts.Redact(t.Text), nil, filesExcerpt)
		fmt.Fprintf(&b, "%s  %s · %s  %s\n", t.Handle, s.stamp(t.Time), t.Action(), excerpt)
		if about := touchAbout(t); about != "" {
			b.WriteString("  " + about + "\n")
		}
	}
	if history.Older > 0 {
		out.Note = fmt.Sprintf("%d older entries are omitted. ", history.Older)
	}
	if history.Reads > 0 {
		out.Note += fmt.Sprintf("%s not listed.", text.Count(history.Reads, "read"))
	}
	out.Note = strings.TrimSpace(out.Note)
	out.Record = text.Fence("history of "+path+", newest first", b.String())
	return out, nil
}

// touchAbout describes the change of a touch: its size, functions and reason.
func touchAbout(t app.Touch) string {
	about := ""
	if t.Added+t.Removed > 0 {
		about = t.Size()
	}
	if len(t.Functions) > 0 {
		about += " in " + strings.Join(t.Functions, ", ")
	}
	if t.Why != "" {
		about += ": " + text.OneLine(t.Why)
	}
	return strings.TrimLeft(about, " :")
}

type sessionsIn struct {
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all"`
	Limit   int    `json:"limit,omitempty" jsonschema:"maximal number, 1 to 50 (default 10)"`
	Since   string `json:"since,omitempty" jsonschema:"only sessions active since: 7d or 2026-11-01"`
}

// sessions lists sessions, newest first.
func (s *Server) sessions(ctx context.Context, in sessionsIn) (out answer, err error) {
	q := app.SessionsQuery{Scope: scope(in.Project), Limit: limit(in.Limit, sessionsDefault, sessionsMax)}
	if q.Since, err = recall.Since(in.Since, s.opts.Now()); err != nil {
		return out, err
	}
	list, err := s.opts.Archive.Sessions(ctx, q)
	if err != nil {
		return out, err
	}
	if len(list) == 0 {
		out.Note = "No matching sessions."
		return out, nil
	}
	var b strings.Builder
	for _, x := range list {
		out.Handles = append(out.Handles, x.Handle)
		fmt.Fprintf(&b, "%s  %s · %s · %d turns, %d compactions\n  %s\n", x.Handle, x.ProjectName, s.stamp(x.Last), x.Turns, x.Compacts, x.Title)
	}
	out.Record = text.Fence("sessions, newest first", b.String())
	return out, nil
}

type statusOut struct {
	Version     string `json:"version"`
	Project     string `json:"project,omitempty" jsonschema:"the project to which calls are limited by default"`
	Sessions    int    `json:"sessions"`
	Agents      int    `json:"agents"`
	Projects    int    `json:"projects"`
	Turns       int    `json:"turns"`
	Passages    int    `json:"passages"`
	Compactions int    `json:"compactions"`
	Bytes       int64  `json:"bytes"`
	First       string `json:"first,omitempty"`
	Last        string `json:"last,omitempty"`
}

func (o statusOut) text() string {
	return fmt.Sprintf("%d sessions and %d sub-agent runs in %d projects, %d turns, %d passages, %d compactions, %d bytes, from %s to %s.",
		o.Sessions, o.Agents, o.Projects, o.Turns, o.Passages, o.Compactions, o.Bytes, cmp.Or(o.First, "-"), cmp.Or(o.Last, "-"))
}

// status returns the archive's totals.
func (s *Server) status(ctx context.Context, _ struct{}) (statusOut, error) {
	t, err := s.opts.Archive.Status(ctx)
	return statusOut{
		Version: s.opts.Version, Project: s.opts.Project, Sessions: t.Sessions, Agents: t.Agents, Projects: t.Projects,
		Turns: t.Turns, Passages: t.Passages, Compactions: t.Compactions, Bytes: t.Bytes, First: s.stamp(t.First), Last: s.stamp(t.Last),
	}, err
}

type segmentIn struct {
	Segment string `json:"segment" jsonschema:"id of a segment without a summary, or its beginning"`
	Summary string `json:"summary" jsonschema:"decisions, file changes, fixes of errors, outcomes, preferences; 80 to 90 percent fewer tokens than the segment"`
	NoFiles string `json:"no_files,omitempty" jsonschema:"why the summary does not name the key files, if it does not"`
	Session string `json:"session,omitempty" jsonschema:"handle of the segment's session, if the id is ambiguous"`
}

// saveSegment stores a summary.
func (s *Server) saveSegment(ctx context.Context, in segmentIn) (answer, error) {
	if in.Segment == "" || len(in.Summary) > maxSummary {
		return answer{}, archive.Invalid("the summary is rejected: it names no segment, or is too long", "name the segment, and write a few hundred words at most")
	}
	report, err := s.opts.Archive.SaveSegment(ctx, in.Session, task.Draft{Segment: in.Segment, Text: strings.ToValidUTF8(in.Summary, ""), NoFiles: in.NoFiles})
	return answer{Note: report}, err
}

// stamp formats a time in the clock's zone.
func (s *Server) stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(s.opts.Now().Location()).Format("2006-01-02 15:04")
}
