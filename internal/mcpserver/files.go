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

// How much of a file's history is given.
const (
	filesListed  = 12
	filesMost    = 50
	filesExcerpt = 160 // characters of each place
)

type filesIn struct {
	Path    string `json:"path" jsonschema:"a file's path, or its end from a slash on, such as pay/retry.go"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many, the newest, 1 to 50 (12 if left out)"`
	Since   string `json:"since,omitempty" jsonschema:"only what was done since then, such as 7d or 2026-11-01"`
	Reads   bool   `json:"reads,omitempty" jsonschema:"reads and searches as well"`
	Project string `json:"project,omitempty" jsonschema:"name or folder of another project, or all for every project"`
}

// files lists what was done to a file, newest first, as the command does.
func (s *Server) files(ctx context.Context, idx Index, in filesIn) (answer, error) {
	path := strings.TrimSpace(in.Path)
	if path == "" {
		return answer{}, archive.Invalid("path is empty", "name a file, or a part of its path")
	}
	q := task.FileQuery{Path: path, Reads: in.Reads, Limit: filesListed}
	if in.Limit > 0 {
		q.Limit = min(in.Limit, filesMost)
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
		return answer{Note: "Nothing was done to it in a session that is kept. A path is taken whole or from a slash on; reads: true lists reads as well, project: all looks into every project."}, nil
	}
	var out answer
	var b strings.Builder
	for _, t := range slices.Backward(list) {
		at := archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle()
		out.Handles = append(out.Handles, at)
		did := t.Tool
		if t.Failed {
			did += " failed"
		}
		what, err := whatWasDone(ctx, idx, t)
		if err != nil {
			return answer{}, err
		}
		excerpt, _ := recall.Snippet(what, nil, filesExcerpt)
		fmt.Fprintf(&b, "%s  %s · %s  %s\n", at, s.stamp(t.Time), did, excerpt)
	}
	if older > 0 {
		out.Note = fmt.Sprintf("%d older ones are left out.", older)
	}
	out.Record = text.Fence("what was done to "+path+", newest first", b.String())
	return out, nil
}

// whatWasDone is the command that named a file, the change that was made to it, or
// the path where there is no more to say.
func whatWasDone(ctx context.Context, idx Index, t archive.Touch) (string, error) {
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
