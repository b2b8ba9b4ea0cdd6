package cli

import (
	"context"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/view"
)

// Served is the archive as the HTTP API reads it. It may be used by several
// goroutines; each call opens the index anew, so that a server keeps nobody from
// rebuilding it.
type Served struct {
	a       *app
	r       rooms
	queries *Queries // once for all searches
}

func (a *app) newServed(r rooms) *Served {
	return &Served{a: a, r: r, queries: NewQueries(a.env, r.cfg)}
}

func (s *Served) close() error { return s.queries.Close() }

// Redact replaces the secrets in a text.
func (s *Served) Redact(text string) string { return s.a.env.Redact(s.r.cfg)(text) }

// read calls do with the index, open for reading.
func read[T any](ctx context.Context, s *Served, do func(x indexed) (T, error)) (out T, err error) {
	err = s.a.withIndex(ctx, s.r, StoreRead, func(x indexed) (err error) {
		out, err = do(x)
		return err
	})
	return out, err
}

// Projects lists the projects.
func (s *Served) Projects(ctx context.Context) ([]view.Project, error) {
	return read(ctx, s, func(x indexed) ([]view.Project, error) {
		list, err := x.store.Projects(ctx)
		return view.Projects(list), err
	})
}

// Sessions lists sessions, newest first.
func (s *Served) Sessions(ctx context.Context, ask view.SessionsAsk) ([]view.Session, error) {
	return read(ctx, s, func(x indexed) ([]view.Session, error) {
		f := archive.SessionFilter{Agents: ask.Agents, Since: ask.Since}
		var err error
		if ask.Project != "" {
			if f.Projects, err = projectsNamed(ctx, x.store, ask.Project); err != nil {
				return nil, err
			}
		}
		if ask.Parent != "" {
			f.Agents = true
			if _, f.Parent, err = session(ctx, x.store, ask.Parent); err != nil {
				return nil, err
			}
		}
		list, err := x.store.Sessions(ctx, f)
		return view.Sessions(list), err
	})
}

// Search finds passages, in all projects unless one is named.
func (s *Served) Search(ctx context.Context, ask view.SearchAsk) (recall.Result, error) {
	return read(ctx, s, func(x indexed) (result recall.Result, err error) {
		typed, err := recall.Parse(ask.Query, s.a.env.Now())
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
		r := recall.New(x.store, s.a.env.Now, s.queries.Table).WithVectors(s.queries.Searcher(x.cfg, x.store))
		if ask.Deep {
			result, err = r.Deep(ctx, x.store, s.a.reader(x.rooms), req)
		} else {
			result, err = r.Search(ctx, req)
		}
		if ask.Explain {
			result.Explain()
		}
		return result, err
	})
}
