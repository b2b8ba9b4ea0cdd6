package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// runProgram runs a program on this process's streams. An interrupt that is typed
// reaches it by itself, since it shares the terminal; a request to end is passed on.
func runProgram(argv, env []string) (int, error) {
	ask := make(chan os.Signal, 1)
	signal.Notify(ask, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(ask)
	// No context ends it: it ends by itself, or when it is asked to.
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
		case s := <-ask:
			if s == syscall.SIGTERM {
				_ = cmd.Process.Signal(s) // it may have ended just now
			}
		case err := <-ended:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exitOf(exit), nil
			}
			if err != nil {
				return 0, fmt.Errorf("run %s: %w", argv[0], err)
			}
			return 0, nil
		}
	}
}

// killedBySignal is what shells add to the number of the signal that ended a
// program.
const killedBySignal = 128

func exitOf(e *exec.ExitError) int {
	if status, ok := e.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return killedBySignal + int(status.Signal())
	}
	return e.ExitCode()
}
