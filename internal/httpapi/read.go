package httpapi

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/view"
)

// Archive is what the API reads. Sessions and places are named as a user types
// them; a name that fits nothing is an *archive.Error.
type Archive interface {
	Projects(ctx context.Context) ([]view.Project, error)
	Sessions(ctx context.Context, ask view.SessionsAsk) ([]view.Session, error)
	Outline(ctx context.Context, session string) (view.Outline, error)
	// Place is the text of a turn or a step.
	Place(ctx context.Context, at archive.Handle) ([]view.Block, error)
	Search(ctx context.Context, ask view.SearchAsk) (recall.Result, error)
}

// Parameters that several routes have.
func projectParam() param {
	return param{name: "project", says: "only this project: its name, or a part of its folder's path"}
}

func sinceParam() param {
	return param{name: "since", kind: isTime, says: "only what is newer: an age such as 7d or 12h, a day, or a time in RFC 3339"}
}

func limitParam(normal, most int) param {
	return param{name: "limit", kind: isNumber, least: 1, most: most, normal: normal, says: "at most this many"}
}

func cursorParam() param {
	return param{name: "cursor", kind: isCursor, says: "where to go on: next of the answer before"}
}

func agentsParam() param {
	return param{name: "agents", kind: isFlag, says: "sub-agents' runs as well"}
}

// table lists the routes.
func (s *Server) table() []route {
	return []route{
		reads(s, route{path: "/projects", id: "listProjects", summary: "The projects that sessions are kept of"},
			func(ctx context.Context, _ *call) (listOf[view.Project], error) {
				return whole(s.opts.Archive.Projects(ctx))
			}),
		reads(s, route{path: "/sessions", id: "listSessions", summary: "The sessions that are kept, newest first",
			params: []param{projectParam(), {name: "parent", kind: isHandle, says: "only the sub-agents and forks of this session"}, agentsParam(), sinceParam(), limitParam(50, 500), cursorParam()}},
			s.sessions),
		reads(s, route{path: "/sessions/{session}", id: "getSession", summary: "A session's outline: its turns, and the files that the client keeps beside its transcript"},
			func(ctx context.Context, c *call) (view.Outline, error) {
				return s.opts.Archive.Outline(ctx, c.PathValue("session"))
			}),
		reads(s, route{path: "/sessions/{session}/turns/{place}", id: "getPlace", summary: "The text of a turn (12) or of a step (12.3), nothing cut"}, s.place),
		reads(s, route{path: "/search", id: "search", summary: "Find what was said and done", params: searchParams()}, s.search),
	}
}

// sessions lists sessions page by page.
func (s *Server) sessions(ctx context.Context, c *call) (listOf[view.Session], error) {
	since, err := c.since("since")
	if err != nil {
		return listOf[view.Session]{}, err
	}
	list, err := s.opts.Archive.Sessions(ctx, view.SessionsAsk{Project: c.text("project"), Parent: c.text("parent"), Agents: c.flag("agents"), Since: since})
	if err != nil {
		return listOf[view.Session]{}, err
	}
	return paged(list, c), nil
}

// placeAnswer is a turn or a step.
type placeAnswer struct {
	Handle string       `json:"handle"`
	Blocks []view.Block `json:"blocks"`
}

// place gives a turn or a step whole.
func (s *Server) place(ctx context.Context, c *call) (placeAnswer, error) {
	at, err := archive.ParseHandle(c.PathValue("session") + "/" + c.PathValue("place"))
	if err != nil {
		return placeAnswer{}, err
	}
	blocks, err := s.opts.Archive.Place(ctx, at)
	return placeAnswer{Handle: at.String(), Blocks: blocks}, err
}
