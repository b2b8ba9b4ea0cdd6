package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Captured is what a call of Files did.
type Captured struct {
	// Sessions are the archive sessions whose logs may hold more than the
	// index, sub-agents after their parent.
	Sessions []LoggedSession
	Added    int64 // bytes that were new to the logs
	Deferred bool  // something was left to a call without limits
	Missing  bool  // there is no transcript yet, or no longer
}

// LogSession logs a transcript and, where side is true, everything that the client
// keeps in the session's folder. It goes on after a file that fails, so that one
// unreadable tool output does not lose the rest; the errors come joined.
func (c *Capture) LogSession(ctx context.Context, main Source, side bool) (got Captured, err error) {
	k, err := c.sessionLogs(main, side)
	if err != nil || k.forgotten {
		return got, err
	}
	var errs []error
	take := func(src Source) {
		logged, err := c.logInto(ctx, k, src)
		if errors.Is(err, fs.ErrNotExist) && src.Rel == "" {
			got.Missing = true
			return
		}
		if err != nil {
			errs = append(errs, err)
			return
		}
		got.Added += logged.Added
		got.Deferred = got.Deferred || logged.Deferred
		if logged.Session != "" && (src.Rel == "" || src.Agent() != "") {
			got.Sessions = append(got.Sessions, LoggedSession{Session: logged.Session, logged: logged})
		}
	}
	take(main)
	if !side {
		return got, errors.Join(errs...)
	}
	files, err := SideFiles(main.Path, main.Session, main.Cwd)
	if err != nil {
		errs = append(errs, err)
	}
	for _, f := range files {
		if ctx.Err() != nil {
			got.Deferred = true
			return got, errors.Join(append(errs, context.Cause(ctx))...)
		}
		if !unchanged(k, f) {
			take(f)
		}
	}
	return got, errors.Join(errs...)
}

// A file's time and its log's are of one clock, but not always of one
// resolution.
const timeSlack = 2 * time.Second

// unchanged reports that a side file was logged after it was last written, so
// that sessions with thousands of sub-agents stay cheap.
func unchanged(k sessionLogs, src Source) bool {
	latest, ok := k.latest(src.Rel)
	if !ok {
		return false
	}
	file, err := os.Stat(src.Path)
	if err != nil {
		return false
	}
	log, err := os.Stat(latest.Path)
	if err != nil || !file.ModTime().Add(timeSlack).Before(log.ModTime()) {
		return false
	}
	pos, err := sessionlog.ReadPosition(latest.Path)
	return err == nil && pos.Raw == file.Size()
}

// LoggedSession is a session whose log was looked at.
type LoggedSession struct {
	Session string
	logged  Logged
}

// Bytes is how many bytes of its transcript are in the log.
func (t LoggedSession) Bytes() int64 { return t.logged.Position.Raw }

// IndexAll brings the index up to the logs of several sessions.
func (c *Capture) IndexAll(ctx context.Context, idx Index, sessions []LoggedSession) error {
	for _, s := range sessions {
		done, err := c.indexFresh(ctx, idx, s)
		switch {
		case errors.Is(err, archive.ErrStale): // another process was faster: read on from its cursor
		case err != nil:
			return err
		case done:
			continue
		}
		if err := c.Index(ctx, idx, s.Session); err != nil {
			return err
		}
	}
	return nil
}

// LogPending logs what a hook left, without a deadline and without a limit on new
// bytes. It needs no index: the log grows even while that is broken.
func (c *Capture) LogPending(ctx context.Context, w PendingWork) (Captured, error) {
	src, err := TranscriptSource(w.Transcript, w.Session, w.Cwd)
	if err != nil {
		return Captured{}, err
	}
	unlimited := *c
	unlimited.MaxLog = 0
	return unlimited.LogSession(ctx, src, true)
}

// CatchUp finishes what a hook could not: it captures the session whole. It
// reports false for a transcript that the client has deleted, which is no error.
func (c *Capture) CatchUp(ctx context.Context, idx Index, w PendingWork) (bool, error) {
	got, err := c.LogPending(ctx, w)
	if ierr := c.IndexAll(ctx, idx, got.Sessions); ierr != nil {
		err = errors.Join(err, fmt.Errorf("catch up: %w", ierr))
	}
	return err == nil && !got.Missing, err
}

// HasNewBytes reports whether a file of the given size holds more than its log, as far
// as sizes tell.
func (c *Capture) HasNewBytes(src Source, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	k, err := c.sessionLogs(src, src.Rel != "")
	if err != nil || k.forgotten {
		return false, err
	}
	missing, err := k.missing(src, size)
	return missing > 0, err
}

// Missing is what of the client's files the logs do not hold.
type Missing struct {
	Files int   // that hold more than their logs
	Bytes int64 // that are in these files only
	Total    int64 // bytes of all files that were looked at
}

// Uncaptured says what of the listed files the logs do not hold.
func (c *Capture) Uncaptured(jobs []Job) (Missing, error) {
	list := lister{capture: c}
	var m Missing
	for _, j := range jobs {
		if j.Size == 0 {
			continue
		}
		k, err := list.of(*j.Source)
		if err != nil {
			return m, err
		}
		if k.forgotten || k.isForgotten(*j.Source) {
			continue
		}
		m.Total += j.Size
		n, err := k.missing(*j.Source, j.Size)
		if err != nil {
			return m, err
		}
		if n > 0 {
			m.Files++
			m.Bytes += n
		}
	}
	return m, nil
}

// missing returns how many bytes of a file, which is not empty, its log does not
// hold: those behind it or, where the file is another than the log's, all.
func (k sessionLogs) missing(src Source, size int64) (int64, error) {
	latest, ok := k.latest(src.Rel)
	if !ok {
		return size, nil
	}
	pos, err := sessionlog.ReadPosition(latest.Path)
	if err != nil {
		return 0, err
	}
	if pos.Raw == size {
		return 0, nil
	}
	if seen, err := k.isKnownCopy(src, size); seen || err != nil {
		return 0, err
	}
	if pos.Raw > size {
		return size, nil
	}
	return size - pos.Raw, nil
}
