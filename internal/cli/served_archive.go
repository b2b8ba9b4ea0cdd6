package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/task"
)

// FileHistory is what was done to a file, oldest first, and how many older ones
// were left out.
func (s *Served) FileHistory(ctx context.Context, ask app.FilesAsk) (list []app.Touch, older int, err error) {
	list, err = read(ctx, s, func(x app.Archive) (_ []app.Touch, err error) {
		q := task.FileQuery{Path: ask.Path, Reads: ask.Reads, Limit: ask.Limit, Since: ask.Since}
		if ask.Session != "" {
			if _, q.Session, err = app.ResolveSession(ctx, x.Index, ask.Session); err != nil {
				return nil, err
			}
		}
		if ask.Project != "" {
			if q.Projects, err = projectsNamed(ctx, x.Index, ask.Project); err != nil {
				return nil, err
			}
		}
		touches, left, err := task.FileHistory(ctx, x.Index, q)
		older = left
		return app.Touches(touches), err
	})
	return list, older, err
}

// Stats are the sums of a session, or of the archive if none is named.
func (s *Served) Stats(ctx context.Context, typed string) (app.Stats, error) {
	return read(ctx, s, func(x app.Archive) (app.Stats, error) {
		if typed == "" {
			return stats(ctx, x.Index, nil)
		}
		return stats(ctx, x.Index, []string{typed})
	})
}

// Status is the state of the archive.
func (s *Served) Status(ctx context.Context) (app.Status, error) {
	return read(ctx, s, func(x app.Archive) (app.Status, error) { return s.a.status(ctx, x) })
}

// Transcript opens the exact bytes of a session's transcript; generation 0 is the
// latest.
func (s *Served) Transcript(ctx context.Context, typed string, generation int) (app.Transcript, error) {
	id, err := s.a.loggedSession(ctx, s.r, typed)
	if err != nil {
		return app.Transcript{}, err
	}
	r, err := s.r.Capture.Open(id, generation)
	if err != nil {
		return app.Transcript{}, err
	}
	return app.Transcript{Session: id, Bytes: r, Size: r.Position().Raw}, nil
}

// Stamp changes whenever something was written to the index.
func (s *Served) Stamp() string {
	var b strings.Builder
	for _, path := range []string{s.r.Config.Paths.Index(), s.r.Config.Paths.Index() + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Recent lists sessions that were heard of lately, or the one that is named.
func (s *Served) Recent(ctx context.Context, typed string) ([]app.Session, error) {
	return read(ctx, s, func(x app.Archive) ([]app.Session, error) {
		if typed != "" {
			_, id, err := app.ResolveSession(ctx, x.Index, typed)
			if err != nil {
				return nil, err
			}
			info, err := x.Index.Session(ctx, id)
			return []app.Session{app.NewSession(info)}, err
		}
		list, err := x.Index.Sessions(ctx, archive.SessionFilter{Agents: true, Since: s.a.app.Now().Add(-lately)})
		return app.Sessions(list), err
	})
}
