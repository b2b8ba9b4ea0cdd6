package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/task"
	"strandline/internal/view"
)

// FileHistory is what was done to a file, oldest first, and how many older ones
// were left out.
func (s *Served) FileHistory(ctx context.Context, ask view.FilesAsk) (list []view.Touch, older int, err error) {
	list, err = read(ctx, s, func(x indexed) (_ []view.Touch, err error) {
		q := task.FileQuery{Path: ask.Path, Reads: ask.Reads, Limit: ask.Limit, Since: ask.Since}
		if ask.Session != "" {
			if _, q.Session, err = session(ctx, x.store, ask.Session); err != nil {
				return nil, err
			}
		}
		if ask.Project != "" {
			if q.Projects, err = projectsNamed(ctx, x.store, ask.Project); err != nil {
				return nil, err
			}
		}
		touches, left, err := task.FileHistory(ctx, x.store, q)
		older = left
		return view.Touches(touches), err
	})
	return list, older, err
}

// Stats are the sums of a session, or of the archive if none is named.
func (s *Served) Stats(ctx context.Context, typed string) (view.Stats, error) {
	return read(ctx, s, func(x indexed) (view.Stats, error) {
		if typed == "" {
			return stats(ctx, x.store, nil)
		}
		return stats(ctx, x.store, []string{typed})
	})
}

// Status is the state of the archive.
func (s *Served) Status(ctx context.Context) (view.Status, error) {
	return read(ctx, s, func(x indexed) (view.Status, error) { return s.a.status(ctx, x) })
}

// Transcript opens the exact bytes of a session's transcript; generation 0 is the
// latest.
func (s *Served) Transcript(ctx context.Context, typed string, generation int) (view.Transcript, error) {
	id, err := s.a.loggedSession(ctx, s.r, typed)
	if err != nil {
		return view.Transcript{}, err
	}
	r, err := s.r.capture.Open(id, generation)
	if err != nil {
		return view.Transcript{}, err
	}
	return view.Transcript{Session: id, Bytes: r, Size: r.Position().Raw}, nil
}

// Stamp changes whenever something was written to the index.
func (s *Served) Stamp() string {
	var b strings.Builder
	for _, path := range []string{s.r.cfg.Paths.Index(), s.r.cfg.Paths.Index() + "-wal"} {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "%d %d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Recent lists sessions that were heard of lately, or the one that is named.
func (s *Served) Recent(ctx context.Context, typed string) ([]view.Session, error) {
	return read(ctx, s, func(x indexed) ([]view.Session, error) {
		if typed != "" {
			_, id, err := session(ctx, x.store, typed)
			if err != nil {
				return nil, err
			}
			info, err := x.store.Session(ctx, id)
			return []view.Session{view.NewSession(info)}, err
		}
		list, err := x.store.Sessions(ctx, archive.SessionFilter{Agents: true, Since: s.a.env.Now().Add(-lately)})
		return view.Sessions(list), err
	})
}
