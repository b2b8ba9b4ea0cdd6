//go:build unix && !linux

package main

// lowerDiskPriority does nothing: only Linux has disk priorities.
func lowerDiskPriority() {}
