package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/archive"
	"strandline/internal/sessionlog"
)

// Captured is the result of LogSession.
type Captured struct {
	// Sessions are the archive sessions to index, sub-agents after their parent.
	Sessions []Logged
	Added    int64 // bytes that were new to the logs
	Deferred bool  // something was deferred to a call without limits
	Missing  bool  // the transcript does not exist
}

// LogSession logs a transcript and, if side is true, all files in the client's folder of the
// session; with a limit and many files, only those with new names. It continues after an
// error, so that one unreadable tool output does not block the other files, and joins the
// errors.
func (c *Capture) LogSession(ctx context.Context, main Source, side bool) (got Captured, err error) {
	k, err := c.sessionLogs(main, false)
	if err != nil || k.forgotten {
		return got, err
	}
	if _, known := k.latest(""); !known && main.common() {
		if other, _ := foreign(main.Path); other { // a file that cannot be read is reported below
			return got, ErrForeign
		}
	}
	var errs []error
	log := func(src Source) (ok bool) {
		logged, err := c.logInto(ctx, k, src)
		if errors.Is(err, fs.ErrNotExist) && src.Rel == "" {
			got.Missing = true
			return false
		}
		if err != nil {
			errs = append(errs, err)
			return false
		}
		got.Added += logged.Added
		got.Deferred = got.Deferred || logged.Deferred
		if logged.Session != "" && !src.isSideFile() {
			got.Sessions = append(got.Sessions, logged)
		}
		return !logged.Deferred
	}
	log(main)
	if !side || !main.common() {
		return got, errors.Join(errs...)
	}
	sides := c.loggedSides(main.Session)
	defer sides.save()
	var known func(rel []byte) bool
	if c.MaxLog > 0 {
		known = sides.known
	}
	files, err := sideFiles(main, known)
	if err != nil {
		errs = append(errs, err)
	}
	if c.MaxLog == 0 { // a hook leaves them to its detached run
		files = append(files, notes(main, true)...)
	}
	keys := inParallel(files, fileKey)
	for i, f := range files {
		key := keys[i]
		if c.MaxLog > 0 && sides.has(key) {
			sides.add(f, key)
			continue
		}
		if k.files == nil {
			if err := c.listSides(&k); err != nil {
				return got, errors.Join(append(errs, err)...)
			}
		}
		if ctx.Err() != nil {
			got.Deferred = true
			return got, errors.Join(append(errs, context.Cause(ctx))...)
		}
		if _, same := unchanged(k, f); (same || log(f)) && !isNote(f.Rel) {
			sides.add(f, key)
		}
	}
	return got, errors.Join(errs...)
}

// timeSlack allows for the resolution of file times.
const timeSlack = 2 * time.Second

// unchanged reports whether a file was logged after its last change, and returns the
// log's header. It makes sessions with thousands of sub-agents, and repeated imports,
// cheap.
func unchanged(k sessionLogs, src Source) (h sessionlog.Header, ok bool) {
	latest, _ := k.latest(src.Rel)
	log, lerr := os.Stat(latest.Path) // "" does not exist
	if lerr == nil && !src.changed.IsZero() {
		h, _, err := sessionlog.ReadHeader(latest.Path)
		return h, err == nil && h.Source == src.Path && src.changed.Add(timeSlack).Before(log.ModTime())
	}
	file, err := os.Stat(src.Path)
	if err != nil || lerr != nil || !file.ModTime().Add(timeSlack).Before(log.ModTime()) {
		return h, false
	}
	h, pos, err := sessionlog.ReadHeader(latest.Path)
	ino := inode(file)
	replaced := pos.Inode != 0 && ino != 0 && pos.Inode != ino
	return h, err == nil && pos.Raw == file.Size() && h.Source == src.Path && !replaced
}

// IndexAll indexes the new bytes of several sessions' logs.
func (c *Capture) IndexAll(ctx context.Context, idx Index, sessions []Logged) error {
	for _, s := range sessions {
		done, err := c.indexFresh(ctx, idx, s)
		if err == nil && !done || errors.Is(err, archive.ErrStale) { // lost the race: continue at the new cursor
			err = c.Index(ctx, idx, s.Session)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// LogPending logs a session that a hook deferred, without limits. It does not need
// the index.
func (c *Capture) LogPending(ctx context.Context, w PendingWork) (Captured, error) {
	src, err := c.SourceOf(w.Client, w.Transcript, w.Session, w.Cwd)
	if err != nil {
		return Captured{}, err
	}
	unlimited := *c
	unlimited.MaxLog = 0
	got, err := unlimited.LogSession(ctx, src, true)
	if errors.Is(err, ErrForeign) {
		return Captured{Missing: true}, nil
	}
	return got, err
}

// CatchUp logs and indexes a session that a hook deferred. It reports false without
// an error if the client has deleted the transcript.
func (c *Capture) CatchUp(ctx context.Context, idx Index, w PendingWork) (bool, error) {
	got, err := c.LogPending(ctx, w)
	if ierr := c.IndexAll(ctx, idx, got.Sessions); ierr != nil {
		err = errors.Join(err, fmt.Errorf("catch up: %w", ierr))
	}
	return err == nil && !got.Missing, err
}

// HasNewBytes reports whether a file of the given size has bytes that its log lacks.
// It compares sizes only.
func (c *Capture) HasNewBytes(src Source, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	k, err := c.sessionLogs(src, src.Rel != "")
	if err != nil || k.forgotten {
		return false, err
	}
	missing, err := c.missing(k, src, size)
	return missing > 0, err
}

// Missing counts the bytes of the client's files that the logs lack.
type Missing struct {
	Files    int   // files with such bytes
	Sessions int   // those that are transcripts of sessions
	Agents   int   // those that are transcripts of sub-agents
	Bytes    int64 // bytes that are only in these files
	Total    int64 // bytes of all checked files
}

// Uncaptured counts the bytes of the listed files that the logs lack.
func (c *Capture) Uncaptured(jobs []Job) (m Missing, err error) {
	if c, err = c.Listed(); err != nil {
		return m, err
	}
	list := lister{capture: c}
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
		n, err := c.missing(k, *j.Source, j.Size)
		if err != nil {
			return m, err
		}
		if n > 0 {
			m.Files++
			switch {
			case j.Source.Rel == "":
				m.Sessions++
			case j.Source.Agent() != "":
				m.Agents++
			}
			m.Bytes += n
		}
	}
	return m, nil
}

// missing returns the number of bytes of a file that its log lacks: those after the
// log's end, or all if the file does not continue the log. The file is not empty.
func (c *Capture) missing(k sessionLogs, src Source, size int64) (int64, error) {
	latest, ok := k.latest(src.Rel)
	if !ok {
		return size, nil
	}
	if src.stored() {
		if _, same := unchanged(k, src); same {
			return 0, nil
		}
		f, info, err := c.open(src.Client, src.Path, k.of(src.Rel))
		if err != nil {
			return 0, err
		}
		size = info.Size()
		_ = f.Close() // read only
	}
	pos, err := c.position(latest.Path)
	if code := archive.ErrorCode(err); code == archive.CodeCorrupt || code == archive.CodeNotFound {
		return size, nil // the next capture begins a generation
	}
	if err != nil || pos.Raw == size {
		return 0, err
	}
	if known, err := c.isKnownCopy(k, src, size); known || err != nil {
		return 0, err
	}
	if pos.Raw > size {
		return size, nil
	}
	return size - pos.Raw, nil
}

// StoredWork lists the sessions in a client's database that changed since they were logged.
func (c *Capture) StoredWork(client, path string) (work []PendingWork, err error) {
	if c, err = c.Listed(); err != nil {
		return nil, err
	}
	list, err := c.ClientOf(client).Database.List(path)
	for _, s := range list {
		src := storedSource(client, s)
		k, err := c.sessionLogs(src, false)
		if err != nil {
			return work, err
		}
		if _, same := unchanged(k, src); !same && !k.forgotten && archive.ValidID(s.ID) {
			work = append(work, PendingWork{Client: client, Session: s.ID, Transcript: s.Path, Cwd: s.Cwd})
		}
	}
	return work, err
}

// UncapturedSiblings lists the transcripts in the folder of one that have bytes their
// logs lack, because the client was killed or Strandline was not installed. It checks
// only the newest ones, up to limit, so that a hook's cost does not depend on the
// size of the folder.
func (c *Capture) UncapturedSiblings(of Source, limit int) ([]PendingWork, error) {
	folder, client := filepath.Dir(of.Path), c.ClientOf(of.Client)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list transcripts: %w", err)
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if _, ok := client.File(filepath.Join(folder, e.Name())); !ok || !e.Type().IsRegular() || e.Name() == filepath.Base(of.Path) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var found []PendingWork
	for _, info := range all[:min(limit, len(all))] {
		path := filepath.Join(folder, info.Name())
		session, _ := client.File(path)
		src, err := c.SourceOf(of.Client, path, session, "")
		if err != nil {
			continue // the name is not a session id
		}
		hasNew, err := c.HasNewBytes(src, info.Size())
		if err != nil {
			return found, err
		}
		if hasNew {
			found = append(found, PendingWork{Client: of.Client, Session: session, Transcript: src.Path})
		}
	}
	return found, nil
}
