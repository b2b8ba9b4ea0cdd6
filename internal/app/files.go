package app

import (
	"cmp"
	"slices"
	"time"

	"strandline/internal/archive"
)

// Touch is one thing that was done to a file, for scripts.
type Touch struct {
	Handle  string    `json:"handle"`
	Session string    `json:"session"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Tool    string    `json:"tool"`
	Path    string    `json:"path"`
	Command string    `json:"command,omitempty"`
	Failed  bool      `json:"failed,omitempty"`
	Line    int       `json:"line"`
}

// File is a file with how often it was touched, for scripts.
type File struct {
	Path    string    `json:"path"`
	Changes int       `json:"changes"`
	Reads   int       `json:"reads"`
	Last    time.Time `json:"last"`
	Handle  string    `json:"handle"`
}

// Touches are things that were done to a file.
func Touches(list []archive.Touch) []Touch {
	out := make([]Touch, 0, len(list))
	for _, t := range list {
		out = append(out, Touch{
			Handle: archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle(), Session: t.Session, Time: t.Time,
			Kind: string(t.Kind), Tool: t.Tool, Path: t.Path, Command: t.Command, Failed: t.Failed, Line: t.Line,
		})
	}
	return out
}

// Files are those that a session touched, the most often changed first, at most
// limit of them unless that is 0.
func Files(touches []archive.FileTouch, limit int) []File {
	at := map[string]int{}
	out := []File{}
	for _, t := range touches {
		i, ok := at[t.Path]
		if !ok {
			if t.Kind == archive.CallSearch {
				continue
			}
			i = len(out)
			at[t.Path] = i
			out = append(out, File{Path: t.Path})
		}
		j := &out[i]
		if t.Kind == archive.CallEdit {
			j.Changes++
		} else {
			j.Reads++
		}
		j.Last, j.Handle = t.Time, archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle()
	}
	slices.SortStableFunc(out, func(p, q File) int { return cmp.Or(q.Changes-p.Changes, q.Reads-p.Reads) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out
}
