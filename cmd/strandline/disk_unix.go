//go:build unix

package main

import "golang.org/x/sys/unix"

// diskFree returns how many bytes this user may write below a folder.
func diskFree(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(uint64(s.Bavail) * uint64(s.Bsize)), true //nolint:unconvert // the fields' types differ between systems
}
