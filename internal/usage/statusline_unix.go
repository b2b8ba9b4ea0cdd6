//go:build unix

package usage

import (
	"os/exec"
	"syscall"
)

// setGroup starts a command in its own process group, which is killed as a whole.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
