package task

import (
	"context"
	"slices"
	"time"

	"strandline/internal/archive"
)

// FileHistoryStore is the part of a store that FileHistory reads.
type FileHistoryStore interface {
	// History lists the calls on a file, oldest first.
	History(ctx context.Context, f archive.HistoryFilter) ([]archive.Touch, error)
}

// FileQuery asks for the history of a file.
type FileQuery struct {
	Path     string   // of the file, whole or from a slash
	Projects []string // project keys; empty for all
	Session  string   // "" for all
	Since    time.Time
	Reads    bool // include reads and searches
	Limit    int  // the number of newest entries, 0 for all
}

// FileHistory returns the changes to a file and the commands that name it, oldest first,
// and the number of older ones beyond the limit.
func FileHistory(ctx context.Context, src FileHistoryStore, q FileQuery) (list []archive.Touch, older int, err error) {
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
