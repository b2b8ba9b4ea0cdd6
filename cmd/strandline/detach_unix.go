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
