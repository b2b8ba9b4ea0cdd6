package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// SourceState is the result of comparing a log with the client's file.
type SourceState string

// The states of a log's source.
const (
	SourceSame    SourceState = "same"
	SourceAhead   SourceState = "ahead"      // the client's file has more bytes
	SourceGone    SourceState = "gone"       // the client's file does not exist
	SourceOlder   SourceState = "older"      // the file is a part of the log: an older copy
	SourceDiffers SourceState = "differs"    // the file does not begin with the log's bytes
	SourceOld     SourceState = "superseded" // there is a later generation
	SourceUnread  SourceState = "unread"     // the file exists but cannot be read
	SourceBusy    SourceState = "changing"   // another process writes the log: verify it later
)

// Verified is the result of verifying one log.
type Verified struct {
	Log    string
	Report sessionlog.VerifyReport
	Source SourceState
	Unread error // why the client's file cannot be read; the log may be intact
	Err    error // the log is damaged or cannot be read
	Repair sessionlog.RepairReport
}

// Verify decompresses logs, checks all of their checksums and compares them byte by
// byte with the client's files. session limits it to one session with all of its
// generations, sub-agents and side files; "" means all. With repair set, unreadable bytes
// are first taken from the client's files; the function maps a log to where the client has
// its file, for logs whose header is damaged.
func (c *Capture) Verify(ctx context.Context, session string, repair func(sessionlog.Entry) string) ([]Verified, error) {
	session = archive.Owner(session)
	file := func(e sessionlog.Entry) string { return e.Slug + "/" + e.Session + "/" + e.Rel }
	var entries []sessionlog.Entry
	newest := map[string]int{} // the latest generation
	for e, err := range c.Layout.Walk(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if session != "" && e.Session != session && c.SessionOf(e) != session {
			continue
		}
		entries = append(entries, e)
		newest[file(e)] = max(newest[file(e)], e.Generation)
	}
	var out []Verified
	for _, e := range entries {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		v := Verified{Log: e.Path}
		v.Report, v.Err = c.verifyLog(ctx, e)
		if repair != nil && archive.ErrorCode(v.Err) == archive.CodeCorrupt {
			var err error
			if v.Repair, err = c.Repair(ctx, e, repair(e)); err != nil {
				v.Err = errors.Join(v.Err, err)
			} else if v.Repair.Done {
				v.Report, v.Err = c.verifyLog(ctx, e)
			}
		}
		switch archive.ErrorCode(v.Err) {
		case archive.CodeNotFound:
			continue // deleted meanwhile, or a capture was killed before it wrote a byte
		case archive.CodeBusy:
			v.Source, v.Err = SourceBusy, nil
		case "":
			v.Source = SourceOld
			if e.Generation == newest[file(e)] && !isNote(e.Rel) { // another session may change a note
				v.Source, v.Err = c.sourceState(e)
			}
			if unread, ok := errors.AsType[*unreadError](v.Err); ok {
				v.Source, v.Unread, v.Err = SourceUnread, unread.err, nil
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// lockWait is how long Verify waits for a log that another process writes.
const lockWait = 2 * time.Second

// verifyLog verifies a log, if necessary while no process writes it.
func (c *Capture) verifyLog(ctx context.Context, e sessionlog.Entry) (sessionlog.VerifyReport, error) {
	rep, err := sessionlog.Verify(ctx, e.Path)
	if err == nil || ctx.Err() != nil {
		return rep, err
	}
	wait, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	again, lerr := sessionlog.VerifyLocked(wait, e.Path)
	if archive.ErrorCode(lerr) == archive.CodeDenied {
		return rep, err // a read-only archive
	}
	return again, lerr
}

// Repair repairs a damaged log from the client's file: the one in the log's header, else the one
// at path.
func (c *Capture) Repair(ctx context.Context, e sessionlog.Entry, path string) (rep sessionlog.RepairReport, err error) {
	h, _, herr := sessionlog.ReadHeader(e.Path)
	if herr == nil {
		path = h.Source
	}
	var src io.ReaderAt
	if f, _, err := c.open(e.Client, path, nil); err == nil {
		defer f.Close()
		src = f
	}
	if herr != nil {
		text := src
		if text == nil {
			log, err := sessionlog.OpenReader(e.Path)
			if err != nil {
				return rep, err
			}
			defer log.Close()
			text = log
		}
		if err := c.lostHeader(&h, text, e); err != nil {
			return rep, err
		}
		h.Source = path
	}
	if rep, err = sessionlog.Repair(ctx, e.Path, h, src); err != nil || !rep.Done || e.Rel != "" {
		return rep, err
	}
	// The marks of forgotten lines may have been among the damaged bytes.
	of, err := c.ForgottenParts().Of(c.SessionOf(e))
	if err != nil || len(of.Parts) == 0 {
		return rep, err
	}
	lines, err := c.ForgottenLines(ctx, e.Path, 0, of.Parts)
	if err == nil && len(lines) > 0 {
		_, err = sessionlog.Rewrite(ctx, e.Path, lines)
	}
	return rep, err
}

// unreadError is an error of reading the client's file.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return "read transcript: " + e.err.Error() }
func (e *unreadError) Unwrap() error { return e.err }

// sourceState compares the latest generation of a log with the client's file.
func (c *Capture) sourceState(e sessionlog.Entry) (SourceState, error) {
	h, pos, err := sessionlog.ReadHeader(e.Path)
	if err != nil {
		return "", err
	}
	f, info, err := c.open(e.Client, h.Source, []sessionlog.Entry{e})
	if errors.Is(err, fs.ErrNotExist) || h.Source == "" {
		return SourceGone, nil
	}
	if err != nil {
		return "", &unreadError{err}
	}
	defer f.Close()
	same, err := beginsWith(f, e.Path, min(info.Size(), pos.Raw))
	switch {
	case err != nil:
		return "", err
	case !same:
		if c.inEarlier(e, f, info.Size()) {
			return SourceOlder, nil
		}
		return SourceDiffers, nil
	case info.Size() < pos.Raw:
		return SourceOlder, nil
	case info.Size() > pos.Raw:
		return SourceAhead, nil
	}
	return SourceSame, nil
}

// inEarlier reports whether an earlier generation of a log has all of a file: another
// machine's version of the session may be the latest.
func (c *Capture) inEarlier(latest sessionlog.Entry, f io.ReaderAt, size int64) bool {
	for gen := range latest.Generation - 1 {
		path := c.Layout.Transcript(latest.Client, latest.Slug, latest.Session, gen+1)
		if latest.Rel != "" {
			path = c.Layout.Child(latest.Client, latest.Slug, latest.Session, latest.Rel, gen+1)
		}
		pos, err := sessionlog.ReadPosition(path)
		if err != nil || pos.Raw < size {
			continue
		}
		if same, err := beginsWith(f, path, size); err == nil && same {
			return true
		}
	}
	return false
}
