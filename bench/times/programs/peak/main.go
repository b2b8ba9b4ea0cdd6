// Command peak runs a command and writes its peak resident memory, in bytes, to
// the file named first. The kernel counts a parent's memory to a child until the
// child is replaced, so the parent that measures has to be as small as this one.
package main

import (
	"fmt"
	"os"
	"os/exec"

	"strandline/bench/times/rusage"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: peak FILE COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "peak:", err)
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], fmt.Append(nil, rusage.Peak(cmd.ProcessState)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "peak:", err)
		os.Exit(2)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
