package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/task"
)

// Touch is a change to a file, or a command that named it.
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
	// Text is the command, the change, or else the path. It is set on request.
	Text string `json:"-"`
}

// Action returns the tool, and whether it failed.
func (t Touch) Action() string {
	if t.Failed {
		return t.Tool + " failed"
	}
	return t.Tool
}

// FilesQuery selects the history of a file.
type FilesQuery struct {
	Path    string // whole, or its end after a slash
	Scope          // a session needs none
	Session string // handle or ID
	Since   time.Time
	Reads   bool // include reads and searches
	Limit   int  // the newest; 0: no limit
	Texts   bool // set Touch.Text
}

// FileHistory returns the touches of a file, oldest first, and the number of older
// ones beyond the limit.
func (a *App) FileHistory(ctx context.Context, q FilesQuery) (list []Touch, older int, err error) {
	list, err = read(ctx, a, func(x Archive) (_ []Touch, err error) {
		f := task.FileQuery{HistoryFilter: archive.HistoryFilter{Path: q.Path, Since: q.Since}, Reads: q.Reads, Limit: q.Limit}
		if q.Session != "" {
			_, f.Session, err = resolveSession(ctx, x.Index, q.Session)
		}
		if err == nil && (q.Session == "" || q.Name != "") {
			f.Projects, err = a.keys(ctx, x, q.Scope)
		}
		if err != nil {
			return nil, err
		}
		var touches []archive.Touch
		if touches, older, err = task.FileHistory(ctx, x.Index, f); err != nil {
			return nil, err
		}
		out := make([]Touch, 0, len(touches))
		for _, t := range touches {
			touch := Touch{
				Handle: archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle(), Session: t.Session, Time: t.Time,
				Kind: string(t.Kind), Tool: t.Tool, Path: t.Path, Command: t.Command, Failed: t.Failed, Line: t.Line,
			}
			if q.Texts {
				if touch.Text, err = touchText(ctx, x, t); err != nil {
					return nil, err
				}
			}
			out = append(out, touch)
		}
		return out, nil
	})
	return list, older, err
}

// touchText returns the command that named a file, the change to it, or else its path.
func touchText(ctx context.Context, x Archive, t archive.Touch) (string, error) {
	if t.Command != "" || t.Kind != archive.CallEdit {
		return cmp.Or(t.Command, t.Path), nil
	}
	span := archive.Span{Session: t.Session, TurnFrom: t.Turn, TurnTo: t.Turn + 1}
	passages, err := x.Index.Passages(ctx, archive.PassageSpan{Span: span, Kinds: []archive.PassageKind{archive.KindEdit}})
	if err != nil {
		return "", err
	}
	for _, p := range passages {
		if p.Step == t.Step && slices.Contains(p.Paths, t.Path) {
			if head, change, ok := strings.Cut(p.Text, "\n"); ok && strings.HasSuffix(head, t.Path) {
				return change, nil
			}
			return p.Text, nil
		}
	}
	return t.Path, nil
}

// File is a file with how often it was changed and read.
type File struct {
	Path    string    `json:"path"`
	Changes int       `json:"changes"`
	Reads   int       `json:"reads"`
	Last    time.Time `json:"last"`
	Handle  string    `json:"handle"`
}

// SessionFiles returns the files that a session touched, the most often changed
// first, at most limit of them unless that is 0.
func (a *App) SessionFiles(ctx context.Context, session string, limit int) ([]File, error) {
	return readSession(ctx, a, session, func(x Archive, id string) ([]File, error) {
		touches, err := x.Index.Files(ctx, archive.Span{Session: id})
		return files(touches, limit), err
	})
}

func files(touches []archive.FileTouch, limit int) []File {
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
		f := &out[i]
		if t.Kind == archive.CallEdit {
			f.Changes++
		} else {
			f.Reads++
		}
		f.Last, f.Handle = t.Time, archive.Ref{Session: t.Session, Turn: t.Turn, Step: t.Step}.Handle()
	}
	slices.SortStableFunc(out, func(p, q File) int { return cmp.Or(q.Changes-p.Changes, q.Reads-p.Reads) })
	return out[:min(cmp.Or(limit, len(out)), len(out))]
}
