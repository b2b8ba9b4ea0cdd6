package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
	Title   string    `json:"title,omitempty"`   // of the session
	Project string    `json:"project,omitempty"` // its name
	// Added and Removed count the lines of a change; a file that is written whole counts
	// as added. Functions are the functions and types that the change names, Why is the
	// announcement before it.
	Added     int      `json:"added,omitempty"`
	Removed   int      `json:"removed,omitempty"`
	Functions []string `json:"functions,omitempty"`
	Why       string   `json:"why,omitempty"`
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

// Size returns the lines of a change as "+3 -1", or else the action.
func (t Touch) Size() string {
	if t.Added+t.Removed == 0 {
		return t.Action()
	}
	return fmt.Sprintf("+%d -%d", t.Added, t.Removed)
}

// FileHistory is the history of a file.
type FileHistory struct {
	Items []Touch `json:"items"` // oldest first
	Older int     `json:"older"` // number of omitted older entries
	Reads int     `json:"reads"` // number of reads and searches that are not listed
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

// FileHistory returns the history of a file.
func (a *App) FileHistory(ctx context.Context, q FilesQuery) (FileHistory, error) {
	return read(ctx, a, func(x Archive) (out FileHistory, err error) {
		f := task.FileQuery{HistoryFilter: archive.HistoryFilter{Path: q.Path, Since: q.Since}, Reads: q.Reads, Limit: q.Limit}
		if q.Session != "" {
			_, f.Session, err = resolveSession(ctx, x.Index, q.Session)
		}
		if err == nil && (q.Session == "" || q.Name != "") {
			f.Projects, err = a.keys(ctx, x, q.Scope)
		}
		if err != nil {
			return out, err
		}
		found, err := task.FileHistory(ctx, x.Index, f)
		if err != nil {
			return out, err
		}
		out = FileHistory{Older: found.Older, Reads: found.Reads, Items: archive.Convert(found.List, newTouch)}
		return out, describeTouches(ctx, x, found.List, out.Items, q.Texts)
	})
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
