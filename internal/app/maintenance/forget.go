package maintenance

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

// Forget deletes sessions for good. It goes from the decision to what is derived:
//
//  1. the journal says that the session is forgotten,
//  2. a file says so to hooks and imports, so that nothing takes it in again,
//  3. its logs go, then the journal's other facts about it, then its state,
//  4. the caller rebuilds the index, which finds nothing of it any more,
//  5. the file of 2 says that all is done.
//
// Whatever interrupts it, doing it again goes on from there.
type Forget struct {
	Capture *capture.Capture
	Journal capture.Journal
	State   string // the archive's folder of state
}

// Gone counts what a call deleted.
type Gone struct {
	Logs  int   `json:"logs"`
	Bytes int64 `json:"bytes"` // of the logs' files
	Facts int   `json:"facts"` // of the journal
	State int   `json:"state"` // files and folders
}

// Size is what deleting a session would delete.
type Size struct {
	Logs   int
	Bytes  int64  // that the logs give
	Facts  int    // of the journal
	Client string // the client's transcript, where it still exists
}

// Size measures a session.
func (f Forget) Size(ctx context.Context, session string) (Size, error) {
	var s Size
	logs, err := f.logs(ctx, []string{session})
	if err != nil {
		return s, err
	}
	for _, e := range logs[session] {
		s.Logs++
		r, err := sessionlog.OpenReader(e.Path)
		if err != nil {
			continue // it is deleted all the same
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
	facts, _, err := f.Journal.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil {
		return s, fmt.Errorf("look into the journal: %w", err)
	}
	for _, e := range facts {
		if e.Kind != archive.JournalForget && archive.Owner(e.Session) == session {
			s.Facts++
		}
	}
	return s, nil
}

// Begin decides that a session is forgotten: steps 1 and 2.
func (f Forget) Begin(ctx context.Context, session, why string) error {
	if !archive.ValidID(session) {
		return archive.Invalid(fmt.Sprintf("%q is no session id", archive.Clip(session, 60)), "")
	}
	err := f.Journal.RecordAll(ctx, capture.Fact{
		ID: archive.ForgetID(session), Kind: archive.JournalForget, Session: session, Data: archive.ForgetFact{Why: why},
	})
	if err != nil {
		return fmt.Errorf("note that session %s is forgotten: %w", archive.ShortID(session), err)
	}
	return f.Capture.Forgotten().Begin(session)
}

// Open lists the sessions that are forgotten and not gone yet: a command was
// interrupted, a hook was writing while its session was deleted, or a journal came
// back without the files that hooks ask.
func (f Forget) Open(ctx context.Context) ([]string, error) {
	noted, err := f.Capture.Forgotten().List()
	if err != nil {
		return nil, err
	}
	facts, _, err := f.Journal.Log.Read(ctx, sessionlog.JournalCursor{})
	if err != nil {
		return nil, fmt.Errorf("list what was forgotten: %w", err)
	}
	for _, e := range facts {
		if e.Kind != archive.JournalForget || !archive.ValidID(e.Session) {
			continue
		}
		if _, ok := noted[e.Session]; !ok {
			noted[e.Session] = true
			if err := f.Capture.Forgotten().Begin(e.Session); err != nil {
				return nil, err
			}
		}
	}
	if len(noted) == 0 {
		return nil, nil
	}
	logs, err := f.logs(ctx, slices.Collect(maps.Keys(noted)))
	if err != nil {
		return nil, err
	}
	for session := range logs {
		noted[session] = true
	}
	var open []string
	for session, is := range noted {
		if is {
			open = append(open, session)
		}
	}
	slices.Sort(open)
	return open, nil
}

// Erase deletes what is not derived of forgotten sessions: step 3.
func (f Forget) Erase(ctx context.Context, sessions []string) (Gone, error) {
	var gone Gone
	chosen := map[string]bool{}
	for _, s := range sessions {
		chosen[s] = true
	}
	logs, err := f.logs(ctx, sessions)
	if err != nil {
		return gone, err
	}
	for _, entries := range logs {
		for _, e := range entries {
			if err := f.eraseLog(e, &gone); err != nil {
				return gone, err
			}
		}
	}
	gone.Facts, err = f.Journal.Log.Remove(ctx, func(e archive.JournalEntry) bool {
		return e.Kind != archive.JournalForget && chosen[archive.Owner(e.Session)]
	})
	if err != nil {
		return gone, fmt.Errorf("take facts out of the journal: %w", err)
	}
	gone.State, err = f.eraseState(sessions)
	return gone, err
}

// Done notes that nothing of the sessions is left: step 5.
func (f Forget) Done(sessions []string) error {
	for _, s := range sessions {
		if err := f.Capture.Forgotten().Done(s); err != nil {
			return err
		}
	}
	return nil
}

// logs lists the logs of sessions, by session.
func (f Forget) logs(ctx context.Context, sessions []string) (map[string][]sessionlog.Entry, error) {
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

func (f Forget) eraseLog(e sessionlog.Entry, gone *Gone) error {
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
	// The folders that are empty now; one that is not refuses.
	top := filepath.Join(f.Capture.Layout.Root, "log")
	dir := filepath.Dir(e.Path)
	for dir != top && strings.HasPrefix(dir, top) && os.Remove(dir) == nil {
		dir = filepath.Dir(dir)
	}
	return nil
}

// eraseState deletes every file and folder of the state that bears a session's
// name, alone or with an ending.
func (f Forget) eraseState(sessions []string) (n int, err error) {
	err = filepath.WalkDir(f.State, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if !slices.ContainsFunc(sessions, func(s string) bool { return named(d.Name(), s) }) {
			return nil
		}
		n++
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return n, fmt.Errorf("delete state: %w", err)
	}
	return n, nil
}

// named reports that a file bears a session's name.
func named(file, session string) bool {
	rest, ok := strings.CutPrefix(file, session)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "~@."))
}
