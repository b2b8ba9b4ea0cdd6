package app

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/redact"
	"strandline/internal/transcript/claude"
)

// maxScanned limits the places of a scan that are listed; all are counted.
const maxScanned = 1000

// ScanReport lists the secrets that the logs of the archive hold, without their
// values.
type ScanReport struct {
	Sessions int            `json:"sessions"` // that were read
	Found    int            `json:"found"`
	Kinds    map[string]int `json:"kinds"`
	Places   []ScanPlace    `json:"places"`
	More     int            `json:"more,omitempty"` // places that are not listed
	Failed   []string       `json:"failed,omitempty"`
}

// ScanPlace is a line of a transcript with secrets of one kind.
type ScanPlace struct {
	Kind    string `json:"kind"`
	Session string `json:"session"`
	Line    int    `json:"line"` // from 0
	Where   string `json:"where,omitempty"`
	Count   int    `json:"count"`
}

// ScanSecrets reads the logs of a session, or of all if typed is "", line by line and
// reports what redaction replaces in them. It holds one line at a time.
func (a *App) ScanSecrets(ctx context.Context, typed string) (ScanReport, error) {
	w, err := a.Workspace()
	if err != nil {
		return ScanReport{}, err
	}
	out := ScanReport{Kinds: map[string]int{}, Places: []ScanPlace{}}
	sessions, err := a.scanned(ctx, w, typed)
	for _, id := range sessions {
		failed := w.scanSession(ctx, id, &out)
		switch {
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case errors.Is(failed, fs.ErrNotExist): // deleted meanwhile
		case failed != nil:
			out.Failed = append(out.Failed, archive.ShortID(id)+": "+failed.Error())
		}
	}
	return out, err
}

// scanned returns the IDs of the sessions to scan.
func (a *App) scanned(ctx context.Context, w Workspace, typed string) (ids []string, err error) {
	if typed != "" {
		return readSession(ctx, a, typed, func(_ Archive, id string) ([]string, error) { return []string{id}, nil })
	}
	jobs, err := w.Capture.LoggedJobs(ctx)
	for _, j := range jobs {
		ids = append(ids, j.Session)
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}

// scanSession adds the secrets of a session's log to a report.
func (w Workspace) scanSession(ctx context.Context, id string, out *ScanReport) error {
	reader := claude.BlockReader{Owns: w.Capture.Records.Owns}
	common, err := w.Capture.Common(id)
	if err != nil {
		return err
	}
	out.Sessions++
	return w.Scan(ctx, id, 0, 0, func(line int, b []byte) error {
		for _, block := range reader.Blocks(common(append(b, '\n')), line) {
			kinds := map[string]int{}
			for _, f := range redact.Find(block.Text) {
				kinds[f.Kind]++
			}
			for kind, n := range kinds {
				out.Found += n
				out.Kinds[kind] += n
				if len(out.Places) == maxScanned {
					out.More++
					continue
				}
				out.Places = append(out.Places, ScanPlace{Kind: kind, Session: archive.ShortID(id), Line: line, Where: cmp.Or(w.Redact(block.Name), block.Kind), Count: n})
			}
		}
		return nil
	})
}
