//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// separate puts a command into a new session, in a folder that it does not block.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
}

// LowerPriority implements app.System. It gives this process group the lowest CPU and disk
// priority, which its children inherit. It does nothing in another process's group, such as
// that of a script. Errors are ignored.
func (system) LowerPriority() {
	if syscall.Getpgrp() != os.Getpid() {
		return
	}
	const lowest = 19
	_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, lowest)
	lowerDiskPriority()
}

// DiskFree implements app.System. It returns the bytes that this user may write below a folder.
func (system) DiskFree(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(uint64(s.Bavail) * uint64(s.Bsize)), true //nolint:unconvert // the types differ between systems
}
