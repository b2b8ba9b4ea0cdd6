package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/sessionlog"
	"strandline/internal/state"
)

// Forgetter deletes sessions for good, in this order:
//
//  1. the journal records that the session is forgotten (Begin),
//  2. a marker file makes hooks and imports skip it (Begin),
//  3. its logs are deleted, then the journal's other facts, then its state (Erase),
//  4. the caller rebuilds the index, which no longer finds any of it,
//  5. the marker file records that the deletion is complete (Done).
//
// After an interruption, repeating the steps completes the deletion.
type Forgetter struct {
	Capture *capture.Capture
	Journal capture.Journal
	State   string // the archive's folder of state
}

// Erased counts the deletions of a call.
type Erased struct {
	Logs  int
	Bytes int64 // of the logs' files
	Facts int   // of the journal
	State int   // files and folders
}

// SessionSize is the size of a session in the archive.
type SessionSize struct {
	Logs   int
	Bytes  int64  // of the logs, decompressed
	Facts  int    // of the journal
	Client string // the client's transcript, "" if it does not exist
}

// Size measures a session.
func (f Forgetter) Size(ctx context.Context, session string) (SessionSize, error) {
	var s SessionSize
	logs, err := f.logs(ctx, []string{session})
	if err != nil {
		return s, err
	}
	for _, e := range logs[session] {
		s.Logs++
		r, err := sessionlog.OpenReader(e.Path)
		if err != nil {
			continue // a damaged log is deleted as well
		}
		s.Bytes += r.Position().Raw
		if source := r.Header().Source; e.Rel == "" && source != "" {
			if _, err := os.Stat(source); err == nil {
				s.Client = source
			}
		}
		if err := r.Close(); err != nil {
			return s, fmt.Errorf("close log: %w", err)
		}
	}
	facts, err := journalEntries(ctx, f.Journal)
	for _, e := range facts {
		if e.Kind != archive.JournalForget && archive.Owner(e.Session) == session {
			s.Facts++
		}
	}
	return s, err
}

// Begin does steps 1 and 2.
func (f Forgetter) Begin(ctx context.Context, session, why string) error {
	if !archive.ValidID(session) {
		return archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(session, 60)), "")
	}
	err := f.Journal.RecordAll(ctx, capture.Fact{
		ID: archive.ForgetID(session), Kind: archive.JournalForget, Session: session, Data: archive.ForgetFact{Why: why},
	})
	if err != nil {
		return fmt.Errorf("record that session %s is forgotten: %w", archive.ShortID(session), err)
	}
	return f.Capture.Forgotten().Begin(session)
}

// Open lists the forgotten sessions whose deletion is not complete: a command was
// interrupted, a hook wrote during the deletion, or the journal was restored
// without the marker files.
func (f Forgetter) Open(ctx context.Context) ([]string, error) {
	open, err := f.Capture.Forgotten().List()
	if err != nil {
		return nil, err
	}
	facts, err := journalEntries(ctx, f.Journal, archive.JournalForget)
	if err != nil {
		return nil, err
	}
	for _, e := range facts {
		if _, ok := open[e.Session]; !ok && archive.ValidID(e.Session) {
			open[e.Session] = true
			if err := f.Capture.Forgotten().Begin(e.Session); err != nil {
				return nil, err
			}
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	logs, err := f.logs(ctx, slices.Collect(maps.Keys(open)))
	if err != nil {
		return nil, err
	}
	for session := range logs {
		open[session] = true
	}
	maps.DeleteFunc(open, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(open)), nil
}

// Erase does step 3.
func (f Forgetter) Erase(ctx context.Context, sessions []string) (Erased, error) {
	var gone Erased
	logs, err := f.logs(ctx, sessions)
	if err != nil {
		return gone, err
	}
	for _, e := range slices.Concat(slices.Collect(maps.Values(logs))...) {
		if err := f.eraseLog(e, &gone); err != nil {
			return gone, err
		}
	}
	gone.Facts, err = f.Journal.Log.Remove(ctx, func(e archive.JournalEntry) bool {
		return e.Kind != archive.JournalForget && slices.Contains(sessions, archive.Owner(e.Session))
	})
	if err != nil {
		return gone, fmt.Errorf("remove facts from the journal: %w", err)
	}
	gone.State, err = f.eraseState(sessions)
	return gone, err
}

// Done does step 5.
func (f Forgetter) Done(sessions []string) (err error) {
	for _, s := range sessions {
		err = errors.Join(err, f.Capture.Forgotten().Done(s))
	}
	return err
}

// logs lists the logs of sessions, by session.
func (f Forgetter) logs(ctx context.Context, sessions []string) (map[string][]sessionlog.Entry, error) {
	out, byName := map[string][]sessionlog.Entry{}, map[string]string{}
	for _, s := range sessions {
		byName[s], byName[f.Capture.Layout.Name(s)] = s, s
	}
	for e, err := range f.Capture.Layout.Walk(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if session, ok := byName[f.Capture.SessionOf(e)]; ok {
			out[session] = append(out[session], e)
		}
	}
	return out, nil
}

// eraseLog deletes a log and the folders that become empty.
func (f Forgetter) eraseLog(e sessionlog.Entry, gone *Erased) error {
	info, err := os.Stat(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(state.Remove(e.Path+".tmp"), state.Remove(e.Path))
	}
	if err != nil {
		return fmt.Errorf("delete a log: %w", err)
	}
	gone.Logs++
	gone.Bytes += info.Size()
	top := filepath.Join(f.Capture.Layout.Root, "log")
	dir := filepath.Dir(e.Path)
	for dir != top && strings.HasPrefix(dir, top) && os.Remove(dir) == nil { // fails unless it is empty
		dir = filepath.Dir(dir)
	}
	return nil
}

// eraseState deletes the state's files and folders that are named after one of
// the sessions.
func (f Forgetter) eraseState(sessions []string) (n int, err error) {
	err = filepath.WalkDir(f.State, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !slices.ContainsFunc(sessions, func(s string) bool { return namedAfter(d.Name(), s) }):
			return nil
		}
		n++
		if err := os.RemoveAll(path); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
	if err != nil {
		return n, fmt.Errorf("delete state: %w", err)
	}
	return n, nil
}

// namedAfter reports whether a file's name is a session's ID or begins with it
// and a separator.
func namedAfter(file, session string) bool {
	rest, ok := strings.CutPrefix(file, session)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "~@."))
}
