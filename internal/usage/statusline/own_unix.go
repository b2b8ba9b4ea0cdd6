//go:build unix

package statusline

import (
	"os/exec"
	"syscall"
)

// own puts a command into a process group of its own, which ends as a whole when
// its time is over.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
