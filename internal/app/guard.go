package app

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"strandline/internal/archive"
	"strandline/internal/capture"
	"strandline/internal/state"
	"strandline/internal/text"
	"strandline/internal/transcript"
)

// Watcher reports changes of the entries of folders.
type Watcher interface {
	// Add watches a folder. It fails if the system allows no more watches.
	Add(dir string) error
	Remove(dir string) error
	// Changes returns the paths of entries that were made, written, renamed or deleted;
	// "" if the system lost some.
	Changes() <-chan string
	Close() error
}

// GuardOptions configure Guard.
type GuardOptions struct {
	// Watch returns a watcher. If it fails, the folders are read at intervals.
	Watch func() (Watcher, error)
	// Missed captures first the rows written while no guard ran.
	Missed bool
	// Notice is called with each line for the user.
	Notice func(line string)
}

// Guard captures the client's transcripts as they are written, until ctx ends: those of
// sessions without hooks within a second, the others if their hooks have not. It takes a
// snapshot of a session whose context window enters a zone. One guard per archive runs.
func (a *App) Guard(ctx context.Context, o GuardOptions) error {
	return a.locked("guard", "guard", func(w Workspace) error {
		if !w.Config.Capture.Enabled {
			return archive.Invalid("capture.enabled is false", "run: strandline config set capture.enabled true")
		}
		g := &guard{
			app: a.Lenient(), w: w, notice: o.Notice,
			folders: map[string]time.Time{}, due: map[string]dueSession{},
			log: slog.New(slog.NewJSONHandler(&state.LogFile{Path: w.Config.Paths.GuardLog()}, nil)),
		}
		for _, client := range w.Capture.Known() {
			for _, root := range a.roots(client) {
				g.roots = append(g.roots, guardRoot{root, client})
			}
		}
		var err error
		if g.watcher, err = o.Watch(); err != nil {
			g.cannotWatch(err)
		} else {
			defer g.watcher.Close()
		}
		g.start(ctx, o.Missed)
		g.run(ctx)
		return nil
	})
}

// guard is the state of a running Guard.
type guard struct {
	app     *App
	w       Workspace
	watcher Watcher // nil if the system allows none
	roots   []guardRoot
	notice  func(line string)
	log     *slog.Logger

	folders map[string]time.Time  // zero: watched; else when an unwatched one was read last
	reads   bool                  // some folders are not watched
	due     map[string]dueSession // by session
	sides   []string              // the listed folders of sessions, oldest first
	failed  string                // the last error that was reported
}

// guardRoot is a folder of a client's transcripts.
type guardRoot struct {
	dir    string
	client transcript.Client
}

// contains reports whether a path is the root or below it.
func (r guardRoot) contains(path string) bool {
	return path == r.dir || strings.HasPrefix(path, r.dir+string(filepath.Separator)) || r.client.Database != nil && path == r.dir+"-wal"
}

// workOf returns the session that a file of a client belongs to, as capture.WorkOf. For a
// database with many sessions it is the file, without a session.
func (g *guard) workOf(path string) (work capture.PendingWork, side, ok bool) {
	i := slices.IndexFunc(g.roots, func(r guardRoot) bool { return r.contains(path) })
	switch {
	case i < 0:
		return work, false, false
	case g.roots[i].client.New == nil:
		return capture.WorkOf(path)
	}
	if file, db := strings.TrimSuffix(path, "-wal"), g.roots[i].client.Database; db != nil && db.Match(file) {
		return capture.PendingWork{Client: g.roots[i].client.Name, Transcript: file}, false, true
	}
	session, ok := g.roots[i].client.File(path)
	return capture.PendingWork{Client: g.roots[i].client.Name, Session: session, Transcript: path}, false, ok
}

// dueSession is a session with new bytes.
type dueSession struct {
	capture.PendingWork
	at   time.Time // when to capture it
	side bool      // a file beside the transcript changed
}

const (
	// captureDelay is the time from the first new bytes of a session without hooks to their
	// capture. The client writes rows in bursts.
	captureDelay = 500 * time.Millisecond
	// storedDelay is the same for a database: all of its sessions are listed then.
	storedDelay = 5 * time.Second
	// hookQuiet is how long the transcript of a session with hooks must be unchanged: only
	// then the hooks have missed something.
	hookQuiet = 15 * time.Second
	// retryDelay is the time to the next attempt after a failed capture.
	retryDelay = 5 * time.Second
	// readInterval is the time between two readings of folders that cannot be watched.
	readInterval = 5 * time.Second
	// lastCaptures limits the captures after the end of ctx.
	lastCaptures = 5 * time.Second
	// maxSides is how many folders of sessions are watched, the newest.
	maxSides = 512
	// recentSide is the age of a transcript up to which its session's folder is watched from
	// the start.
	recentSide = 24 * time.Hour
	// lostTime is the age of changes that are looked for after the system lost some.
	lostTime = time.Minute
	// fileSlack allows for the resolution of file times.
	fileSlack = 2 * time.Second
)

// start watches the folders and captures the missed rows.
func (g *guard) start(ctx context.Context, missed bool) {
	var found []string
	var since time.Time
	if !missed { // at least what is written while the folders are listed
		since = g.app.Now().Add(-lostTime)
	}
	for _, root := range g.roots {
		g.watchRoot(root.dir, since)
		if exists(root.dir) {
			found = append(found, root.dir)
		}
	}
	if len(found) == 0 {
		g.notice("waiting for the first session of a client")
	} else {
		below := 0 // without the folders above roots that are missing
		for dir := range g.folders {
			if g.within(dir) {
				below++
			}
		}
		g.notice("watching " + text.Count(below, "folder") + " in " + strings.Join(found, ", "))
	}
	if !missed {
		return
	}
	report, err := g.app.Import(ctx, ImportOptions{})
	if archive.ErrorCode(err) != archive.CodeNotFound {
		g.failIf(ctx, err)
	}
	if report.Added > 0 {
		g.notice("captured " + text.Size(report.Added) + " that the archive lacked")
	}
}

// run handles changes until ctx ends. It waits without a timer while nothing is due.
func (g *guard) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var changes <-chan string
	if g.watcher != nil {
		changes = g.watcher.Changes()
	}
	for {
		g.arm(timer)
		select {
		case <-ctx.Done():
			rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCaptures)
			g.read(true) // changes that were not received yet
			g.capture(rest, time.Time{})
			cancel()
			return
		case path := <-changes:
			if path == "" {
				g.read(true)
			} else {
				g.changed(path)
			}
		case <-timer.C:
			g.read(false)
			g.capture(ctx, g.app.Now())
		}
	}
}

// arm sets the timer to the next time at which something is due.
func (g *guard) arm(timer *time.Timer) {
	var next time.Time
	if g.reads {
		next = g.app.Now().Add(readInterval)
	}
	for _, d := range g.due {
		if next.IsZero() || d.at.Before(next) {
			next = d.at
		}
	}
	if timer.Stop(); !next.IsZero() {
		timer.Reset(max(next.Sub(g.app.Now()), 0))
	}
}

// changed notes a change of an entry.
func (g *guard) changed(path string) {
	info, err := os.Lstat(path)
	switch {
	case err != nil: // deleted or renamed
		delete(g.folders, path)
	case info.IsDir():
		if root := g.missingRoot(path); root != "" {
			g.watchRoot(root, g.app.Now().Add(-lostTime))
			return
		}
		g.watchTree(path, info.ModTime().Add(-fileSlack))
	case info.Mode().IsRegular():
		g.note(path, info)
	}
}

// note makes the session of a file due.
func (g *guard) note(path string, info fs.FileInfo) {
	work, side, ok := g.workOf(path)
	if !ok || info.Size() == 0 {
		return
	}
	now, before := g.app.Now(), g.due[work.Session]
	if work.Session == "" {
		if _, noted := g.due[work.Transcript]; !noted {
			g.due[work.Transcript] = dueSession{PendingWork: work, at: now.Add(storedDelay)}
		}
		return
	}
	next := dueSession{PendingWork: work, side: side || before.side, at: now.Add(captureDelay)}
	switch {
	case g.w.Calls().Recent(work.Session, now):
		next.at = now.Add(hookQuiet)
	case before.Session != "":
		next.at = before.at
	}
	g.due[work.Session] = next
	if !side && work.Client == "" {
		g.watchSides(work.Session, path)
	}
}

// capture captures the sessions that are due at a time; all if it is zero.
func (g *guard) capture(ctx context.Context, at time.Time) {
	var done []dueSession
	for id, d := range g.due {
		if !at.IsZero() && d.at.After(at) {
			continue
		}
		delete(g.due, id)
		if d.Session == "" {
			done = append(done, g.stored(ctx, d, !at.IsZero())...)
			continue
		}
		if g.missing(d) {
			g.failIf(ctx, g.w.Pending().Add(d.PendingWork))
			done = append(done, d)
		}
	}
	if len(done) == 0 {
		return
	}
	err := g.app.catchUp(ctx, g.w)
	g.failIf(ctx, err)
	for _, d := range done {
		if err != nil {
			d.at = g.app.Now().Add(retryDelay)
			g.due[d.Session] = d
			continue
		}
		g.failIf(ctx, g.checkZone(ctx, d.PendingWork))
	}
}

// stored adds the sessions in a database that changed to the pending work. Those with hooks
// are left to them while they run.
func (g *guard) stored(ctx context.Context, d dueSession, wait bool) (all []dueSession) {
	list, err := g.w.Capture.StoredWork(d.Client, d.Transcript)
	g.failIf(ctx, err)
	now := g.app.Now()
	for _, work := range list {
		if wait && g.w.Calls().Recent(work.Session, now) {
			g.due[d.Transcript] = dueSession{PendingWork: d.PendingWork, at: now.Add(hookQuiet)}
			continue
		}
		g.failIf(ctx, g.w.Pending().Add(work))
		all = append(all, dueSession{PendingWork: work})
	}
	return all
}

// missing reports whether the logs lack something of a session.
func (g *guard) missing(d dueSession) bool {
	info, err := os.Stat(d.Transcript)
	if err != nil {
		return false
	}
	src, err := g.w.Capture.SourceOf(d.Client, d.Transcript, d.Session, "")
	if err != nil {
		return false
	}
	missing, err := g.w.Capture.HasNewBytes(src, info.Size())
	return missing || d.side || g.w.Capture.ClientOf(d.Client).Open != nil || err != nil // the capture reports the error
}

// failIf reports an error, unless it passes on its own or was the last one too.
func (g *guard) failIf(ctx context.Context, err error) {
	if err == nil || archive.OnlyBusy(err) || ctx.Err() != nil {
		return
	}
	if line := ErrorText(err); line != g.failed {
		g.failed = line
		g.log.Error("guard", "error", line)
		g.notice(line)
	}
}
