//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// fifo FILE makes a named pipe without a writer.
func cmdFifo(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(syscall.Mkfifo(path, 0o600))
}

// asNobody runs strandline as the user "nobody" if the test runs as root, which may
// write everywhere.
func asNobody() {
	const nobody = 65534
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgid(nobody), syscall.Setuid(nobody)); err != nil {
			panic(err)
		}
	}
	main()
}

// readonly DIR makes a folder readable by all users and writable by none.
func cmdReadonly(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for up := filepath.Dir(dir); strings.HasPrefix(up, os.TempDir()) && up != os.TempDir(); up = filepath.Dir(up) {
		ts.Check(os.Chmod(up, 0o755)) // let all users traverse it
	}
	open := func(file, folder os.FileMode) error {
		return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(path, folder)
			}
			return os.Chmod(path, file)
		})
	}
	ts.Check(open(0o444, 0o555))
	ts.Defer(func() { _ = open(0o600, 0o700) }) // so that the folder can be removed
}
