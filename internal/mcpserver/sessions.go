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

// How many sessions are listed.
const (
	sessionsListed = 10
	sessionsMost   = 50
)

type sessionsIn struct {
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all for every project"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many, 1 to 50 (10 if left out)"`
	Since   string `json:"since,omitempty" jsonschema:"only sessions active since then, such as 7d or 2026-11-01"`
}

func (s *Server) sessions(ctx context.Context, idx Index, in sessionsIn) (answer, error) {
	f := archive.SessionFilter{Limit: sessionsListed}
	if in.Limit > 0 {
		f.Limit = min(in.Limit, sessionsMost)
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
		return answer{Note: "No session fits."}, nil
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
	Session  string `json:"session,omitempty" jsonschema:"handle of a session; the last one of this project if left out"`
	Page     int    `json:"page,omitempty" jsonschema:"which page of a long outline, from 1"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"characters of a page, 500 to 20000 (6000 if left out)"`
}

func (s *Server) timeline(ctx context.Context, idx Index, in timelineIn) (answer, error) {
	id, err := s.session(ctx, idx, in.Session)
	if err != nil {
		return answer{}, err
	}
	return s.outline(ctx, idx, id, in.Page, in.MaxChars)
}

// session resolves a handle, and "" to the last session of the project.
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
		return "", archive.NotFound("no session of this project is kept", "name a session; the tool sessions lists them")
	}
	return list[0].ID, nil
}

// since reads a time that a model wrote; "" is none.
func (s *Server) since(typed string) (time.Time, error) {
	if typed == "" {
		return time.Time{}, nil
	}
	return recall.ParseTime(typed, s.opts.Now())
}

// outline is a session's course, as the command timeline tells it.
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
			behind := ""
			if row.Tokens > 0 {
				behind = fmt.Sprintf(", %d tokens", row.Tokens)
			}
			fmt.Fprintf(&b, "%s  %s · %d steps%s  %s\n", row.At.Handle(), s.stamp(row.Time), row.Steps, behind, text)
		case row.Kind == task.TimelineCompaction || row.What == "":
			fmt.Fprintf(&b, "  %s\n", text)
		default:
			fmt.Fprintf(&b, "  %s  %s\n", row.At.Handle(), text)
		}
	}
	if b.Len() == 0 {
		b.WriteString("(a session without a turn)\n")
	}
	info := past.Session
	return pageOf(fmt.Sprintf("session %s, project %s, %s", archive.ShortID(id), projectName(info.Project), s.stamp(info.First)), b.String(), page, size)
}

type statusOut struct {
	Version     string `json:"version"`
	Project     string `json:"project,omitempty" jsonschema:"the project that searches are limited to"`
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
	return fmt.Sprintf("%d sessions and %d runs of sub-agents in %d projects, %d turns, %d passages, %d compactions, %d bytes, from %s to %s.",
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

// stamp is a time in the zone of the clock.
func (s *Server) stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(s.opts.Now().Location()).Format("2006-01-02 15:04")
}

func projectName(p archive.Project) string { return cmp.Or(p.Name, p.Key) }
