//go:build unix && !linux

package main

// idleDisk does nothing: only Linux has priorities for the disk.
func idleDisk() {}
