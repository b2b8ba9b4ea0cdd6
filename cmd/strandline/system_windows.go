package main

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// separate starts a command without a console.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
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
