//go:build linux && amd64

package faults

import (
	"os"
	"time"
)

// tap intercepts the changes that a program makes to files below a folder.
type tap struct {
	root   string
	decide func(change) verdict // before each change; nil for none
	done   func(change)         // after each that succeeded
	opens  bool                 // opening a file for writing counts as a change
	clock  time.Duration        // added to the program's clock
}

// change is a call that changes a file.
type change struct {
	at   int    // its number, from 1
	what string // write, sync, create, rename, unlink, truncate, allocate, mkdir or open
	path string
}

// verdict is what happens to a change; a positive one is the error that it fails with.
type verdict int

const (
	pass verdict = 0
	kill verdict = -1 // the program and its children end before it
	tear verdict = -2 // they end after half of it, if it is a write, else before it
)

// ending is how a program ended.
type ending struct {
	code   int
	killed bool
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
