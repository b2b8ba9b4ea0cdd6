package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/task"
	"strandline/internal/text"
)

const (
	sessionsDefault = 10
	sessionsMax     = 50
)

type sessionsIn struct {
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all"`
	Limit   int    `json:"limit,omitempty" jsonschema:"maximal number, 1 to 50 (default 10)"`
	Since   string `json:"since,omitempty" jsonschema:"only sessions active since: 7d or 2026-11-01"`
}

func (s *Server) sessions(ctx context.Context, idx Index, in sessionsIn) (answer, error) {
	f := archive.SessionFilter{Limit: sessionsDefault}
	if in.Limit > 0 {
		f.Limit = min(in.Limit, sessionsMax)
	}
	var err error
	if f.Since, err = s.since(in.Since); err != nil {
		return answer{}, err
	}
	if f.Projects, err = s.projects(ctx, idx, in.Project); err != nil {
		return answer{}, err
	}
	list, err := idx.Sessions(ctx, f)
	if err != nil {
		return answer{}, err
	}
	if len(list) == 0 {
		return answer{Note: "No matching sessions."}, nil
	}
	var out answer
	var b strings.Builder
	for _, x := range list {
		handle := archive.ShortID(x.ID)
		out.Handles = append(out.Handles, handle)
		fmt.Fprintf(&b, "%s  %s · %s · %d turns, %d compactions\n  %s\n", handle, projectName(x.Project), s.stamp(x.Last), x.Turns, x.Compacts, x.Title)
	}
	out.Record = text.Fence("sessions, newest first", b.String())
	return out, nil
}

type timelineIn struct {
	Session  string `json:"session,omitempty" jsonschema:"handle of a session (default: the latest of this project)"`
	Page     int    `json:"page,omitempty" jsonschema:"page of a long outline, from 1"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"characters per page, 500 to 20000 (default 6000)"`
}

func (s *Server) timeline(ctx context.Context, idx Index, in timelineIn) (answer, error) {
	id, err := s.session(ctx, idx, in.Session)
	if err != nil {
		return answer{}, err
	}
	return s.outline(ctx, idx, id, in.Page, in.MaxChars)
}

// session resolves a handle; "" is the latest session of the project.
func (s *Server) session(ctx context.Context, idx Index, typed string) (string, error) {
	if typed != "" {
		h, err := archive.ParseHandle(typed)
		if err != nil {
			return "", err
		}
		return idx.Resolve(ctx, h.Session)
	}
	keys, err := s.projects(ctx, idx, "")
	if err != nil {
		return "", err
	}
	list, err := idx.Sessions(ctx, archive.SessionFilter{Projects: keys, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", archive.NotFound("this project has no archived sessions", "name a session; the tool sessions lists them")
	}
	return list[0].ID, nil
}

// since parses a time; "" is the zero time.
func (s *Server) since(typed string) (time.Time, error) {
	if typed == "" {
		return time.Time{}, nil
	}
	return recall.ParseTime(typed, s.opts.Now())
}

// outline returns a page of a session's timeline.
func (s *Server) outline(ctx context.Context, idx Index, id string, page, size int) (answer, error) {
	past, err := task.Load(ctx, idx, id, 0)
	if err != nil {
		return answer{}, err
	}
	state, err := task.LoadState(ctx, idx, id)
	if err != nil {
		return answer{}, err
	}
	var b strings.Builder
	for _, row := range task.Timeline(past, state) {
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
	if b.Len() == 0 {
		b.WriteString("(no turns)\n")
	}
	info := past.Session
	return pageOf(fmt.Sprintf("session %s, project %s, %s", archive.ShortID(id), projectName(info.Project), s.stamp(info.First)), b.String(), page, size)
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

func (s *Server) status(ctx context.Context, idx Index, _ struct{}) (statusOut, error) {
	t, err := idx.Totals(ctx)
	if err != nil {
		return statusOut{}, err
	}
	return statusOut{
		Version: s.opts.Version, Project: projectName(s.opts.Project), Sessions: t.Sessions, Agents: t.Agents, Projects: t.Projects,
		Turns: t.Turns, Passages: t.Passages, Compactions: t.Compactions, Bytes: t.Bytes, First: s.stamp(t.First), Last: s.stamp(t.Last),
	}, nil
}

// stamp formats a time in the clock's zone.
func (s *Server) stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(s.opts.Now().Location()).Format("2006-01-02 15:04")
}

func projectName(p archive.Project) string { return cmp.Or(p.Name, p.Key) }
