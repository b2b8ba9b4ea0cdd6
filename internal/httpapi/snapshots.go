package httpapi

import (
	"context"

	"strandline/internal/app"
)

// snapshotRoutes are those of the state of a session's work, as a program tells it
// and an agent gets it back.
func (s *Server) snapshotRoutes() []route {
	a := s.opts.Archive
	ask := func(c *call) app.SnapshotsAsk {
		return app.SnapshotsAsk{ID: c.PathValue("snapshot"), Session: c.text("session")}
	}
	of := param{name: "session", kind: isHandle, says: "of this session; with it, latest is its newest snapshot"}
	return []route{
		posts(s, route{path: "/snapshots", id: "saveSnapshot", summary: "Keep the state of a session's work: tasks, agents, messages, actions"}, a.SaveSnapshot),
		reads(s, route{path: "/snapshots", id: "listSnapshots", summary: "The snapshots that are kept, newest first", params: []param{of, limitParam(defaultPage, 500), cursorParam()}},
			func(ctx context.Context, c *call) (listOf[app.SnapshotLine], error) {
				list, err := a.Snapshots(ctx, c.text("session"))
				if err != nil {
					return listOf[app.SnapshotLine]{}, err
				}
				return paged(list, c), nil
			}),
		reads(s, route{path: "/snapshots/{snapshot}", id: "getSnapshot", summary: "A snapshot whole", params: []param{of}},
			func(ctx context.Context, c *call) (app.Snapshot, error) { return a.Snapshot(ctx, ask(c)) }),
		reads(s, route{path: "/snapshots/{snapshot}/brief", id: "getSnapshotBrief", summary: "What an agent of a role needs of a snapshot, fenced as a record of the past",
			params: []param{of, roleParam(), {name: "budget", kind: isNumber, least: 500, most: maxBudget, says: "at most this many characters; 8000 if left out"}}},
			func(ctx context.Context, c *call) (app.SnapshotBrief, error) {
				return a.SnapshotBrief(ctx, ask(c), c.text("role"), c.number("budget", 0))
			}),
	}
}
