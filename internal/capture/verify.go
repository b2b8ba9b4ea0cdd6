package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	SourceDiffers SourceState = "differs"    // the file does not begin with the log's bytes
	SourceOld     SourceState = "superseded" // there is a later generation
	SourceUnread  SourceState = "unread"     // the file exists but cannot be read
)

// Verified is the result of verifying one log.
type Verified struct {
	Log    string
	Report sessionlog.VerifyReport
	Source SourceState
	Unread error // why the client's file cannot be read; the log may be intact
	Err    error // the log is damaged or cannot be read
}

// Verify decompresses logs, checks all of their checksums and compares them byte by
// byte with the client's files. session limits it to one session with all of its
// generations, sub-agents and side files; "" means all.
func (c *Capture) Verify(ctx context.Context, session string) ([]Verified, error) {
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
		if v.Report, v.Err = sessionlog.Verify(ctx, e.Path); v.Err == nil {
			v.Source = SourceOld
			if e.Generation == newest[file(e)] {
				v.Source, v.Err = sourceState(e)
			}
			if unread, ok := errors.AsType[*unreadError](v.Err); ok {
				v.Source, v.Unread, v.Err = SourceUnread, unread.err, nil
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// unreadError is an error of reading the client's file.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return "read transcript: " + e.err.Error() }
func (e *unreadError) Unwrap() error { return e.err }

// sourceState compares the latest generation of a log with the client's file.
func sourceState(e sessionlog.Entry) (SourceState, error) {
	h, pos, err := sessionlog.ReadHeader(e.Path)
	if err != nil {
		return "", err
	}
	f, info, err := openSource(h.Source)
	if errors.Is(err, fs.ErrNotExist) || h.Source == "" {
		return SourceGone, nil
	}
	if err != nil {
		return "", &unreadError{err}
	}
	defer f.Close()
	if info.Size() < pos.Raw {
		return SourceDiffers, nil
	}
	same, err := beginsWith(f, e.Path, pos.Raw)
	switch {
	case err != nil:
		return "", err
	case !same:
		return SourceDiffers, nil
	case info.Size() > pos.Raw:
		return SourceAhead, nil
	}
	return SourceSame, nil
}
