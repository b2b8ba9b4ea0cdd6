package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/recall"
	"strandline/internal/task"
	"strandline/internal/text"
)

const (
	filesDefault = 12
	filesMax     = 50
	filesExcerpt = 160 // characters per entry
)

type filesIn struct {
	Path    string `json:"path" jsonschema:"a file's path, or its end after a slash, such as pay/retry.go"`
	Limit   int    `json:"limit,omitempty" jsonschema:"maximal number of newest entries, 1 to 50 (default 12)"`
	Since   string `json:"since,omitempty" jsonschema:"only newer than this: 7d or 2026-11-01"`
	Reads   bool   `json:"reads,omitempty" jsonschema:"include reads and searches"`
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all"`
}

// files lists what was done to a file, newest first.
func (s *Server) files(ctx context.Context, idx Index, in filesIn) (answer, error) {
	path := strings.TrimSpace(in.Path)
	if path == "" {
		return answer{}, archive.Invalid("path is empty", "name a file, or the end of its path")
	}
	q := task.FileQuery{Path: path, Reads: in.Reads, Limit: filesDefault}
	if in.Limit > 0 {
		q.Limit = min(in.Limit, filesMax)
	}
	var err error
	if q.Projects, err = s.projects(ctx, idx, in.Project); err != nil {
		return answer{}, err
	}
	if q.Since, err = s.since(in.Since); err != nil {
		return answer{}, err
	}
	list, older, err := task.FileHistory(ctx, idx, q)
	if err != nil {
		return answer{}, err
	}
	if len(list) == 0 {
		return answer{Note: "No archived session changed this file. Give the full path or its end after a slash; set reads to true to include reads, project to all to include every project."}, nil
	}
	var out answer
	var b strings.Builder
	for _, t := range slices.Backward(list) {
		at := archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle()
		out.Handles = append(out.Handles, at)
		action := t.Tool
		if t.Failed {
			action += " failed"
		}
		desc, err := describeTouch(ctx, idx, t)
		if err != nil {
			return answer{}, err
		}
		excerpt, _ := recall.Snippet(desc, nil, filesExcerpt)
		fmt.Fprintf(&b, "%s  %s · %s  %s\n", at, s.stamp(t.Time), action, excerpt)
	}
	if older > 0 {
		out.Note = fmt.Sprintf("%d older entries are omitted.", older)
	}
	out.Record = text.Fence("history of "+path+", newest first", b.String())
	return out, nil
}

// describeTouch returns the command that named a file or the change of the file,
// or else the path.
func describeTouch(ctx context.Context, idx Index, t archive.Touch) (string, error) {
	if t.Command != "" || t.Kind != archive.CallEdit {
		return cmp.Or(t.Command, t.Path), nil
	}
	span := archive.Span{Session: t.Session, TurnFrom: t.Turn, TurnTo: t.Turn + 1}
	passages, err := idx.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindEdit}})
	if err != nil {
		return "", err
	}
	for _, x := range passages {
		if x.Step == t.Step && slices.Contains(x.Paths, t.Path) {
			if head, change, ok := strings.Cut(x.Text, "\n"); ok && strings.HasSuffix(head, t.Path) {
				return change, nil
			}
			return x.Text, nil
		}
	}
	return t.Path, nil
}
