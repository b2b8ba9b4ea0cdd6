package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// UncapturedSiblings lists the newest transcripts beside one that hold more than their
// logs: what a client that was killed after its last hook has written, or wrote
// before Strandline was there. At most limit of them are looked at, so that
// folders with thousands of sessions cost a hook no more than small ones.
func (c *Capture) UncapturedSiblings(beside Source, limit int) ([]PendingWork, error) {
	folder := filepath.Dir(beside.Path)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list transcripts: %w", err)
	}
	type candidate struct {
		name string
		size int64
		time time.Time
	}
	var all []candidate
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != transcriptExt || e.Name() == filepath.Base(beside.Path) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			all = append(all, candidate{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(b.time.Compare(a.time), cmp.Compare(a.name, b.name)) })
	var left []PendingWork
	for _, x := range all[:min(limit, len(all))] {
		src, err := TranscriptSource(filepath.Join(folder, x.name), strings.TrimSuffix(x.name, transcriptExt), "")
		if err != nil {
			continue // a name that no session has
		}
		behind, err := c.HasNewBytes(src, x.size)
		if err != nil {
			return left, err
		}
		if behind {
			left = append(left, PendingWork{Session: src.Session, Transcript: src.Path})
		}
	}
	return left, nil
}
