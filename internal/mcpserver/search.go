package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// How much a search gives: enough to choose a handle by, no more.
const (
	searchHits    = 6
	searchMost    = 25
	searchExcerpt = 280 // characters of one hit
)

// searchIn are the arguments of search.
type searchIn struct {
	Query   string   `json:"query" jsonschema:"what to look for"`
	Limit   int      `json:"limit,omitempty" jsonschema:"at most this many hits, 1 to 25 (6 if left out)"`
	Project string   `json:"project,omitempty" jsonschema:"name or folder of another project, or all for every project"`
	Session string   `json:"session,omitempty" jsonschema:"only this session, by its handle"`
	Since   string   `json:"since,omitempty" jsonschema:"only what is newer, such as 7d, yesterday or 2026-11-01"`
	Kinds   []string `json:"kinds,omitempty" jsonschema:"only these kinds: prompt, reply, command, edit, output, summary"`
	Agents  bool     `json:"agents,omitempty" jsonschema:"sub-agents' runs as well"`
}

func (s *Server) search(ctx context.Context, idx Index, in searchIn) (answer, error) {
	req, err := s.request(ctx, idx, in)
	if err != nil {
		return answer{}, err
	}
	found, err := recall.New(idx, s.opts.Now, s.opts.Embedder).WithVectors(idx).WithDecay(s.opts.Decay).Search(ctx, req)
	if err != nil {
		return answer{}, err
	}
	out := answer{Note: note(found)}
	if len(found.Hits) == 0 {
		out.Note = strings.TrimSpace("Nothing found. " + out.Note)
		return out, nil
	}
	var b strings.Builder
	for _, h := range found.Hits {
		body, _ := recall.Snippet(h.Text, found.Terms, searchExcerpt)
		out.Handles = append(out.Handles, h.Handle)
		related := ""
		if h.Related {
			related = " · related in meaning, perhaps something else"
		}
		fmt.Fprintf(&b, "%s  %s · %s · %s%s\n  %s\n", h.Handle, h.Kind, h.Project, s.stamp(h.Time), related, body)
	}
	out.Record = text.Fence("passages of past sessions, best first", b.String())
	return out, nil
}

// request makes a request of the arguments; they win over filters in the query.
func (s *Server) request(ctx context.Context, idx Index, in searchIn) (recall.Request, error) {
	req, err := recall.Parse(in.Query, s.opts.Now())
	if err != nil {
		return req, err
	}
	req.Limit, req.Agents = searchHits, in.Agents
	if in.Limit > 0 {
		req.Limit = min(in.Limit, searchMost)
	}
	if in.Session != "" {
		req.Session = in.Session
	}
	if in.Since != "" {
		if req.Since, err = recall.ParseTime(in.Since, s.opts.Now()); err != nil {
			return req, err
		}
	}
	for _, k := range in.Kinds {
		kind, err := recall.ParseKind(k)
		if err != nil {
			return req, err
		}
		req.Kinds = append(req.Kinds, kind)
	}
	if in.Project != "" {
		req.Project = in.Project
	}
	if req.Session == "" {
		req.Projects, err = s.projects(ctx, idx, req.Project)
	}
	return req, err
}

// projects are the keys that a name stands for: nil for all of them.
func (s *Server) projects(ctx context.Context, idx Index, name string) ([]string, error) {
	switch {
	case strings.EqualFold(name, "all"):
		return nil, nil
	case name == "" && s.opts.Project.Key == "":
		return nil, nil
	case name == "":
		return []string{s.opts.Project.Key}, nil
	}
	all, err := idx.Projects(ctx)
	if err != nil {
		return nil, err
	}
	keys := recall.ProjectsNamed(all, name)
	if len(keys) == 0 {
		return nil, archive.NotFound(fmt.Sprintf("no project is called %q", name), "project: all searches every project")
	}
	return keys, nil
}

// note says what a reader of the hits has to know.
func note(r recall.Result) string {
	var list []string
	if r.When != nil {
		list = append(list, r.When.String())
	}
	for _, c := range r.Corrected {
		list = append(list, c.String())
	}
	list = append(list, r.Notes...)
	switch r.Relaxed {
	case recall.RelaxedPhrase:
		list = append(list, "No passage holds the quoted words together; these hold them apart.")
	case recall.RelaxedPrefix:
		list = append(list, "No passage holds the words whole; these hold words that begin so.")
	}
	if r.Elsewhere {
		list = append(list, "There are hits in other projects: project: all.")
	}
	if r.InAgents {
		list = append(list, "There are hits in sub-agents' runs: agents: true.")
	}
	return strings.Join(list, " ")
}
