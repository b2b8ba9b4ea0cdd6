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

// SessionSize measures a session in the archive: its logs, decompressed, its facts and
// the client's transcript.
func (w Workspace) SessionSize(ctx context.Context, session string) (s SessionDeletion, err error) {
	logs, err := w.logs(ctx, []string{session})
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
		if source := r.Header().Source; e.Rel == "" && exists(source) {
			s.Client = source
		}
		_ = r.Close() // opened for reading
	}
	facts, err := journalEntries(ctx, w.Journal)
	for _, e := range facts {
		if e.Kind != archive.JournalForget && archive.Owner(e.Session) == session {
			s.Facts++
		}
	}
	return s, err
}

// A session is deleted for good in this order:
//
//  1. the journal records that the session is forgotten (BeginForget),
//  2. a marker file makes hooks and imports skip it (BeginForget),
//  3. its logs are deleted, then the journal's other facts, then its state (EraseSessions),
//  4. the caller rebuilds the index, which no longer finds any of it,
//  5. the marker file records that the deletion is complete (EndForget).
//
// After an interruption, repeating the steps completes the deletion.

// BeginForget does steps 1 and 2.
func (w Workspace) BeginForget(ctx context.Context, session, why string) error {
	if !archive.ValidID(session) {
		return archive.Invalid(fmt.Sprintf("%q is not a session id", archive.Clip(session, 60)), "")
	}
	logs, err := w.logs(ctx, []string{session})
	if err != nil {
		return err
	}
	rows, err := w.Capture.ForgottenRows(ctx, logs[session])
	if err == nil {
		err = w.Journal.RecordAll(ctx, capture.Fact{
			ID: archive.ForgetID(session), Kind: archive.JournalForget, Session: session, Data: archive.ForgetFact{Why: why, Rows: rows},
		})
	}
	if err == nil {
		err = w.Capture.KeepForgottenRows(session, rows)
	}
	if err != nil {
		return fmt.Errorf("record that session %s is forgotten: %w", archive.ShortID(session), err)
	}
	return w.Capture.Forgotten().Begin(session)
}

// OpenForgets lists the forgotten sessions whose deletion is not complete: a command was
// interrupted, a hook wrote during the deletion, or the journal was restored
// without the marker files.
func (w Workspace) OpenForgets(ctx context.Context) ([]string, error) {
	open, err := w.Capture.Forgotten().List()
	if err != nil {
		return nil, err
	}
	facts, err := journalEntries(ctx, w.Journal, archive.JournalForget)
	if err != nil {
		return nil, err
	}
	for _, e := range facts {
		if fact, ok := archive.FactOf[archive.ForgetFact](&e); ok && archive.ValidID(e.Session) {
			if err := w.Capture.KeepForgottenRows(e.Session, fact.Rows); err != nil {
				return nil, err
			}
		}
		if _, ok := open[e.Session]; !ok && archive.ValidID(e.Session) {
			open[e.Session] = true
			if err := w.Capture.Forgotten().Begin(e.Session); err != nil {
				return nil, err
			}
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	logs, err := w.logs(ctx, slices.Collect(maps.Keys(open)))
	if err != nil {
		return nil, err
	}
	for session := range logs {
		open[session] = true
	}
	maps.DeleteFunc(open, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(open)), nil
}

// EraseSessions does step 3 and returns the number of deleted logs, facts and files or
// folders of state.
func (w Workspace) EraseSessions(ctx context.Context, sessions []string) (gone int, err error) {
	logs, err := w.logs(ctx, sessions)
	if err != nil {
		return 0, err
	}
	erased := map[string]bool{}
	for _, e := range slices.Concat(slices.Collect(maps.Values(logs))...) {
		if err := w.eraseLog(e); err != nil {
			return gone, err
		}
		erased[e.Path] = true
		gone++
	}
	if err := w.dropFromManifest(ctx, erased); err != nil {
		return gone, err
	}
	facts, err := w.Journal.Log.Remove(ctx, func(e archive.JournalEntry) bool {
		return e.Kind != archive.JournalForget && slices.Contains(sessions, archive.Owner(e.Session))
	})
	if err != nil {
		return gone, fmt.Errorf("remove facts from the journal: %w", err)
	}
	state, err := w.eraseState(sessions)
	return gone + facts + state, err
}

// EndForget does step 5.
func (w Workspace) EndForget(sessions []string) error {
	return errors.Join(archive.Convert(sessions, w.Capture.Forgotten().Done)...)
}

// logs lists the logs of sessions, by session.
func (w Workspace) logs(ctx context.Context, sessions []string) (map[string][]sessionlog.Entry, error) {
	out, byName := map[string][]sessionlog.Entry{}, map[string]string{}
	for _, s := range sessions {
		byName[s], byName[w.Capture.Layout.Name(s)] = s, s
	}
	for e, err := range w.Capture.Layout.Walk(ctx) {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("list logs: %w", err)
		}
		if session, ok := byName[w.Capture.SessionOf(e)]; ok {
			out[session] = append(out[session], e)
		}
	}
	return out, nil
}

// dropFromManifest removes logs from the manifest, so that they are not reported as lost.
func (w Workspace) dropFromManifest(ctx context.Context, paths map[string]bool) error {
	if len(paths) == 0 {
		return nil
	}
	return w.Capture.Manifest().Update(ctx, nil, func(path string) bool { return paths[path] })
}

// eraseLog deletes a log, copies of its damaged bytes, and the folders that become empty.
func (w Workspace) eraseLog(e sessionlog.Entry) error {
	copies, err := sessionlog.DamagedCopies(e.Path)
	for _, path := range append(copies, e.Path+".tmp", e.Path) {
		err = errors.Join(err, state.Remove(path))
	}
	if err != nil {
		return fmt.Errorf("delete a log: %w", err)
	}
	top := filepath.Join(w.Capture.Layout.Root, "log")
	dir := filepath.Dir(e.Path)
	for dir != top && strings.HasPrefix(dir, top) && os.Remove(dir) == nil { // fails unless it is empty
		dir = filepath.Dir(dir)
	}
	return nil
}

// eraseState deletes the state's files and folders that are named after one of
// the sessions.
func (w Workspace) eraseState(sessions []string) (n int, err error) {
	err = filepath.WalkDir(w.Config.Paths.State(), func(path string, d fs.DirEntry, err error) error {
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
