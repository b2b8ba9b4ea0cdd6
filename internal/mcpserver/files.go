package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/brief"
	"strandline/internal/recall"
)

// How much of a file's history is given.
const (
	filesListed  = 12
	filesMost    = 50
	filesExcerpt = 160 // characters of each place
)

type filesIn struct {
	Path    string `json:"path" jsonschema:"a file, or a part of its path"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many places, 1 to 50 (12 if left out)"`
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all for every project"`
}

// files lists the places at which a file was worked on, newest first.
func (s *Server) files(ctx context.Context, idx Index, in filesIn) (answer, error) {
	path := strings.TrimSpace(in.Path)
	if path == "" {
		return answer{}, archive.Invalid("path is empty", "name a file, or a part of its path")
	}
	req := recall.Request{Files: []string{path}, Limit: filesMost, Agents: true}
	var err error
	if req.Projects, err = s.projects(ctx, idx, in.Project); err != nil {
		return answer{}, err
	}
	found, err := recall.New(idx, s.opts.Now, nil).Search(ctx, req)
	if err != nil {
		return answer{}, err
	}
	if len(found.Hits) == 0 {
		return answer{Note: strings.TrimSpace("Nothing found. " + note(found))}, nil
	}
	slices.SortStableFunc(found.Hits, func(a, b recall.Hit) int { return b.Time.Compare(a.Time) })
	limit := filesListed
	if in.Limit > 0 {
		limit = min(in.Limit, filesMost)
	}
	var out answer
	var b strings.Builder
	for _, h := range found.Hits[:min(limit, len(found.Hits))] {
		text, _ := recall.Snippet(h.Text, found.Terms, filesExcerpt)
		out.Handles = append(out.Handles, h.Handle)
		fmt.Fprintf(&b, "%s  %s · %s · %s\n  %s\n", h.Handle, h.Kind, h.Project, s.stamp(h.Time), text)
	}
	out.Record = brief.Fence("where "+path+" was worked on, newest first", b.String())
	return out, nil
}
