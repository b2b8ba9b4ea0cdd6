package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"strandline/internal/archive"
)

// detach starts this program as a separate process without the client's pipes:
// the client waits for every process that holds one.
func detach(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(context.Background(), exe, args...) // it outlives the hook
	separate(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %v: %w", args, err)
	}
	return cmd.Process.Release()
}

// runProgram runs a program on this process's streams and returns its exit code.
// The terminal sends interrupts to the program directly; SIGTERM is forwarded.
func runProgram(argv, env []string) (int, error) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	// The program ends on its own or on a signal, not with a context.
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start %s: %w", argv[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s) // it may have ended already
			}
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exitCode(exit), nil
			}
			if err != nil {
				return 0, fmt.Errorf("run %s: %w", argv[0], err)
			}
			return 0, nil
		}
	}
}

// startProgram runs a program of PATH in a folder in place of this process.
func startProgram(ctx context.Context, dir string, argv []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return &archive.Error{Code: archive.CodeNotFound, Msg: "unknown program " + argv[0], Err: err, Hint: "is it in PATH?"}
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	return replaceProcess(ctx, append([]string{path}, argv[1:]...))
}

// replaceProcess runs a program in place of this process; on Windows it waits for it.
func replaceProcess(ctx context.Context, argv []string) error {
	if runtime.GOOS != "windows" {
		err := syscall.Exec(argv[0], argv, os.Environ()) // our own program, or the user's client
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) // as above
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			os.Exit(exit.ExitCode())
		}
		return fmt.Errorf("run %s: %w", argv[0], err)
	}
	return nil
}

// signalExit plus a signal's number is the exit code of a killed program, as in
// shells.
const signalExit = 128

func exitCode(e *exec.ExitError) int {
	if status, ok := e.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return signalExit + int(status.Signal())
	}
	return e.ExitCode()
}

// maxComplaint is how much of a program's standard error is kept, in bytes.
const maxComplaint = 4 << 10

// programPipe is a running program with its standard input and output.
type programPipe struct {
	io.Reader
	io.WriteCloser
	cmd  *exec.Cmd
	said bytes.Buffer
	end  func() error
}

// pipe starts a program of PATH, such as ssh, which may ask on the terminal. Close ends its
// input and waits for it; its error has what it printed on standard error.
func pipe(ctx context.Context, argv []string) (io.ReadWriteCloser, error) {
	p := &programPipe{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	p.cmd.Stderr = &p.said
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.WriteCloser, p.Reader = in, out
	p.end = sync.OnceValue(func() error {
		_ = in.Close() // the program may have closed it
		err := p.cmd.Wait()
		if said := strings.TrimSpace(p.said.String()); err != nil && said != "" {
			err = fmt.Errorf("%s: %w", archive.Clip(said, maxComplaint), err)
		}
		return err
	})
	return p, p.cmd.Start()
}

// Close implements io.Closer.
func (p *programPipe) Close() error { return p.end() }
