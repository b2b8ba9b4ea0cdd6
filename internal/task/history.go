package task

import (
	"context"
	"slices"
	"time"

	"strandline/internal/archive"
)

// Histories is an index that knows what was done to files.
type Histories interface {
	// History lists what was done to a file, oldest first.
	History(ctx context.Context, f archive.HistoryFilter) ([]archive.Touch, error)
}

// FileQuery asks what was done to a file.
type FileQuery struct {
	Path     string   // the file's, whole or its end at a slash
	Projects []string // project keys, empty: all
	Session  string   // only this one; "" for all
	Since    time.Time
	Reads    bool // reads and searches as well
	Limit    int  // at most so many, the newest; 0: all
}

// FileHistory lists the changes to a file and the commands that named it, oldest
// first, and says how many older ones the limit left out.
func FileHistory(ctx context.Context, src Histories, q FileQuery) (list []archive.Touch, older int, err error) {
	f := archive.HistoryFilter{Path: q.Path, Projects: q.Projects, Since: q.Since}
	if !q.Reads {
		f.Kinds = []archive.CallKind{archive.CallEdit, archive.CallCommand}
	}
	if list, err = src.History(ctx, f); err != nil {
		return nil, 0, err
	}
	if q.Session != "" {
		list = slices.DeleteFunc(list, func(t archive.Touch) bool { return t.Session != q.Session })
	}
	if q.Limit > 0 && len(list) > q.Limit {
		older = len(list) - q.Limit
		list = list[older:]
	}
	return list, older, nil
}
