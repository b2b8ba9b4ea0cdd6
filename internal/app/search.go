package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/compact"
	"strandline/internal/embed"
	"strandline/internal/recall"
)

// SearchQuery is a search. Session, Since, Until, Branch and the project in Scope override
// the filters in Text; Kinds are added to them.
type SearchQuery struct {
	Text string // words, phrases and filters
	// Scope selects projects. It is ignored if a session is given. A project in Text
	// applies if Scope has neither Name nor Dir.
	Scope
	Session string // handle or ID
	Since   time.Time
	Until   time.Time
	Branch  string // git branch, or a part of its name
	Kinds   []archive.PassageKind
	Failed  bool // only calls that failed
	Limit   int  // maximum number of hits; 0 means the setting search.limit
	// PerSession is the maximum number of hits of a session; 0 means no limit.
	PerSession int
	Agents     bool // include sub-agents' runs
	Rewound    bool // include rewound turns
	Regex      bool // Text is a regular expression, without filters; not with Team
	Logs       bool // also look briefly into the logs if no indexed passage has the words
	Deep       bool // also search the logs for text that is not in the index; not with Team
	Explain    bool // add the parts of each score
	Team       bool // search the team's archive
}

// Search finds passages by words and by meaning, best first. Hits is not nil, even on an
// error. The error is CodeInvalid for an invalid query and CodeNotFound for an unknown
// project.
func (a *App) Search(ctx context.Context, q SearchQuery) (result recall.Result, err error) {
	if q.Team {
		result, err = a.searchTeam(ctx, q)
	} else {
		result, err = a.searchLocal(ctx, q)
	}
	if result.Hits == nil {
		result.Hits = []recall.Hit{}
	}
	if q.Explain {
		result.Explain()
	}
	return result, err
}

// searchLocal searches the local archive.
func (a *App) searchLocal(ctx context.Context, q SearchQuery) (recall.Result, error) {
	return read(ctx, a, func(x Archive) (result recall.Result, err error) {
		req, err := a.searchRequest(ctx, x.Workspace, x.Index, q, x.ProjectKey)
		if err != nil {
			return result, err
		}
		embedders := a.queryEmbedders()
		r := recall.New(x.Index, a.Now, embedders.table)
		r.Vectors, r.Confidence = &embed.Searcher{Store: x.Index, Dir: x.vectorDir(), Embedders: embedders.all, Notes: embedders.notes}, recall.ConfidenceWithDecay(x.Config.Lifecycle.Decay)
		switch {
		case req.Regex != nil:
			return r.Regex(ctx, x.Index, x, req)
		case q.Deep:
			result, err = r.Deep(ctx, x.Index, x, req)
		case q.Logs:
			result, err = r.Briefly(ctx, x.Index, x, req)
		default:
			result, err = r.Search(ctx, req)
		}
		result.Hits = slices.DeleteFunc(result.Hits, func(h recall.Hit) bool { // until the next maintenance run deletes it
			return h.Label == archive.LabelSnapshot && a.Now().Sub(h.Time) > archive.PostedAge
		})
		if err == nil {
			err = markSuperseded(ctx, x, result.Hits)
		}
		err = errors.Join(err, addNotes(ctx, x, req, &result))
		return result, err
	})
}

// markSuperseded marks the statements among hits that a later edit of their session made
// out of date, as restored contexts do.
func markSuperseded(ctx context.Context, x Archive, hits []recall.Hit) (err error) {
	for i := range hits[:min(len(hits), maxSuperseded)] {
		h := &hits[i]
		switch h.Kind {
		case archive.KindPrompt, archive.KindReply, archive.KindSummary:
			if h.Superseded, err = compact.FindRemoval(ctx, x.Index, h.Ref, h.LineFrom, h.Text); err != nil {
				return fmt.Errorf("mark what is out of date: %w", err)
			}
		}
	}
	return nil
}

// maxSuperseded is the number of hits that are checked: each costs up to some milliseconds.
const maxSuperseded = 25

// searchTeam searches the team's archive by words and by the vectors of the built-in
// table.
func (a *App) searchTeam(ctx context.Context, q SearchQuery) (result recall.Result, err error) {
	if q.Deep {
		return result, archive.Invalid("--deep reads logs, and the team's archive has none", "leave out --deep or --team")
	}
	w, err := a.Workspace()
	if err != nil {
		return result, err
	}
	addr, err := a.TeamAddress(w.Config, false)
	if err != nil {
		return result, err
	}
	store, err := a.Stores.OpenTeam(ctx, addr)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, store.Index.Close()) }()
	req, err := a.searchRequest(ctx, w, store.Index, q, func(dir string) string {
		return TeamProject(w.Capture.Project(dir), addr.Author, addr.Machine).Key
	})
	if err != nil {
		return result, err
	}
	if req.Regex != nil {
		return result, archive.Invalid("a regular expression is searched in logs, and the team's archive has none", "search for words, or leave out --team")
	}
	return recall.New(store.Index, a.Now, a.queryEmbedders().table).Search(ctx, req)
}

// searchRequest combines the fields of q with the filters in its text. keyOf returns the
// key that the index uses for the project in a folder.
func (a *App) searchRequest(ctx context.Context, w Workspace, index TeamIndex, q SearchQuery, keyOf func(dir string) string) (recall.Request, error) {
	req, err := recall.Parse(q.Text, a.Now())
	if q.Regex {
		req = recall.Request{Query: q.Text}
		req.Regex, err = recall.Pattern(q.Text)
	}
	if err != nil {
		return req, err
	}
	req.Agents, req.Dead, req.Limit = q.Agents, q.Rewound, cmp.Or(max(q.Limit, 0), w.Config.Search.Limit)
	req.Session, req.Since, req.Until = cmp.Or(q.Session, req.Session), cmp.Or(q.Since, req.Since), cmp.Or(q.Until, req.Until)
	req.Kinds, req.Failed, req.PerSession = append(req.Kinds, q.Kinds...), req.Failed || q.Failed, q.PerSession
	req.Clients = q.Clients
	if branch := cmp.Or(q.Branch, req.Branch); branch != "" {
		if req.Branches, err = branchesNamed(ctx, index, branch); err != nil {
			return req, err
		}
	}
	if req.Session != "" {
		return req, nil
	}
	scope := q.Scope
	if scope.Name == "" && scope.Dir == "" {
		scope.Name = req.Project
	}
	req.Projects, err = a.projectKeys(ctx, index, scope, keyOf)
	return req, err
}
