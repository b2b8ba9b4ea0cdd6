//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// fifo FILE makes a named pipe that nobody writes to.
func cmdFifo(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(syscall.Mkfifo(path, 0o600))
}
