package cli

import (
	"context"

	"strandline/internal/app"
	"strandline/internal/archive"
	"strandline/internal/recall"
)

// Served is the archive as the HTTP API reads it. It may be used by several
// goroutines; each call opens the index anew, so that a server keeps nobody from
// rebuilding it.
type Served struct {
	a       *commands
	r       app.Workspace
	queries *app.Queries // once for all searches
}

func (a *commands) newServed(r app.Workspace) *Served {
	return &Served{a: a, r: r, queries: a.app.NewQueries(r.Config)}
}

func (s *Served) close() error { return s.queries.Close() }

// Redact replaces the secrets in a text.
func (s *Served) Redact(text string) string { return s.r.Redact(text) }

// read calls do with the index, open for reading.
func read[T any](ctx context.Context, s *Served, do func(x app.Archive) (T, error)) (out T, err error) {
	err = s.a.app.WithIndex(ctx, s.r, app.ReadOnly, func(x app.Archive) (err error) {
		out, err = do(x)
		return err
	})
	return out, err
}

// Projects lists the projects.
func (s *Served) Projects(ctx context.Context) ([]app.Project, error) {
	return read(ctx, s, func(x app.Archive) ([]app.Project, error) {
		list, err := x.Index.Projects(ctx)
		return app.Projects(list), err
	})
}

// Sessions lists sessions, newest first.
func (s *Served) Sessions(ctx context.Context, ask app.SessionsAsk) ([]app.Session, error) {
	return read(ctx, s, func(x app.Archive) ([]app.Session, error) {
		f := archive.SessionFilter{Agents: ask.Agents, Since: ask.Since}
		var err error
		if ask.Project != "" {
			if f.Projects, err = projectsNamed(ctx, x.Index, ask.Project); err != nil {
				return nil, err
			}
		}
		if ask.Parent != "" {
			f.Agents = true
			if _, f.Parent, err = app.ResolveSession(ctx, x.Index, ask.Parent); err != nil {
				return nil, err
			}
		}
		list, err := x.Index.Sessions(ctx, f)
		return app.Sessions(list), err
	})
}

// Search finds passages, in all projects unless one is named.
func (s *Served) Search(ctx context.Context, ask app.SearchAsk) (recall.Result, error) {
	return read(ctx, s, func(x app.Archive) (result recall.Result, err error) {
		typed, err := recall.Parse(ask.Query, s.a.app.Now())
		if err != nil {
			return result, err
		}
		req, err := s.a.searchRequest(ctx, x, ask.Query, searchFlags{
			limit: ask.Limit, session: ask.Session, named: ask.Project, all: ask.Project == "" && typed.Project == "", agents: ask.Agents, rewound: ask.Rewound,
		})
		if err != nil {
			return result, err
		}
		if !ask.Since.IsZero() {
			req.Since = ask.Since
		}
		req.Kinds = append(req.Kinds, ask.Kinds...)
		r := recall.New(x.Index, s.a.app.Now, s.queries.Table).WithVectors(s.queries.Searcher(x.Config, x.Index))
		if ask.Deep {
			result, err = r.Deep(ctx, x.Index, x.Reader(), req)
		} else {
			result, err = r.Search(ctx, req)
		}
		if ask.Explain {
			result.Explain()
		}
		return result, err
	})
}
