//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// detach starts this program in a session of its own, with no pipe of the
// client's: the client waits for every process that holds one.
func detach(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(context.Background(), exe, args...) // it outlives the hook
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %v: %w", args, err)
	}
	return cmd.Process.Release()
}

// background makes this process give way to all others. It leads a group of its
// own, and a group's priority is that of all its threads; what is started later
// inherits it.
func background() {
	if syscall.Getpgrp() != os.Getpid() {
		return // started by hand from a script: its group is not ours to slow down
	}
	const nicest = 19
	// Where the system refuses, the work only takes longer from the others.
	_ = syscall.Setpriority(syscall.PRIO_PGRP, 0, nicest)
	idleDisk()
}
