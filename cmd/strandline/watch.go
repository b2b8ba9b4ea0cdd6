//go:build !lean

package main

import (
	"errors"

	"github.com/fsnotify/fsnotify"

	"strandline/internal/app"
)

// folderWatcher implements app.Watcher with the system's notifications.
type folderWatcher struct {
	*fsnotify.Watcher
	changes chan string
	ended   chan struct{}
}

func newWatcher() (app.Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := folderWatcher{Watcher: w, changes: make(chan string), ended: make(chan struct{})}
	go f.forward()
	return f, nil
}

// Changes implements app.Watcher.
func (f folderWatcher) Changes() <-chan string { return f.changes }

// Close implements app.Watcher.
func (f folderWatcher) Close() error {
	close(f.ended)
	return f.Watcher.Close()
}

// forward passes events on until Close.
func (f folderWatcher) forward() {
	for {
		path := ""
		select {
		case <-f.ended:
			return
		case e := <-f.Events:
			if path = e.Name; path == "" || e.Op == fsnotify.Chmod {
				continue
			}
		case err := <-f.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				continue
			}
		}
		select {
		case f.changes <- path:
		case <-f.ended:
			return
		}
	}
}
