package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/text"
)

// Limits of a search result, which only has to identify the handles to recall.
const (
	searchHits    = 6
	searchMax     = 25
	searchExcerpt = 280 // characters per hit
)

// searchIn holds the arguments of search.
type searchIn struct {
	Query   string   `json:"query" jsonschema:"words, phrases and filters"`
	Limit   int      `json:"limit,omitempty" jsonschema:"maximal number of hits, 1 to 25 (default 6)"`
	Project string   `json:"project,omitempty" jsonschema:"name or folder of another project, or all"`
	Session string   `json:"session,omitempty" jsonschema:"handle of a session to search in"`
	Since   string   `json:"since,omitempty" jsonschema:"only newer than this: 7d, yesterday or 2026-11-01"`
	Kinds   []string `json:"kinds,omitempty" jsonschema:"only these kinds: prompt, reply, command, edit, output, summary"`
	Agents  bool     `json:"agents,omitempty" jsonschema:"include sub-agent runs"`
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
		out.Note = strings.TrimSpace("No hits. " + out.Note)
		return out, nil
	}
	var b strings.Builder
	for _, h := range found.Hits {
		body, _ := recall.Snippet(h.Text, found.Terms, searchExcerpt)
		out.Handles = append(out.Handles, h.Handle)
		related := ""
		if h.Related {
			related = " · related in meaning"
		}
		fmt.Fprintf(&b, "%s  %s · %s · %s%s\n  %s\n", h.Handle, h.Kind, h.Project, s.stamp(h.Time), related, body)
	}
	out.Record = text.Fence("passages from past sessions, best first", b.String())
	return out, nil
}

// request converts the arguments, which override the query's filters.
func (s *Server) request(ctx context.Context, idx Index, in searchIn) (recall.Request, error) {
	req, err := recall.Parse(in.Query, s.opts.Now())
	if err != nil {
		return req, err
	}
	req.Limit, req.Agents = searchHits, in.Agents
	if in.Limit > 0 {
		req.Limit = min(in.Limit, searchMax)
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

// projects returns the keys of the projects with a name; nil means all.
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

// note describes how the query was interpreted and where else hits are.
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
		list = append(list, "No passage contains the phrase; these contain its words.")
	case recall.RelaxedPrefix:
		list = append(list, "No passage contains the exact words; these match by prefix.")
	}
	if r.Elsewhere {
		list = append(list, "Other projects have hits: set project to all.")
	}
	if r.InAgents {
		list = append(list, "Sub-agent runs have hits: set agents to true.")
	}
	return strings.Join(list, " ")
}
