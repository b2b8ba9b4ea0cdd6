package app

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/text"
)

// LogCheck is the result of verifying a log.
type LogCheck struct {
	Log    string `json:"log"`
	OK     bool   `json:"ok"`
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256,omitempty"`
	// Torn is the number of bytes after the last complete append. They are from an
	// interrupted append or damaged.
	Torn int64 `json:"torn,omitempty"`
	// Forgotten is the number of bytes that were deleted for good: a marker line
	// replaces each turn or step, blanks replace the rest.
	Forgotten int64 `json:"forgotten_bytes,omitempty"`
	// Holes are the damaged parts; the rest of the log can be read.
	Holes []LogHole `json:"holes,omitempty"`
	// Repaired is the number of bytes that were taken from the client's file.
	Repaired int64 `json:"repaired_bytes,omitempty"`
	// Source compares the client's file: "same", "ahead" (it has more), "older" (a part of
	// the log), "gone", "differs", "superseded" (there is a later generation), "unread", or
	// "changing" if another process kept writing the log, which is then not verified. It is
	// empty for a damaged log and for the journal.
	Source string `json:"source,omitempty"`
	// SourceError is why the client's file cannot be read. The log may still be OK.
	SourceError string `json:"source_error,omitempty"`
	Error       string `json:"error,omitempty"`
}

// LogHole is a damaged part of a log.
type LogHole struct {
	Offset     int64 `json:"offset"` // of the transcript's unreadable bytes
	Bytes      int64 `json:"bytes"`  // 0: none, or an unknown number at the end
	FileOffset int64 `json:"file_offset"`
	FileBytes  int64 `json:"file_bytes"`
}

// Verify checks every byte of the logs and of the journal, compares the logs with the
// client's files, and lists logs that are lost. Of the journal it returns damaged months
// only. typed limits it to one session's logs.
// With repair set, unreadable bytes are taken from the client's files where they exist,
// and the index is rebuilt if there were any.
func (a *App) Verify(ctx context.Context, typed string, repair bool) ([]LogCheck, error) {
	w, err := a.Workspace()
	id := ""
	if typed != "" {
		w, id, err = a.loggedSession(ctx, typed)
	}
	if err != nil {
		return nil, err
	}
	var source func(e sessionlog.Entry) string
	if repair {
		source = w.sourceOf
	}
	checks, err := w.Capture.Verify(ctx, id, source)
	if err != nil {
		return nil, err
	}
	home := w.Config.Paths.Home
	out := archive.Convert(checks, func(c capture.Verified) LogCheck { return newLogCheck(home, c) })
	if slices.ContainsFunc(checks, func(c capture.Verified) bool { return c.Repair.Restored > 0 }) && exists(w.Config.Paths.Index()) {
		if _, err := a.rebuildIndex(ctx, w, nil); err != nil {
			return nil, err
		}
	}
	lost, err := a.lostLogs(ctx, w, id)
	if err != nil {
		return nil, err
	}
	for _, l := range lost {
		out = append(out, newLogCheck(home, capture.Verified{Log: l.Path, Err: archive.NotFound(l.String(), "")}))
	}
	if id != "" && len(out) == 0 {
		return nil, archive.NotFound("no log of session "+archive.ShortID(id), "`strandline sessions` lists the archived sessions")
	}
	if id == "" && repair {
		err = w.Journal.Log.Repair(ctx)
	}
	if id == "" && err == nil {
		err = w.Journal.Log.Verify(ctx, func(path string, rep sessionlog.VerifyReport, err error) {
			if err != nil {
				out = append(out, newLogCheck(home, capture.Verified{Log: path, Report: rep, Err: err}))
			}
		})
	}
	for i := range out { // a log's folder is named after the project's
		out[i].Log = w.Redact(out[i].Log)
	}
	return out, err
}

// sourceOf returns where the client has the file of a log if it did not move it.
func (w Workspace) sourceOf(e sessionlog.Entry) string {
	dir := filepath.Join(w.Config.ClientDir, "projects", e.Slug, e.Session)
	if e.Rel == "" {
		return dir + ".jsonl"
	}
	return filepath.Join(dir, filepath.FromSlash(e.Rel))
}

// lostLogs lists the logs, with the journal's, that the manifest or the index knows and that
// do not exist any more or are shorter now. session limits them to one session; "" means
// all.
func (a *App) lostLogs(ctx context.Context, w Workspace, session string) ([]capture.LostLog, error) {
	known := map[string]int64{}
	err := a.ifIndexed(ctx, w, func(x Archive) (err error) {
		known, err = x.indexedSizes(ctx, session)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	// An index that cannot be opened, whatever the cause, says nothing; the manifest does.
	return w.Capture.LostLogs(archive.Owner(session), known)
}

// indexedSizes returns how many bytes of each log are indexed, or of one session's log.
func (x Archive) indexedSizes(ctx context.Context, session string) (map[string]int64, error) {
	var list []archive.Session
	if session == "" {
		all, err := x.Index.Sessions(ctx, archive.SessionFilter{})
		if err != nil {
			return nil, err
		}
		list = all
	} else if s, err := x.Index.Session(ctx, session); err == nil {
		list = append(list, s)
	}
	sizes := map[string]int64{}
	if session == "" {
		journal, err := x.Journal.Indexed(ctx, x.Index)
		if err != nil {
			return nil, err
		}
		sizes = journal
	}
	for _, s := range list {
		if path, err := x.Capture.LogOf(s.ID); err == nil {
			sizes[path] = max(sizes[path], s.Bytes)
		} else if listed, err := x.Capture.Manifest().LogOf(s.ID); err == nil && listed != "" {
			sizes[listed] = s.Bytes
		}
	}
	return sizes, nil
}

func newLogCheck(home string, v capture.Verified) LogCheck {
	rel, err := filepath.Rel(home, v.Log)
	if err != nil {
		rel = v.Log
	}
	c := LogCheck{Log: rel, Bytes: v.Report.Raw, Lines: v.Report.Lines, Source: string(v.Source), Torn: v.Report.Torn, Forgotten: v.Report.Blanked}
	c.Holes = archive.Convert(v.Report.Holes, func(h sessionlog.Hole) LogHole { return LogHole{h.Raw, h.RawLen, h.Off, h.Len} })
	if v.Err == nil || v.Repair.Done {
		c.Repaired = v.Repair.Restored
	}
	if v.Unread != nil {
		c.SourceError = ErrorText(v.Unread)
	}
	// The next capture appends torn bytes again from the client's file.
	recoverable := v.Source == capture.SourceSame || v.Source == capture.SourceAhead
	torn := text.Size(c.Torn) + " at its end are damaged, and the client's file"
	switch {
	case v.Err != nil:
		c.Error = ErrorText(v.Err)
		return c
	case v.Source == capture.SourceDiffers:
		c.Error = "the client's file no longer begins with the logged bytes; the next capture keeps it as a new generation"
	case c.Torn > 0 && v.Unread != nil:
		c.Error = fmt.Sprintf("%s, which may have them, cannot be read: %s", torn, c.SourceError)
	case c.Torn > 0 && !recoverable:
		c.Error = torn + " does not have them"
	default:
		c.OK = true
	}
	c.SHA256 = hex.EncodeToString(v.Report.SHA256[:])
	return c
}
