//go:build !unix

package capture_test

import "testing"

// inodeOf returns 0 on systems without inodes.
func inodeOf(*testing.T, string) uint64 { return 0 }
