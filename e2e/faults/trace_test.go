//go:build linux && amd64

package faults

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changeCalls are the calls that change files, with the numbers of the arguments that
// hold a descriptor and a path, -1 for none. A path is relative to the descriptor.
var changeCalls = map[uint64]struct {
	what     string
	fd, path int
}{
	unix.SYS_WRITE: {"write", 0, -1}, unix.SYS_PWRITE64: {"write", 0, -1}, unix.SYS_WRITEV: {"write", 0, -1},
	unix.SYS_COPY_FILE_RANGE: {"write", 2, -1}, unix.SYS_FALLOCATE: {"allocate", 0, -1}, unix.SYS_FTRUNCATE: {"truncate", 0, -1},
	unix.SYS_FSYNC: {"sync", 0, -1}, unix.SYS_FDATASYNC: {"sync", 0, -1}, unix.SYS_OPENAT: {"create", 0, 1},
	unix.SYS_RENAME: {"rename", -1, 1}, unix.SYS_RENAMEAT: {"rename", 2, 3}, unix.SYS_RENAMEAT2: {"rename", 2, 3},
	unix.SYS_UNLINK: {"unlink", -1, 0}, unix.SYS_UNLINKAT: {"unlink", 0, 1}, unix.SYS_RMDIR: {"unlink", -1, 0},
	unix.SYS_MKDIR: {"mkdir", -1, 0}, unix.SYS_MKDIRAT: {"mkdir", 0, 1},
}

// tracer runs one program with its children.
type tracer struct {
	tap     tap
	count   int
	threads map[int]*call // the intercepted call of each thread, nil for none
	killed  bool
}

// call is an intercepted call between its entry and its return.
type call struct {
	change change
	fails  syscall.Errno // the result of a call that was prevented
	last   bool          // the program is killed at its return
	clock  uintptr       // address of the time that it returns
}

// trace runs a program until its last child has ended. The tap decides about every
// change of a file below its root. The program's streams must be files, and the caller
// holds an OS thread, because only the one that started the program may trace it.
func trace(cmd *exec.Cmd, on tap) (end ending, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return end, fmt.Errorf("start: %w", err)
	}
	pid := cmd.Process.Pid
	defer func() { _ = cmd.Process.Release() }() // the loop below waits for it
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		return end, fmt.Errorf("the program did not stop at its start: %w", err)
	}
	const follow = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC |
		unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, follow); err != nil {
		return end, fmt.Errorf("trace: %w", err)
	}
	t := &tracer{tap: on, threads: map[int]*call{pid: nil}}
	t.hideClock(pid)
	if err := unix.PtraceSyscall(pid, 0); err != nil {
		return end, fmt.Errorf("trace: %w", err)
	}
	for {
		thread, err := unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			end.killed = t.killed
			return end, nil
		case err != nil:
			return end, fmt.Errorf("wait: %w", err)
		case status.Stopped():
			signal := t.stopped(thread, status)
			_ = unix.PtraceSyscall(thread, signal) // fails if it was killed meanwhile
		default:
			delete(t.threads, thread)
			if thread == pid {
				end.code = status.ExitStatus()
			}
		}
	}
}

// stopped handles the stop of a thread and returns the signal that it receives.
func (t *tracer) stopped(thread int, status unix.WaitStatus) int {
	c := t.threads[thread]
	t.threads[thread] = nil
	switch signal := status.StopSignal(); {
	case t.killed:
		_ = unix.Kill(thread, unix.SIGKILL)
	case signal == unix.SIGTRAP|0x80:
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(thread, &regs); err != nil {
			return 0
		}
		if c != nil {
			t.leave(thread, c, &regs)
		} else if int64(regs.Rax) == -int64(unix.ENOSYS) { // so it is at every entry
			t.threads[thread] = t.enter(thread, &regs)
		}
	case signal == unix.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_EXEC:
		t.hideClock(thread)
	case signal == unix.SIGTRAP, signal == unix.SIGSTOP: // a new thread or process
		t.threads[thread] = c
	default:
		t.threads[thread] = c
		return int(signal)
	}
	return 0
}

// enter decides about a call. It returns nil for calls that are not intercepted.
func (t *tracer) enter(thread int, regs *unix.PtraceRegs) *call {
	args := []uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10}
	if regs.Orig_rax == unix.SYS_CLOCK_GETTIME && t.tap.clock != 0 && args[0] == unix.CLOCK_REALTIME {
		return &call{clock: uintptr(args[1])}
	}
	kind, ok := changeCalls[regs.Orig_rax]
	if !ok || t.tap.decide == nil {
		return nil
	}
	path := ""
	if kind.path >= 0 {
		path = stringAt(thread, uintptr(args[kind.path]))
	}
	if kind.fd >= 0 && !filepath.IsAbs(path) {
		folder, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", thread, int32(args[kind.fd])))
		if err != nil {
			return nil
		}
		path = filepath.Join(folder, path)
	}
	if !strings.HasPrefix(path, t.tap.root+string(filepath.Separator)) {
		return nil
	}
	if kind.what == "create" && (args[2]&unix.O_CREAT == 0 || exists(path)) {
		if !t.tap.opens || args[2]&(unix.O_WRONLY|unix.O_RDWR) == 0 {
			return nil
		}
		kind.what = "open"
	}
	t.count++
	c := &call{change: change{at: t.count, what: kind.what, path: path}}
	switch verdict := t.tap.decide(c.change); {
	case verdict == tear && kind.what == "write" && args[2] > 1 && regs.Orig_rax != unix.SYS_WRITEV:
		c.last = true
		regs.Rdx /= 2
		_ = unix.PtraceSetRegs(thread, regs)
	case verdict == kill, verdict == tear:
		t.kill()
	case verdict != pass:
		c.fails = syscall.Errno(verdict)
		regs.Orig_rax = ^uint64(0) // no call
		_ = unix.PtraceSetRegs(thread, regs)
	}
	return c
}

// leave handles the return of an intercepted call.
func (t *tracer) leave(thread int, c *call, regs *unix.PtraceRegs) {
	switch {
	case c.clock != 0:
		var seconds [8]byte
		if _, err := unix.PtracePeekData(thread, c.clock, seconds[:]); err == nil {
			moved := int64(binary.LittleEndian.Uint64(seconds[:])) + int64(t.tap.clock/time.Second)
			binary.LittleEndian.PutUint64(seconds[:], uint64(moved))
			_, _ = unix.PtracePokeData(thread, c.clock, seconds[:])
		}
	case c.fails != 0:
		regs.Rax = uint64(-int64(c.fails))
		_ = unix.PtraceSetRegs(thread, regs)
	case c.last:
		t.kill()
	case int64(regs.Rax) >= 0 && t.tap.done != nil:
		t.tap.done(c.change)
	}
}

// kill ends the program and its children at once.
func (t *tracer) kill() {
	t.killed = true
	for thread := range t.threads {
		_ = unix.Kill(thread, unix.SIGKILL) // fails if it has ended
	}
}

// hideClock makes a program that was just started ask the kernel for the time, if the
// tap changes it. The kernel's shared page, which it reads otherwise, cannot be
// intercepted. Its address is in the auxiliary vector, after arguments and environment.
func (t *tracer) hideClock(pid int) {
	var regs unix.PtraceRegs
	if t.tap.clock == 0 || unix.PtraceGetRegs(pid, &regs) != nil {
		return
	}
	const sharedPage, ignore = 33, 1 // AT_SYSINFO_EHDR, AT_IGNORE
	word := func(at uintptr) uint64 {
		var b [8]byte
		_, _ = unix.PtracePeekData(pid, at, b[:])
		return binary.LittleEndian.Uint64(b[:])
	}
	at := uintptr(regs.Rsp)
	at += 8 * uintptr(word(at)+2) // count, arguments, 0
	for word(at) != 0 {
		at += 8
	}
	for at += 8; word(at) != 0; at += 16 {
		if word(at) == sharedPage {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], ignore)
			_, _ = unix.PtracePokeData(pid, at, b[:])
		}
	}
}

// stringAt reads a string of a program.
func stringAt(thread int, at uintptr) string {
	var s strings.Builder
	for {
		var b [8]byte
		n, err := unix.PtracePeekData(thread, at, b[:])
		for _, c := range b[:n] {
			if c == 0 {
				return s.String()
			}
			s.WriteByte(c)
		}
		if err != nil || n == 0 {
			return s.String()
		}
		at += uintptr(n)
	}
}
