package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"strandline/internal/capture"
)

// watchRoot watches a root with the folders below it, or the nearest folder above it until
// it exists. Files that changed since a time are noted; a zero time notes none.
func (g *guard) watchRoot(root string, since time.Time) {
	if info, err := os.Stat(root); err == nil && !info.IsDir() { // a database
		g.watchFolder(filepath.Dir(root))
		if !since.IsZero() && !info.ModTime().Before(since) {
			g.note(root, info)
		}
		return
	} else if err == nil {
		g.watchTree(root, since)
		return
	}
	above := filepath.Dir(root)
	for !exists(above) && above != filepath.Dir(above) {
		above = filepath.Dir(above)
	}
	g.watchFolder(above)
}

// missingRoot returns the root above or at which a folder was made, "" for none.
func (g *guard) missingRoot(path string) string {
	for _, root := range g.roots {
		if _, known := g.folders[root.dir]; !known && (guardRoot{dir: path}).contains(root.dir) {
			return root.dir
		}
	}
	return ""
}

// within reports whether a folder is in a root.
func (g *guard) within(dir string) bool {
	return slices.ContainsFunc(g.roots, func(root guardRoot) bool { return root.contains(dir) })
}

// watchTree watches a folder and those below it, but of the sessions' own folders only the
// recent ones. Files in them that changed since a time are noted; a zero time notes none.
func (g *guard) watchTree(dir string, since time.Time) {
	if !g.within(dir) {
		return
	}
	session, own := sessionFolder(dir)
	if own {
		if info, err := os.Stat(session); err != nil || g.app.Now().Sub(info.ModTime()) > recentSide {
			return
		}
		g.keepSide(dir)
	}
	g.watchFolder(dir) // before it is read: nothing is lost between
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() {
			g.watchTree(path, since)
			continue
		}
		if info, err := e.Info(); err == nil && e.Type().IsRegular() && !since.IsZero() && !info.ModTime().Before(since) {
			g.note(path, info)
		}
	}
}

// sessionFolder returns the transcript of the session whose folder dir is or is in; false
// for any other folder.
func sessionFolder(dir string) (transcript string, ok bool) {
	work, _, ok := capture.WorkOf(filepath.Join(dir, "x"))
	if ok {
		return work.Transcript, true
	}
	transcript = dir + capture.TranscriptExt
	return transcript, exists(transcript)
}

// watchSides watches the folder of a session, if there is one.
func (g *guard) watchSides(session, transcript string) {
	dir := filepath.Join(filepath.Dir(transcript), session)
	if _, known := g.folders[dir]; !known && exists(dir) {
		g.watchTree(dir, time.Time{})
	}
}

// keepSide notes a folder of a session, and gives up the oldest above maxSides.
func (g *guard) keepSide(dir string) {
	if _, known := g.folders[dir]; known {
		return
	}
	if g.sides = append(g.sides, dir); len(g.sides) > maxSides {
		g.forget(g.sides[0])
		g.sides = slices.Clone(g.sides[1:])
	}
}

// forget gives up a folder.
func (g *guard) forget(dir string) {
	delete(g.folders, dir)
	if g.watcher != nil {
		_ = g.watcher.Remove(dir) // it may have been deleted
	}
}

// watchFolder watches one folder. If the system allows no more watches, it is read at
// intervals.
func (g *guard) watchFolder(dir string) {
	if _, known := g.folders[dir]; known {
		return
	}
	if g.watcher != nil {
		err := g.watcher.Add(dir)
		if err == nil || !exists(dir) {
			g.folders[dir] = time.Time{}
			return
		}
		g.cannotWatch(err)
	}
	g.folders[dir] = g.app.Now()
}

// cannotWatch reports, once, that folders are read at intervals.
func (g *guard) cannotWatch(err error) {
	if !g.reads {
		g.reads = true
		line := fmt.Sprintf("cannot watch every folder (%v): the others are read every %d seconds", err, int(readInterval.Seconds()))
		g.log.Warn(line)
		g.notice(line)
	}
}

// read reads the folders that are not watched, or all after lost changes, and notes the
// files that changed since they were read last.
func (g *guard) read(all bool) {
	now := g.app.Now()
	for dir, last := range g.folders {
		switch {
		case last.IsZero() && !all:
			continue
		case last.IsZero():
			last = now.Add(-lostTime)
		default:
			g.folders[dir] = now
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			delete(g.folders, dir)
			continue
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.ModTime().After(last.Add(-fileSlack)) {
				g.changed(filepath.Join(dir, e.Name()))
			}
		}
	}
}
