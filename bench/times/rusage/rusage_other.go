//go:build !unix

package rusage

import (
	"os"
	"os/exec"
)

// Peak returns 0: this system does not report it.
func Peak(*os.ProcessState) int64 { return 0 }

// Faults returns 0: this system does not report them.
func Faults(*os.ProcessState) int64 { return 0 }

// Group does nothing: this system has no process groups.
func Group(*exec.Cmd) {}
