package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach starts this program without a console and without the client's pipes.
func detach(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(context.Background(), exe, args...) // it outlives the hook
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %v: %w", args, err)
	}
	return cmd.Process.Release()
}

// LowerPriority implements app.System. It gives this process background priority, for the disk as well.
// Errors are ignored.
func (system) LowerPriority() {
	_ = windows.SetPriorityClass(windows.CurrentProcess(), windows.PROCESS_MODE_BACKGROUND_BEGIN)
}

// DiskFree implements app.System. It returns the bytes that this user may write below a folder.
func (system) DiskFree(dir string) (int64, bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(path, &free, nil, nil) != nil {
		return 0, false
	}
	return int64(min(free, 1<<62)), true
}
