package httpapi

import (
	"context"
	"encoding/json"

	"strandline/internal/app"
	"strandline/internal/archive"
)

// table lists the routes.
func (s *Server) table() []route {
	a := s.opts.Archive
	return append([]route{
		reads(s, route{path: "/projects", id: "listProjects", summary: "The projects that sessions are kept of"},
			func(ctx context.Context, _ *call) (listOf[app.Project], error) { return whole(a.Projects(ctx)) }),
		reads(s, route{path: "/sessions", id: "listSessions", summary: "The sessions that are kept, newest first", params: sessionsParams()}, s.sessions),
		reads(s, route{path: "/running", id: "listRunning", summary: "Sessions that work now, and how full their context is"},
			func(ctx context.Context, _ *call) (listOf[app.Running], error) { return whole(a.Running(ctx)) }),
		reads(s, route{path: "/sessions/{session}", id: "getSession", summary: "A session's outline: its turns, and the files that the client keeps beside its transcript"},
			func(ctx context.Context, c *call) (app.Outline, error) {
				return a.Outline(ctx, c.PathValue("session"))
			}),
		reads(s, route{path: "/sessions/{session}/turns/{place}", id: "getPlace", summary: "The text of a turn (12) or of a step (12.3), nothing cut, and what its calls came to"}, s.place),
		reads(s, route{path: "/sessions/{session}/timeline", id: "getTimeline", summary: "A session's course: turns, tasks, segments, compactions, tokens"},
			func(ctx context.Context, c *call) (app.Timeline, error) {
				return a.Timeline(ctx, c.PathValue("session"))
			}),
		reads(s, route{path: "/sessions/{session}/tasks", id: "listTasks", summary: "What a session worked on; a sub-agent's tasks stand below the one that it was given",
			params: []param{{name: "open", kind: isFlag, says: "only those with work left"}}},
			func(ctx context.Context, c *call) (listOf[app.TaskTree], error) {
				return whole(a.Tasks(ctx, c.PathValue("session"), c.flag("open")))
			}),
		reads(s, route{path: "/sessions/{session}/segments", id: "listSegments", summary: "Stretches of finished work with their summaries", params: []param{pendingParam()}},
			func(ctx context.Context, c *call) (listOf[app.Segment], error) {
				return whole(a.Segments(ctx, c.PathValue("session"), c.flag("pending")))
			}),
		reads(s, route{path: "/sessions/{session}/files", id: "listSessionFiles", summary: "The files that a session touched, the most often changed first"},
			func(ctx context.Context, c *call) (listOf[app.File], error) {
				return whole(a.SessionFiles(ctx, c.PathValue("session")))
			}),
		reads(s, route{path: "/sessions/{session}/compactions", id: "listSessionCompactions", summary: "A session's compactions, newest first, and what became of them"},
			func(ctx context.Context, c *call) (listOf[app.Compaction], error) {
				return whole(a.Compactions(ctx, c.PathValue("session"), 0))
			}),
		reads(s, route{path: "/sessions/{session}/restore", id: "restore", summary: "The block that a compaction of the session would get back", params: contextParams(true)},
			func(ctx context.Context, c *call) (app.Context, error) { return a.Restore(ctx, c.context()) }),
		reads(s, route{path: "/sessions/{session}/preserve", id: "preserve", summary: "The text that the client's summarizer would be given", params: contextParams(false)},
			func(ctx context.Context, c *call) (app.Context, error) { return a.Preserve(ctx, c.context()) }),
		reads(s, route{path: "/sessions/{session}/stats", id: "getSessionStats", summary: "Turns, calls, tokens and cost of a session"},
			func(ctx context.Context, c *call) (app.Stats, error) { return a.Stats(ctx, c.PathValue("session")) }),
		reads(s, route{path: "/search", id: "search", summary: "Find what was said and done", params: searchParams()}, s.search),
		reads(s, route{path: "/segments", id: "listAllSegments", summary: "Stretches of finished work of all sessions", params: []param{pendingParam()}},
			func(ctx context.Context, c *call) (listOf[app.Segment], error) {
				return whole(a.Segments(ctx, "", c.flag("pending")))
			}),
		reads(s, route{path: "/files", id: "listTouches", summary: "What was done to a file, oldest first", params: filesParams()}, s.files),
		reads(s, route{path: "/compactions", id: "listCompactions", summary: "The newest compactions, and how much of what was needed next they kept",
			params: []param{limitParam(compactionsListed, compactionsMost)}},
			func(ctx context.Context, c *call) (listOf[app.Compaction], error) {
				return whole(a.Compactions(ctx, "", c.number("limit", compactionsListed)))
			}),
		reads(s, route{path: "/stats", id: "getStats", summary: "Turns, calls, tokens and cost of the archive"},
			func(ctx context.Context, _ *call) (app.Stats, error) { return a.Stats(ctx, "") }),
		reads(s, route{path: "/status", id: "getStatus", summary: "What is kept, how large it is, and whether anything is missing"},
			func(ctx context.Context, _ *call) (app.Status, error) { return a.Status(ctx) }),
		reads(s, route{path: "/health", id: "getHealth", summary: "That the server answers"},
			func(context.Context, *call) (health, error) {
				return health{Status: "ok", Version: s.opts.Version}, nil
			}),
		reads(s, route{path: "/openapi.json", id: "getDocument", summary: "This document"},
			func(context.Context, *call) (json.RawMessage, error) { return s.document() }),
		s.exportRoute(),
		s.eventsRoute(),
	}, s.snapshotRoutes()...)
}

// health says that a server answers, and which.
type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

// How many compactions are listed. One that was never measured takes some
// hundredths of a second.
const (
	compactionsListed = 20
	compactionsMost   = 200
)

func sessionsParams() []param {
	return []param{
		projectParam(), {name: "parent", kind: isHandle, says: "only the sub-agents and forks of this session"}, agentsParam(), sinceParam(),
		limitParam(defaultPage, 500), cursorParam(),
	}
}

func pendingParam() param {
	return param{name: "pending", kind: isFlag, says: "only those that wait for a summary"}
}

func filesParams() []param {
	return []param{
		{name: "path", required: true, says: "the file's path, whole or its end at a slash, such as pay/retry.go"},
		projectParam(), {name: "session", kind: isHandle, says: "only this session"}, sinceParam(),
		{name: "reads", kind: isFlag, says: "reads and searches as well"}, limitParam(defaultPage, 1000),
	}
}

// The bounds of what a compaction gets, in characters.
const maxBudget = 400_000

func contextParams(roles bool) []param {
	ps := []param{
		{name: "budget", kind: isNumber, least: 0, most: maxBudget, says: "at most this many characters; left out, as the settings say"},
		{name: "at_line", kind: isNumber, least: 0, most: 1 << 30, says: "as if the session had ended before this line of its transcript"},
	}
	if roles {
		ps = append(ps, roleParam())
	}
	return ps
}

func roleParam() param {
	return param{name: "role", oneOf: []string{"orchestrator", "developer", "specialist", "validator", "auto"}, says: "shape it for such work; auto: as the agent's type says"}
}

// context is what a call asks of what a compaction gets.
func (c *call) context() app.ContextAsk {
	return app.ContextAsk{Session: c.PathValue("session"), Role: c.text("role"), AtLine: c.number("at_line", 0), Budget: c.number("budget", 0)}
}

// sessions lists sessions page by page.
func (s *Server) sessions(ctx context.Context, c *call) (listOf[app.Session], error) {
	since, err := c.since("since")
	if err != nil {
		return listOf[app.Session]{}, err
	}
	list, err := s.opts.Archive.Sessions(ctx, app.SessionsAsk{Project: c.text("project"), Parent: c.text("parent"), Agents: c.flag("agents"), Since: since})
	if err != nil {
		return listOf[app.Session]{}, err
	}
	return paged(list, c), nil
}

// place gives a turn or a step whole.
func (s *Server) place(ctx context.Context, c *call) (app.Place, error) {
	at, err := archive.ParseHandle(c.PathValue("session") + "/" + c.PathValue("place"))
	if err != nil {
		return app.Place{}, err
	}
	return s.opts.Archive.Place(ctx, at)
}

// touches is a file's history.
type touches struct {
	Items []app.Touch `json:"items"`
	Older int         `json:"older"` // that were left out
}

func (s *Server) files(ctx context.Context, c *call) (touches, error) {
	since, err := c.since("since")
	if err != nil {
		return touches{}, err
	}
	list, older, err := s.opts.Archive.FileHistory(ctx, app.FilesAsk{
		Path: c.text("path"), Project: c.text("project"), Session: c.text("session"), Since: since, Reads: c.flag("reads"), Limit: c.number("limit", defaultPage),
	})
	return touches{Items: list, Older: older}, err
}
