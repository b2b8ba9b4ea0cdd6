//go:build unix

package rusage

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Peak returns the peak resident memory of a process that has ended, in bytes.
func Peak(p *os.ProcessState) int64 {
	r, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return r.Maxrss // bytes there, kilobytes elsewhere
	}
	return r.Maxrss * 1024
}

// Faults returns the number of page faults of a process that has ended.
func Faults(p *os.ProcessState) int64 {
	r, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return int64(r.Minflt) + int64(r.Majflt) //nolint:unconvert // int32 on some systems
}

// Group makes the cancellation of a command kill the programs that it started as well.
func Group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
