package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// SourceState says how a log compares with the client's file.
type SourceState string

// The states of a log's source.
const (
	SourceSame    SourceState = "same"
	SourceAhead   SourceState = "ahead"      // the client's file holds more
	SourceGone    SourceState = "gone"       // the log is all there is
	SourceDiffers SourceState = "differs"    // the file does not begin with what was logged
	SourceOld     SourceState = "superseded" // a later generation took its place
	SourceUnread  SourceState = "unread"     // the file is there and cannot be read
)

// Verified is one log that was checked.
type Verified struct {
	Log    string
	Report sessionlog.VerifyReport
	Source SourceState
	// Unread is why the client's file could not be read, which says nothing of the
	// log.
	Unread error
	Err    error // the log is damaged, or could not be read
}

// Verify decompresses logs, checks all of their checksums and compares them byte
// by byte with the client's files. session limits it to one session with all of
// its generations, its sub-agents and side files; "" means all.
func (c *Capture) Verify(ctx context.Context, session string) ([]Verified, error) {
	session = archive.Owner(session)
	var entries []sessionlog.Entry
	newest := map[string]int{} // by place: the latest generation
	for e, err := range c.Layout.Walk(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if session != "" && e.Session != session && !c.isRunOf(e, session) {
			continue
		}
		entries = append(entries, e)
		key := e.Slug + "/" + e.Session + "/" + e.Rel
		newest[key] = max(newest[key], e.Generation)
	}
	var out []Verified
	for _, e := range entries {
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		v := Verified{Log: e.Path}
		v.Report, v.Err = sessionlog.Verify(ctx, e.Path)
		if v.Err == nil {
			v.Source, v.Err = sourceState(e, newest[e.Slug+"/"+e.Session+"/"+e.Rel])
			if unread, ok := errors.AsType[*unreadError](v.Err); ok {
				v.Source, v.Unread, v.Err = SourceUnread, unread.err, nil
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// unreadError is why the client's file could not be read.
type unreadError struct{ err error }

func (e *unreadError) Error() string { return "read transcript: " + e.err.Error() }
func (e *unreadError) Unwrap() error { return e.err }

func sourceState(e sessionlog.Entry, newest int) (SourceState, error) {
	if e.Generation < newest {
		return SourceOld, nil
	}
	r, err := sessionlog.OpenReader(e.Path)
	if err != nil {
		return "", err
	}
	source, raw := r.Header().Source, r.Position().Raw
	if err := r.Close(); err != nil {
		return "", fmt.Errorf("close log: %w", err)
	}
	f, info, err := openSource(source)
	if errors.Is(err, fs.ErrNotExist) || source == "" {
		return SourceGone, nil
	}
	if err != nil {
		return "", &unreadError{err}
	}
	defer f.Close()
	if info.Size() < raw {
		return SourceDiffers, nil
	}
	same, err := beginsWith(f, e.Path, raw)
	switch {
	case err != nil:
		return "", err
	case !same:
		return SourceDiffers, nil
	case info.Size() > raw:
		return SourceAhead, nil
	}
	return SourceSame, nil
}
